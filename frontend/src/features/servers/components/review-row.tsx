import { ChevronRight, FlaskConical } from "lucide-react";
import { useState } from "react";
import { ErrorNote } from "@/components/error-note";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Callout } from "@/components/ui/callout";
import { Field } from "@/components/ui/field";
import { Input } from "@/components/ui/input";
import { cn } from "@/lib/cn";
import { plural } from "@/lib/format";
import { placeLabel, readPlace, target, transportNames, writePlace } from "@/lib/servers";
import { installPage } from "../lib/install";
import { clashes, inputOf, type ReviewRow } from "../lib/review";
import { Findings } from "./findings";
import { SpecEditor } from "./spec-editor";
import { TestReportView } from "./test-report";

interface ReviewRowViewProps {
  row: ReviewRow;
  rows: readonly ReviewRow[];
  taken: readonly string[];
  blocked: string;
  onChange: (change: Partial<ReviewRow>) => void;
  onTest: () => void;
  onCancelTest: () => void;
}

const conflicts = [
  { value: "overwrite", label: "Overwrite" },
  { value: "keep_both", label: "Keep both" },
  { value: "skip", label: "Skip" },
] as const;

/** One server before it is saved: exactly what would run, and what is still missing. */
export function ReviewRowView({
  row,
  rows,
  taken,
  blocked,
  onChange,
  onTest,
  onCancelTest,
}: ReviewRowViewProps) {
  const [open, setOpen] = useState(false);
  const [pasted] = useState(row.spec);
  const { spec } = row;
  const stdio = spec.transport === "stdio";
  const checked = (spec.command ?? "") === row.checkedCommand;
  const clash = clashes(row, rows, taken);
  const { review } = row;
  const secrets = new Set((review?.secrets ?? []).map((x) => x.place));
  // What has a control of its own on the row is not told a second time.
  const findings = (review?.findings ?? []).filter(
    (f) => !["value_missing", "secret_in_clear", "name_taken", "loader_variable"].includes(f.code),
  );
  const envNames = review?.envNames ?? Object.keys(spec.env ?? {}).sort();
  const skipped = !row.include || row.conflict === "skip";

  return (
    <li
      data-testid="review-row"
      className="grid grid-cols-1 gap-3 rounded-lg border border-line bg-surface p-3"
    >
      <div className="flex flex-wrap items-center gap-2">
        <input
          type="checkbox"
          className="size-4 accent-accent"
          aria-label={`Add ${spec.name}`}
          checked={row.include}
          onChange={(e) => onChange({ include: e.target.checked })}
        />
        <Input
          aria-label="Name of the server"
          className="w-52 font-mono text-xs"
          value={spec.name}
          aria-invalid={clash === "row" ? true : undefined}
          onChange={(e) => onChange({ spec: { ...spec, name: e.target.value }, conflict: "" })}
        />
        <Badge>{transportNames[spec.transport]}</Badge>
        <div className="ml-auto flex gap-1.5">
          {row.state === "testing" ? (
            <Button size="sm" onClick={onCancelTest}>
              Cancel test
            </Button>
          ) : (
            <Button size="sm" onClick={onTest} disabled={skipped || row.state === "saving"}>
              <FlaskConical /> Test
            </Button>
          )}
          <Button size="sm" variant="ghost" aria-expanded={open} onClick={() => setOpen(!open)}>
            All settings <ChevronRight className={cn(open && "rotate-90")} />
          </Button>
        </div>
      </div>
      <div className={cn("grid grid-cols-1 gap-3", skipped && "opacity-60")}>
        <div className="grid grid-cols-1 gap-1">
          <code
            className="block whitespace-pre-wrap rounded-md bg-sunken px-2.5 py-1.5 font-mono text-xs [overflow-wrap:anywhere]"
            data-testid="command-line"
          >
            {target(spec) || (stdio ? "(no command)" : "(no URL)")}
          </code>
          {stdio && (
            <p className="text-ink-2 text-xs">
              This will run a program on your computer.
              {(review?.resolvedCommand || (checked && row.resolvedCommand)) && (
                <>
                  {" "}
                  Found at{" "}
                  <span className="font-mono [overflow-wrap:anywhere]">
                    {review?.resolvedCommand || row.resolvedCommand}
                  </span>
                  .
                </>
              )}
              {envNames.length > 0 && (
                <>
                  {" "}
                  It gets the variables{" "}
                  <span className="font-mono [overflow-wrap:anywhere]">{envNames.join(", ")}</span>.
                </>
              )}
              {row.bundle && " The bundle is unpacked into Patchbay's data folder first."}
            </p>
          )}
          {row.from && (
            <p className="text-ink-3 text-xs">
              From <span className="font-mono [overflow-wrap:anywhere]">{row.from.path}</span>; that file
              stays as it is.
            </p>
          )}
        </div>
        {review ? (
          <Findings
            findings={findings}
            installHelp={installPage(spec.command)}
            onEdit={() => setOpen(true)}
          />
        ) : (
          checked && row.problem && !row.report && <Callout tone="warning">{row.problem}</Callout>
        )}
        {(review?.loaders ?? []).map((place) => (
          <label
            key={place}
            className="flex items-start gap-2 rounded-md border border-danger/40 bg-danger-soft px-3 py-2 text-sm"
          >
            <input
              type="checkbox"
              className="mt-0.5 size-4 shrink-0 accent-accent"
              checked={row.allowLoaders.includes(place)}
              onChange={(e) =>
                onChange({
                  allowLoaders: e.target.checked
                    ? [...row.allowLoaders, place]
                    : row.allowLoaders.filter((p) => p !== place),
                })
              }
            />
            <span className="min-w-0 [overflow-wrap:anywhere]">
              <span className="font-mono text-xs">{placeLabel(place)}</span> makes the program load or run
              other code: <span className="font-mono text-xs">{readPlace(spec, place)}</span>. I know where it
              comes from and agree.
            </span>
          </label>
        ))}
        {secrets.size > 0 && (
          <label className="flex items-start gap-2 text-sm">
            <input
              type="checkbox"
              className="mt-0.5 size-4 shrink-0 accent-accent"
              checked={row.moveSecrets}
              onChange={(e) => onChange({ moveSecrets: e.target.checked })}
            />
            <span>
              Move {plural(secrets.size, "secret")} to the keychain
              <span className="block text-ink-2 text-xs">
                {[...new Map(review?.secrets.map((x) => [x.place, x])).values()]
                  .map((x) => `${placeLabel(x.place)} holds ${x.what}`)
                  .join("; ")}
                . tools.json then holds only a reference.
              </span>
            </span>
          </label>
        )}
        {row.missing.length > 0 && (
          <fieldset className="grid grid-cols-1 gap-2">
            <legend className="mb-1 font-medium text-sm">Values to fill in</legend>
            <div className="grid grid-cols-1 gap-2 sm:grid-cols-2">
              {row.missing.map((place) => (
                <Field
                  key={place}
                  label={
                    inputOf(row, place)?.title ?? (
                      <span className="font-mono text-xs">{placeLabel(place)}</span>
                    )
                  }
                  hint={
                    inputOf(row, place)?.description ??
                    (readPlace(pasted, place) && readPlace(spec, place) === readPlace(pasted, place)
                      ? "An example stands here. Write your own value."
                      : undefined)
                  }
                >
                  {(ids) => (
                    <Input
                      {...ids}
                      type={
                        (inputOf(row, place)?.secret ?? !/^(args|url|command)/.test(place))
                          ? "password"
                          : "text"
                      }
                      autoComplete="new-password"
                      className="font-mono text-xs"
                      value={readPlace(spec, place)}
                      onChange={(e) => onChange({ spec: writePlace(spec, place, e.target.value) })}
                    />
                  )}
                </Field>
              ))}
            </div>
            <p className="text-ink-3 text-xs">
              What is left empty can be filled in later; the server waits for it.
            </p>
          </fieldset>
        )}
        {clash === "server" && (
          <fieldset className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm">
            <legend className="contents">
              <span>
                A server <span className="font-mono text-xs">{spec.name}</span> exists already.
              </span>
            </legend>
            {conflicts.map((c) => (
              <label key={c.value} className="flex items-center gap-1.5">
                <input
                  type="radio"
                  name={`conflict-${row.key}`}
                  className="size-4 accent-accent"
                  checked={row.conflict === c.value}
                  onChange={() => onChange({ conflict: c.value })}
                />
                {c.label}
              </label>
            ))}
          </fieldset>
        )}
        {blocked && clash !== "server" && row.include && <p className="text-danger text-xs">{blocked}</p>}
        {open && <SpecEditor noName spec={spec} onChange={(next) => onChange({ spec: next })} />}
        {row.state === "testing" && (
          <p className="text-ink-2 text-sm" role="status">
            Testing {spec.name}… Nothing is saved.
          </p>
        )}
        {row.report && row.state !== "testing" && <TestReportView report={row.report} />}
        {row.error !== undefined && <ErrorNote error={row.error} title={`${spec.name} was not added.`} />}
      </div>
    </li>
  );
}
