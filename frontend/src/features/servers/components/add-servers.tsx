import { FileUp, FolderSearch, Plug } from "lucide-react";
import { type ReactNode, type RefObject, useEffect, useId, useRef, useState } from "react";
import { CallError, type ServerView } from "@/api/types";
import { ErrorNote, messageOf, placeOf } from "@/components/error-note";
import { Button } from "@/components/ui/button";
import { Callout } from "@/components/ui/callout";
import { Textarea } from "@/components/ui/input";
import { cn } from "@/lib/cn";
import { plural } from "@/lib/format";
import { isMod, modName } from "@/lib/platform";
import { target, transportNames } from "@/lib/servers";
import { useAddFlow } from "../hooks/use-add-flow";
import { readFile, useFiles } from "../hooks/use-files";
import { type ParseState, useParse } from "../hooks/use-parse";
import { useReview } from "../hooks/use-review";
import { blockedBecause, lineAt, type ReviewRow, willSave } from "../lib/review";
import type { ServerActions } from "../queries";
import { type AddStep, useServersStore } from "../store";
import { ConnectRows, connectSummary } from "./connect-rows";
import { FoundConfigs } from "./found-configs";
import { ReviewRowView } from "./review-row";

const examples = [
  {
    label: "JSON",
    text: '{\n  "mcpServers": {\n    "filesystem": {\n      "command": "npx",\n      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"]\n    }\n  }\n}',
  },
  { label: "A command", text: "npx -y @modelcontextprotocol/server-memory" },
  { label: "A URL", text: "https://mcp.example.com/mcp" },
];

interface AddServersProps {
  actions: ServerActions;
  servers: readonly ServerView[];
  taken: readonly string[];
  /** No server yet: the box is the page. */
  first: boolean;
  onOpen: (name: string) => void;
  onClose: () => void;
  onDemo: () => void;
  demoBusy: boolean;
}

const steps: { id: AddStep; label: string }[] = [
  { id: "paste", label: "Paste" },
  { id: "review", label: "Review" },
  { id: "connect", label: "Connect" },
];

/** Paste, review, connect. Nothing runs before the last step, or a test that is asked for. */
export function AddServers(props: AddServersProps) {
  const { actions, servers, taken, first, onOpen, onClose, onDemo, demoBusy } = props;
  const { text, rows, step, set, setRow, clearAdd } = useServersStore();
  const parse = useParse();
  const files = useFiles();
  const flow = useAddFlow(actions);
  const heading = useRef<HTMLHeadingElement>(null);
  const [over, setOver] = useState(false);
  useReview(rows, step === "review");

  // A step begins at its heading; the first one in its box.
  useEffect(() => {
    if (step !== "paste") heading.current?.focus();
  }, [step]);

  const ready = rows.filter((r) => willSave(r) && r.state !== "saved");
  const saving = rows.some((r) => r.state === "saving");
  const problem = ready.map((r) => blockedBecause(r, rows, taken)).find((b) => b !== "") ?? "";
  const unseen = ready.some((r) => !r.review && r.error === undefined);
  const canReview = rows.length > 0 && !parse.pending && parse.error === undefined;
  const review = () => canReview && set({ step: "review" });

  const leave = () => {
    // The button that was pressed may leave with the text.
    heading.current?.focus();
    clearAdd();
    files.clear();
    onClose();
  };

  return (
    <div
      role="group"
      aria-label="Add servers"
      className={cn(
        "flex h-full min-h-0 flex-col",
        over && "outline-2 outline-accent outline-dashed -outline-offset-4",
      )}
      data-testid="add-servers"
      // The drop itself is taken by the window.
      onDragOver={(e) => e.dataTransfer.types.includes("Files") && setOver(true)}
      onDragLeave={() => setOver(false)}
      onDrop={() => setOver(false)}
    >
      <div className="min-h-0 flex-1 overflow-y-auto px-5 py-5">
        <div className="mx-auto grid w-full max-w-[720px] gap-4">
          <Steps now={step} />
          {step === "paste" && (
            <PasteStep
              first={first}
              parse={parse}
              files={files}
              rows={rows}
              taken={taken}
              heading={heading}
              onReview={review}
              onDemo={onDemo}
              demoBusy={demoBusy}
            />
          )}
          {step === "review" && (
            <>
              <StepHeading ref={heading} title={`Review ${plural(rows.length, "server")}`}>
                Nothing has run yet. Read what each one does, fill in what is missing, then connect.
              </StepHeading>
              <Notes parse={parse} />
              <ul className="grid grid-cols-1 gap-3" aria-label="Servers found">
                {rows.map((row) => (
                  <ReviewRowView
                    key={row.key}
                    row={row}
                    rows={rows}
                    taken={taken}
                    blocked={blockedBecause(row, rows, taken)}
                    onChange={(change) => setRow(row.key, change)}
                    onTest={() => void flow.test(row)}
                    onCancelTest={() => flow.cancelTest(row)}
                  />
                ))}
              </ul>
            </>
          )}
          {step === "connect" && (
            <>
              <StepHeading ref={heading} title="Connect">
                This goes on when the dialog is closed.
              </StepHeading>
              <ConnectRows
                rows={rows}
                servers={servers}
                onOpen={(name) => {
                  clearAdd();
                  onOpen(name);
                }}
              />
            </>
          )}
        </div>
      </div>
      {(!first || rows.length > 0 || text !== "" || step !== "paste") && (
        <div className="flex items-center gap-2 border-line border-t bg-surface px-5 py-3">
          <p className="min-w-0 flex-1 text-ink-2 text-xs" role="status" data-testid="add-status">
            {step === "connect"
              ? connectSummary(rows, servers)
              : step === "review"
                ? problem
                : parse.pending || files.busy
                  ? "Reading…"
                  : ""}
          </p>
          {step === "connect" ? (
            <>
              {!saving && rows.some((r) => r.state === "failed") && (
                <Button
                  onClick={() => set({ step: "review", rows: rows.filter((r) => r.state === "failed") })}
                >
                  Back to what failed
                </Button>
              )}
              <Button
                variant="primary"
                disabled={saving} // until it is known what to show next
                onClick={() => {
                  const saved = rows.find((r) => r.state === "saved")?.spec.name;
                  leave();
                  if (saved) onOpen(saved);
                }}
              >
                Done
              </Button>
            </>
          ) : (
            <>
              <Button onClick={leave}>{text.trim() || rows.length ? "Discard" : "Close"}</Button>
              {step === "review" && <Button onClick={() => set({ step: "paste" })}>Back</Button>}
              {step === "paste" ? (
                <Button variant="primary" disabled={!canReview} onClick={review} title={`${modName}+Enter`}>
                  Review
                </Button>
              ) : (
                <Button
                  variant="primary"
                  disabled={ready.length === 0 || problem !== "" || saving || unseen}
                  onClick={() => void flow.save(rows)}
                >
                  {ready.length > 1 ? `Save & connect ${ready.length} servers` : "Save & connect"}
                </Button>
              )}
            </>
          )}
        </div>
      )}
    </div>
  );
}

