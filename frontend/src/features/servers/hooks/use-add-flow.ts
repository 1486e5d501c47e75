import { useRef } from "react";
import { CallError } from "@/api/types";
import { announce } from "@/lib/announce";
import { plural } from "@/lib/format";
import { addInput, type ReviewRow, specToSave, willSave } from "../lib/review";
import { type ServerActions, testServer } from "../queries";
import { useServersStore } from "../store";

/** Tests and saves the rows of the add flow. Nothing runs but what is asked for here. */
export function useAddFlow(actions: ServerActions) {
  const setRow = useServersStore((s) => s.setRow);
  const tests = useRef(new Map<string, AbortController>());

  const test = async (row: ReviewRow) => {
    const abort = new AbortController();
    tests.current.set(row.key, abort);
    setRow(row.key, { state: "testing", report: undefined, error: undefined });
    try {
      const report = await testServer(specToSave(row), row.savedAs || undefined, abort.signal, {
        allowLoaders: row.allowLoaders,
        ...(row.from ? { from: row.from } : {}),
      });
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

  /** Saves and connects, one after the other; what fails does not stop the rest. */
  const save = async (rows: readonly ReviewRow[]) => {
    const store = useServersStore.getState();
    // The text may hold the keys of what is saved now.
    store.set({ adding: true, step: "connect", text: "", rowsOf: "" });
    let failed = 0;
    let added = 0;
    for (const row of rows.filter((r) => willSave(r) && r.state !== "saved")) {
      setRow(row.key, { state: "saving", error: undefined });
      try {
        const view = await actions.add.mutateAsync(addInput(row));
        added++;
        // What was saved stays in the page by name only.
        setRow(row.key, { state: "saved", spec: { name: view.spec.name, transport: view.spec.transport } });
      } catch (error) {
        failed++;
        setRow(row.key, { state: "failed", error });
      }
    }
    announce(failed ? `${added} added, ${failed} not added` : `${plural(added, "server")} added`);
  };

  return { test, cancelTest, save };
}
