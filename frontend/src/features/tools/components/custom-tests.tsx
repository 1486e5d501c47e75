import { Play, Square, Trash2 } from "lucide-react";
import { useRef, useState } from "react";
import type { ExecuteOutput, SavedRequest, ToolRef } from "@/api/types";
import { CodeDiff } from "@/components/code-diff";
import { ErrorNote } from "@/components/error-note";
import { StatusIcon } from "@/components/status-icon";
import { toastDone, toastUndo } from "@/components/toast";
import { toneText } from "@/components/ui/badge";
import { Button, IconButton } from "@/components/ui/button";
import { Input } from "@/components/ui/input";
import { announce } from "@/lib/announce";
import { cn } from "@/lib/cn";
import { plural } from "@/lib/format";
import { argumentSummary, canonical, isRecord } from "@/lib/json";
import type { StateLook } from "@/lib/status";
import type { Execute } from "../hooks/use-trial";
import { resultValue } from "../lib/results";
import { cancelCall, newCallId, useSavedRequests } from "../queries";
import type { Run } from "../store";

interface CustomTestsProps {
  /** The tool as it is saved, which the tests belong to. */
  toolRef: ToolRef;
  /** Makes a call of the tool as it stands in the editor; undefined while it cannot be run. */
  execute?: Execute;
  /** The run that was made last under "Test". */
  last?: Run;
  onLoad: (args: Record<string, unknown>) => void;
}

type Verdict = { running: true } | { running: false; output?: ExecuteOutput; error?: unknown };

const looks = {
  running: { word: "Running", shape: "ring", tone: "info", live: true },
  same: { word: "As expected", shape: "filled", tone: "success", live: false },
  other: { word: "Another result", shape: "triangle", tone: "danger", live: false },
  failed: { word: "Failed", shape: "triangle-x", tone: "danger", live: false },
} satisfies Record<string, StateLook>;

function judge(test: SavedRequest, v: Verdict): keyof typeof looks {
  if (v.running) return "running";
  if (v.output?.status !== "done") return "failed";
  return canonical(resultValue(v.output)) === canonical(test.expected) ? "same" : "other";
}

