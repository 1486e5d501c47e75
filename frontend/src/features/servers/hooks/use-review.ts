import { useEffect } from "react";
import { CallError } from "@/api/types";
import { type ReviewRow, reviewInput, willSave } from "../lib/review";
import { reviewServers } from "../queries";
import { useServersStore } from "../store";

const debounceMs = 250;

/** Keeps what the backend says of the rows current while they are edited. Nothing is run. */
export function useReview(rows: readonly ReviewRow[], active: boolean): void {
  const setRow = useServersStore((s) => s.setRow);
  const open = active ? rows.filter((r) => willSave(r) && r.state !== "saved" && r.state !== "saving") : [];
  const asked = JSON.stringify(open.map((r) => [r.key, reviewInput(r)]));

  useEffect(() => {
    const list = JSON.parse(asked) as [string, ReturnType<typeof reviewInput>][];
    if (list.length === 0) return;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      reviewServers(
        list.map(([, input]) => input),
        abort.signal,
      ).then(
        (out) =>
          list.forEach(([key], i) => {
            setRow(key, { review: out.reviews[i] });
          }),
        (error: unknown) => {
          if (error instanceof CallError && error.code === "canceled") return;
          for (const [key] of list) setRow(key, { error });
        },
      );
    }, debounceMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [asked, setRow]);
}