function Steps({ now }: { now: AddStep }) {
  const at = steps.findIndex((s) => s.id === now);
  return (
    <ol className="flex items-center gap-2 text-xs" aria-label="Steps">
      {steps.map((s, i) => (
        <li
          key={s.id}
          aria-current={s.id === now ? "step" : undefined}
          className={cn("flex items-center gap-2", s.id === now ? "font-medium text-ink" : "text-ink-3")}
        >
          {i > 0 && <span aria-hidden className="h-px w-6 bg-line-strong/60" />}
          <span
            className={cn(
              "nums inline-flex size-5 items-center justify-center rounded-full border",
              i < at && "border-accent text-accent",
              i === at && "border-accent bg-accent text-on-accent",
              i > at && "border-line-strong",
            )}
          >
            {i + 1}
          </span>
          {s.label}
        </li>
      ))}
    </ol>
  );
}

interface StepHeadingProps {
  ref: RefObject<HTMLHeadingElement | null>;
  title: string;
  children: ReactNode;
}

function StepHeading({ ref, title, children }: StepHeadingProps) {
  return (
    <div className="grid grid-cols-1 gap-1">
      <h3 ref={ref} tabIndex={-1} className="font-semibold text-lg outline-none">
        {title}
      </h3>
      <p className="text-ink-2 text-sm">{children}</p>
    </div>
  );
}

interface PasteStepProps {
  first: boolean;
  parse: ParseState;
  files: ReturnType<typeof useFiles>;
  rows: readonly ReviewRow[];
  taken: readonly string[];
  heading: RefObject<HTMLHeadingElement | null>;
  onReview: () => void;
  onDemo: () => void;
  demoBusy: boolean;
}

