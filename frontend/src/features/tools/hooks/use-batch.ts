import { useMemo } from "react";
import type { Tool } from "@/api/types";
import { announce } from "@/lib/announce";
import { plural } from "@/lib/format";
import { toolKey } from "../lib/keys";
import { readRows } from "../lib/rows";
import { cancelCall, executeTool, newCallId } from "../queries";
import { type Batch, type BatchRow, freshBatch, useToolsStore } from "../store";
import type { Execute } from "./use-trial";

export function isOver(row: BatchRow): boolean {
  return row.output !== undefined || row.error !== undefined;
}

/** One tool over many rows of arguments, some at a time. Every row is a call of its own through the gate. */
export function useBatch(tool: Tool, execute?: Execute) {
  const key = toolKey(tool.ref);
  const batch = useToolsStore((s) => s.batches[key]) ?? freshBatch;
  const setBatch = useToolsStore((s) => s.setBatch);
  const setBatchRow = useToolsStore((s) => s.setBatchRow);
  const read = useMemo(() => readRows(batch.text, tool.inputSchema), [batch.text, tool.inputSchema]);

  const run = async () => {
    if (batch.running || read.problem || read.rows.length === 0 || tool.broken) return;
    const rows: BatchRow[] = read.rows.map((args) => ({ args }));
    setBatch(key, { rows, running: true });
    let next = 0;
    const live = (): Batch | undefined => useToolsStore.getState().batches[key];
    const worker = async () => {
      while (live()?.running && next < rows.length) {
        const at = next++;
        const callId = newCallId();
        setBatchRow(key, at, { callId });
        try {
          const args = rows[at]?.args ?? {};
          setBatchRow(key, at, {
            output: await (execute ? execute(callId, args) : executeTool(callId, tool.ref, args)),
          });
        } catch (err) {
          setBatchRow(key, at, { error: err });
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(batch.atOnce, rows.length) }, worker));
    const ended = live();
    setBatch(key, { running: false });
    const done = ended?.rows.filter((r) => r.output?.status === "done").length ?? 0;
    announce(`${tool.ref.name}: ${done} of ${plural(rows.length, "row")} done`);
  };

  /** Starts no further row and cancels those that run. */
  const cancel = () => {
    setBatch(key, { running: false });
    for (const row of batch.rows) if (row.callId && !isOver(row)) void cancelCall(row.callId).catch(() => {}); // it may have just ended
  };

  return { batch, read, run, cancel, change: (c: Partial<Batch>) => setBatch(key, c) };
}