/** The tests of a custom tool: arguments and the result that they must give. */
export function CustomTests({ toolRef, execute, last, onLoad }: CustomTestsProps) {
  const { query, save, remove } = useSavedRequests(toolRef);
  const [verdicts, setVerdicts] = useState<Readonly<Record<string, Verdict>>>({});
  const [name, setName] = useState("");
  const [running, setRunning] = useState(false);
  const current = useRef("");
  const stopped = useRef(false);
  const tests = (query.data ?? []).filter((r) => r.expected !== undefined);
  const failed = query.error ?? save.error ?? remove.error;
  const result = resultValue(last?.output);

  const runAll = async () => {
    if (!execute) return;
    setRunning(true);
    setVerdicts({});
    stopped.current = false;
    let good = 0;
    for (const test of tests) {
      if (stopped.current) break;
      setVerdicts((v) => ({ ...v, [test.name]: { running: true } }));
      current.current = newCallId();
      const verdict: Verdict = await execute(current.current, test.arguments).then(
        (output) => ({ running: false, output }),
        (error: unknown) => ({ running: false, error }),
      );
      if (judge(test, verdict) === "same") good++;
      setVerdicts((v) => ({ ...v, [test.name]: verdict }));
    }
    setRunning(false);
    announce(`${good} of ${plural(tests.length, "test")} as expected`);
  };
  const stop = () => {
    stopped.current = true;
    // A call that has just ended needs no cancelling.
    void cancelCall(current.current).catch(() => undefined);
  };
  const keep = () => {
    const kept = name.trim();
    if (!kept || !last || result === undefined) return;
    save.mutate(
      { name: kept, arguments: last.args, expected: result },
      {
        onSuccess: () => {
          setName("");
          toastDone(`${kept} is a test now`);
        },
      },
    );
  };

  return (
    <div className="grid grid-cols-1 gap-3" data-testid="custom-tests">
      {tests.length === 0 ? (
        <p className="text-ink-2 text-sm">
          No tests yet. Run the tool under Test, then keep the run: its arguments, and its result as the one
          that is expected.
        </p>
      ) : (
        <>
          <div className="flex flex-wrap items-center gap-3">
            {running ? (
              <Button onClick={stop}>
                <Square className="size-3! fill-current" /> Stop
              </Button>
            ) : (
              <Button variant="primary" disabled={!execute} onClick={() => void runAll()}>
                <Play /> Run {plural(tests.length, "test")}
              </Button>
            )}
            <p className="text-ink-3 text-xs">They run the tool as it stands here.</p>
          </div>
          <ul className="grid grid-cols-1 divide-y divide-line rounded-md border border-line">
            {tests.map((t) => (
              <TestRow
                key={t.name}
                test={t}
                verdict={verdicts[t.name]}
                onLoad={onLoad}
                onRemove={() =>
                  remove.mutate(t.name, {
                    onSuccess: () => toastUndo(`${t.name} removed`, () => save.mutate(t)),
                  })
                }
                onAccept={(expected) => save.mutate({ ...t, expected })}
              />
            ))}
          </ul>
        </>
      )}
      <div className="flex flex-wrap gap-2">
        <Input
          className="min-w-40 flex-1"
          aria-label="Name of the test"
          placeholder={
            result === undefined ? "Run the tool, then name the run" : "Keep the last run as a test named…"
          }
          maxLength={100}
          disabled={result === undefined}
          value={name}
          onChange={(e) => setName(e.target.value)}
          onKeyDown={(e) => {
            if (e.key === "Enter") {
              e.preventDefault();
              keep();
            }
          }}
        />
        <Button disabled={!name.trim() || result === undefined || save.isPending} onClick={keep}>
          Keep as a test
        </Button>
      </div>
      {failed && <ErrorNote error={failed} title="The tests could not be changed." />}
    </div>
  );
}

interface TestRowProps {
  test: SavedRequest;
  verdict?: Verdict;
  onLoad: (args: Record<string, unknown>) => void;
  onRemove: () => void;
  /** Takes what came as what is expected. */
  onAccept: (expected: unknown) => void;
}

function TestRow({ test, verdict, onLoad, onRemove, onAccept }: TestRowProps) {
  const how = verdict && judge(test, verdict);
  const look = how && looks[how];
  const ended = verdict && !verdict.running ? verdict : undefined;
  const got = resultValue(ended?.output);
  return (
    <li className="grid grid-cols-1 gap-2 px-3 py-2">
      <div className="flex items-center gap-2">
        <div className="min-w-0 flex-1">
          <p className="truncate font-medium text-sm">{test.name}</p>
          <p className="truncate font-mono text-ink-3 text-xs">{argumentSummary(test.arguments)}</p>
        </div>
        {look && (
          <span className={cn("flex items-center gap-1.5 text-sm", toneText[look.tone])}>
            <StatusIcon look={look} /> {look.word}
          </span>
        )}
        <Button size="sm" onClick={() => isRecord(test.arguments) && onLoad(test.arguments)}>
          Use arguments
        </Button>
        <IconButton size="icon-sm" label={`Remove the test ${test.name}`} onClick={onRemove}>
          <Trash2 />
        </IconButton>
      </div>
      {how === "failed" && (
        <p className="text-danger text-sm [overflow-wrap:anywhere]">
          {ended?.output?.error ||
            (ended?.error instanceof Error
              ? ended.error.message
              : (ended?.output?.modelText ?? "It did not end."))}
        </p>
      )}
      {how === "other" && (
        <>
          <CodeDiff
            language="json"
            label={`What ${test.name} should give, and what it gave`}
            before={canonical(test.expected)}
            after={canonical(got)}
          />
          <div>
            <Button size="sm" onClick={() => onAccept(got)}>
              Expect this from now on
            </Button>
          </div>
        </>
      )}
    </li>
  );
}
