import { useRef } from "react";
import { CallError } from "@/api/types";
import { announce } from "@/lib/announce";
import { plural } from "@/lib/format";
import { type ReviewRow, specToSave, willSave } from "../lib/review";
import { type ServerActions, testServer } from "../queries";
import { useServersStore } from "../store";

/** Tests and saves the rows of the add flow. Nothing runs but what is asked for here. */
export function useAddFlow(actions: ServerActions, onAdded: (name: string) => void) {
  const setRow = useServersStore((s) => s.setRow);
  const tests = useRef(new Map<string, AbortController>());

  const test = async (row: ReviewRow) => {
    const abort = new AbortController();
    tests.current.set(row.key, abort);
    setRow(row.key, { state: "testing", report: undefined, error: undefined });
    try {
      const report = await testServer(specToSave(row), undefined, abort.signal);
      setRow(row.key, { state: "new", report });
      announce(`Test of ${row.spec.name}: ${report.message}`);
    } catch (error) {
      const gone = error instanceof CallError && error.code === "canceled";
      setRow(row.key, { state: "new", error: gone ? undefined : error });
    } finally {
      tests.current.delete(row.key);
    }
  };

  const cancelTest = (row: ReviewRow) => tests.current.get(row.key)?.abort();

  const save = async (rows: readonly ReviewRow[]) => {
    let first = "";
    let failed = 0;
    let added = 0;
    for (const row of rows.filter(willSave)) {
      setRow(row.key, { state: "saving", error: undefined });
      try {
        const view = await actions.add.mutateAsync({
          server: specToSave(row),
          onConflict: row.conflict === "overwrite" || row.conflict === "keep_both" ? row.conflict : "fail",
        });
        first ||= view.spec.name;
        added++;
        const { rows: now, set } = useServersStore.getState();
        set({ rows: now.filter((r) => r.key !== row.key) });
      } catch (error) {
        failed++;
        setRow(row.key, { state: "failed", error });
      }
    }
    announce(failed ? `${added} added, ${failed} not added` : `${plural(added, "server")} added`);
    if (failed === 0) useServersStore.getState().clearAdd();
    // What was saved must not be offered again, and the text may hold its keys.
    else useServersStore.getState().set({ text: "", rowsOf: "" });
    if (first && failed === 0) onAdded(first);
  };

  return { test, cancelTest, save };
}