function PasteStep({
  first,
  parse,
  files,
  rows,
  taken,
  heading,
  onReview,
  onDemo,
  demoBusy,
}: PasteStepProps) {
  const { text, set } = useServersStore();
  const [looking, setLooking] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const errorId = useId();
  useEffect(() => box.current?.focus(), []);
  const empty = text.trim() === "" && rows.length === 0;

  return (
    <>
      <StepHeading ref={heading} title={first ? "Paste a server's JSON to begin" : "Add servers"}>
        JSON, a command, a URL or a link; a file or a bundle (.mcpb) can be dropped here. Nothing runs before
        you have seen it.
      </StepHeading>
      <Textarea
        ref={box}
        aria-label="Configuration to paste"
        aria-invalid={parse.error ? true : undefined}
        aria-describedby={parse.error ? errorId : undefined}
        spellCheck={false}
        placeholder={'{ "mcpServers": { … } }'}
        className="min-h-44 resize-y font-mono text-xs leading-normal"
        value={text}
        onChange={(e) => set({ text: e.target.value })}
        onKeyDown={(e) => {
          if (e.key === "Escape" && text.trim() !== "") e.stopPropagation();
          if (e.key === "Enter" && isMod(e)) {
            e.preventDefault();
            onReview();
          }
        }}
      />
      <div className="flex flex-wrap items-center gap-2 text-ink-2 text-sm">
        <Button size="sm" onClick={() => chooser.current?.click()} disabled={files.busy}>
          <FileUp /> Choose a file
        </Button>
        <Button size="sm" aria-expanded={looking} onClick={() => setLooking(!looking)}>
          <FolderSearch /> From other apps
        </Button>
        <input
          ref={chooser}
          type="file"
          hidden
          tabIndex={-1}
          aria-label="File with servers"
          data-testid="file-chooser"
          accept=".json,.jsonc,.json5,.toml,.yaml,.yml,.txt,.md,.mcpb,.dxt"
          onChange={(e) => {
            const file = e.target.files?.[0];
            if (file) void readFile(file);
            e.target.value = "";
          }}
        />
        {empty && (
          <>
            <span className="ml-1">Examples:</span>
            {examples.map((e) => (
              <Button key={e.label} size="sm" variant="ghost" onClick={() => set({ text: e.text })}>
                {e.label}
              </Button>
            ))}
            {!taken.includes("demo") && (
              <Button
                size="sm"
                variant={first ? "primary" : "secondary"}
                onClick={onDemo}
                disabled={demoBusy}
              >
                <Plug /> Add the demo server
              </Button>
            )}
          </>
        )}
      </div>
      {files.error !== undefined && <ErrorNote error={files.error} title="The file could not be used." />}
      {looking && <FoundConfigs taken={taken} onClose={() => setLooking(false)} />}
      {parse.error !== undefined && <ParseError id={errorId} text={text} error={parse.error} />}
      <Notes parse={parse} />
      {rows.length > 0 && (
        <section className="grid grid-cols-1 gap-2" aria-label="Servers found">
          <h4 className="font-medium text-sm" role="status">
            Found {plural(rows.length, "server")}
          </h4>
          <ul className="grid grid-cols-1 divide-y divide-line rounded-lg border border-line bg-surface">
            {rows.map((r) => (
              <li key={r.key} data-testid="found-row" className="flex min-w-0 items-center gap-2 px-3 py-2">
                <span className="shrink-0 font-medium font-mono text-xs">{r.spec.name}</span>
                <span className="shrink-0 text-ink-3 text-xs">{transportNames[r.spec.transport]}</span>
                <span className="min-w-0 flex-1 truncate font-mono text-ink-2 text-xs">{target(r.spec)}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

/** What the text made doubtful, and the servers in it that cannot be used. */
function Notes({ parse }: { parse: ParseState }) {
  return (
    <>
      {parse.found?.warnings?.map((w) => (
        <Callout key={w} tone="info">
          {w}
        </Callout>
      ))}
      {parse.found?.rejected?.map((r) => (
        <Callout key={r.name} tone="danger" title={`${r.name || "A server"} cannot be used.`}>
          {r.error.message}
          {r.error.line ? ` (line ${r.error.line}${r.error.column ? `, column ${r.error.column}` : ""})` : ""}
        </Callout>
      ))}
    </>
  );
}

function ParseError({ id, text, error }: { id: string; text: string; error: unknown }) {
  const place = placeOf(error);
  const message = messageOf(error);
  const line = error instanceof CallError ? error.place.line : undefined;
  const column = error instanceof CallError ? error.place.column : undefined;
  const source = line ? lineAt(text, line) : "";
  return (
    <div id={id} role="alert">
      <Callout tone="danger" title={message}>
        {place && !message.includes(place) && <p className="text-ink-2">At {place}.</p>}
        {source && (
          <pre className="mt-1 overflow-x-auto rounded-sm bg-sunken px-2 py-1 font-mono text-xs">
            <span className="text-ink-3">{line} │ </span>
            {source}
            {column ? `\n${" ".repeat(`${line} │ `.length + column - 1)}^` : ""}
          </pre>
        )}
      </Callout>
    </div>
  );
}
