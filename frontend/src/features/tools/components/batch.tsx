import { Copy, FileUp, Play, Square } from "lucide-react";
import { type ChangeEvent, useId, useRef, useState } from "react";
import type { ToolView } from "@/api/types";
import { CodeEditor } from "@/components/code-editor";
import { StatusIcon } from "@/components/status-icon";
import { copyAndTell, toastError } from "@/components/toast";
import { toneText } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { NativeSelect } from "@/components/ui/input";
import { cn } from "@/lib/cn";
import { formatMillis, plural } from "@/lib/format";
import { argumentSummary, shorten } from "@/lib/json";
import { callLooks } from "@/lib/status";
import { isOver, useBatch } from "../hooks/use-batch";
import type { Execute } from "../hooks/use-trial";
import { toCsv } from "../lib/rows";
import type { BatchRow } from "../store";
import { Outcome } from "./outcome";

interface BatchRunProps {
  view: ToolView;
  waiting?: ReadonlySet<string>;
  execute?: Execute;
  onServer?: () => void;
}

/** Runs one tool over rows of JSON or CSV, and shows what came of each. */
export function BatchRun({ view, waiting, execute, onServer }: BatchRunProps) {
  const { tool } = view;
  const { batch, read, run, cancel, change } = useBatch(tool, execute);
  const [open, setOpen] = useState<number>();
  const atOnce = useId();
  const file = useRef<HTMLInputElement>(null);
  const over = batch.rows.filter(isOver).length;
  const onFile = (e: ChangeEvent<HTMLInputElement>) => {
    const chosen = e.target.files?.[0];
    e.target.value = "";
    chosen?.text().then((text) => change({ text }), toastError);
  };
  const table = () =>
    batch.rows.map((r) => ({
      ...r.args,
      status: r.output ? callLooks[r.output.status].word : r.error ? "Failed" : "",
      result: resultOf(r),
    }));
  return (
    <div className="grid grid-cols-1 gap-3" data-testid="batch">
      <CodeEditor
        language="text"
        label="Rows of arguments, as JSON or CSV with a header"
        className="h-40"
        invalid={read.problem !== ""}
        value={batch.text}
        onChange={(text) => change({ text })}
      />
      <div className="flex flex-wrap items-center gap-2">
        {batch.running ? (
          <Button onClick={cancel}>
            <Square className="size-3! fill-current" /> Cancel all
          </Button>
        ) : (
          <Button
            variant="primary"
            disabled={read.problem !== "" || read.rows.length === 0 || !!tool.broken}
            onClick={() => void run()}
          >
            <Play /> {read.rows.length > 0 ? `Run ${plural(read.rows.length, "row")}` : "Run rows"}
          </Button>
        )}
        <div className="flex items-center gap-2 text-ink-2 text-sm">
          <label htmlFor={atOnce}>At once</label>
          <NativeSelect
            id={atOnce}
            className="w-16"
            disabled={batch.running}
            value={batch.atOnce}
            onChange={(e) => change({ atOnce: Number(e.target.value) })}
          >
            {[1, 2, 4, 8].map((n) => (
              <option key={n} value={n}>
                {n}
              </option>
            ))}
          </NativeSelect>
        </div>
        <Button onClick={() => file.current?.click()} disabled={batch.running}>
          <FileUp /> Choose file…
        </Button>
        <input
          ref={file}
          type="file"
          accept=".json,.jsonl,.csv,.tsv,text/csv,application/json"
          aria-label="File with rows"
          className="sr-only"
          tabIndex={-1}
          onChange={onFile}
        />
        {read.problem && (
          <p className="min-w-0 text-danger text-xs [overflow-wrap:anywhere]">{read.problem}</p>
        )}
      </div>
      {batch.rows.length > 0 && (
        <>
          <div className="flex flex-wrap items-center gap-3">
            <div
              role="progressbar"
              aria-label="Rows that have ended"
              aria-valuemin={0}
              aria-valuemax={batch.rows.length}
              aria-valuenow={over}
              className="h-1.5 w-40 overflow-hidden rounded-full border border-line bg-sunken"
            >
              <div className="h-full bg-accent" style={{ width: `${(100 * over) / batch.rows.length}%` }} />
            </div>
            <p className="nums text-ink-2 text-sm" role="status">
              {over} of {batch.rows.length}
              {!batch.running && over < batch.rows.length && ", the rest was not run"}
            </p>
            <Button
              size="sm"
              className="ml-auto"
              disabled={over === 0}
              onClick={() => void copyAndTell(toCsv(table()), "Copied as CSV")}
            >
              <Copy /> Copy as CSV
            </Button>
          </div>
          <div className="max-h-80 overflow-auto rounded-md border border-line">
            <table className="w-full text-left text-sm">
              <thead className="sticky top-0 bg-sunken text-ink-2 text-xs">
                <tr>
                  <th className="px-3 py-1.5 font-medium">Row</th>
                  <th className="px-3 py-1.5 font-medium">Arguments</th>
                  <th className="px-3 py-1.5 font-medium">End</th>
                  <th className="px-3 py-1.5 text-right font-medium">Time</th>
                  <th className="px-3 py-1.5 font-medium">Result</th>
                </tr>
              </thead>
              <tbody className="divide-y divide-line">
                {batch.rows.map((row, i) => (
                  <Row
                    key={i}
                    row={row}
                    index={i}
                    running={batch.running}
                    waiting={waiting?.has(row.callId ?? "") ?? false}
                    open={open === i}
                    onOpen={() => setOpen(open === i ? undefined : i)}
                  />
                ))}
              </tbody>
            </table>
          </div>
          {open !== undefined && batch.rows[open]?.output && (
            <Outcome key={open} output={batch.rows[open].output} onServer={onServer} />
          )}
        </>
      )}
    </div>
  );
}

function resultOf(row: BatchRow): string {
  if (row.output?.error) return row.output.error;
  if (row.output) return row.output.modelText;
  return row.error instanceof Error ? row.error.message : "";
}

interface RowProps {
  row: BatchRow;
  index: number;
  running: boolean;
  waiting: boolean;
  open: boolean;
  onOpen: () => void;
}

function Row({ row, index, running, waiting, open, onOpen }: RowProps) {
  const status = row.output?.status ?? (row.error ? "failed" : waiting ? "waiting" : "running");
  const look = callLooks[status];
  const begun = row.callId !== undefined && (running || isOver(row));
  return (
    <tr className={cn(open && "bg-accent-soft")}>
      <td className="nums px-3 py-1.5 align-top">
        <button
          type="button"
          className="text-accent underline-offset-2 hover:underline disabled:text-ink-3 disabled:no-underline"
          aria-expanded={open}
          aria-label={`Row ${index + 1}`}
          disabled={!row.output}
          onClick={onOpen}
        >
          {index + 1}
        </button>
      </td>
      <td className="max-w-48 truncate px-3 py-1.5 align-top font-mono text-xs">
        {argumentSummary(row.args)}
      </td>
      <td className="whitespace-nowrap px-3 py-1.5 align-top">
        {begun ? (
          <span className={cn("flex items-center gap-1.5", toneText[look.tone])}>
            <StatusIcon look={look} /> {look.word}
          </span>
        ) : (
          <span className="text-ink-3">{running ? "Next" : "Not run"}</span>
        )}
      </td>
      <td className="nums whitespace-nowrap px-3 py-1.5 text-right align-top">
        {row.output ? formatMillis(row.output.millis) : ""}
      </td>
      <td className="min-w-32 px-3 py-1.5 align-top font-mono text-xs [overflow-wrap:anywhere]">
        {shorten(resultOf(row), 160)}
      </td>
    </tr>
  );
}
