import { useEffect } from "react";
import { create } from "zustand";
import type { LinkView, ParsedServers } from "@/api/types";
import { toastError, toastOffer } from "@/components/toast";
import { plural } from "@/lib/format";
import { rowsFrom } from "../lib/review";
import { parseServers, takeLink } from "../queries";
import { useServersStore } from "../store";

const useWaiting = create<{ opened: readonly LinkView[] }>(() => ({ opened: [] }));

/** Fetches what was opened from outside; each is given out once. */
export async function takeLinks(): Promise<void> {
  for (;;) {
    const next = await takeLink();
    if (!next) return;
    useWaiting.setState((s) => ({ opened: [...s.opened, next] }));
  }
}

const review = (found: ParsedServers) =>
  useServersStore
    .getState()
    .set({ adding: true, step: "review", text: "", rowsOf: "", rows: rowsFrom(found) });

/** Prepares what a link or a file holds; what it returns shows it. */
async function prepare({ link, file }: LinkView): Promise<{ offer: string; show: () => void }> {
  const found = file ? file.found : await parseServers(link);
  if (found) {
    const from = file ? file.name : "A link";
    return {
      offer: `${from} wants to add ${plural(found.servers.length, "server")}.`,
      show: () => review(found),
    };
  }
  return {
    offer: `${file?.name} was opened.`,
    // As text it is read in the box, where a person sees what is wrong with it.
    show: () =>
      useServersStore
        .getState()
        .set({ adding: true, step: "paste", text: file?.text ?? "", rowsOf: "", rows: [] }),
  };
}

/** Shows the review of what a link or a file holds. Nothing of it is saved or run by that. */
export function useLinks(onShow: () => void): void {
  const opened = useWaiting((s) => s.opened);
  useEffect(() => {
    const next = opened[0];
    if (!next) return;
    useWaiting.setState({ opened: opened.slice(1) });
    const open = async () => {
      const { offer, show } = await prepare(next);
      const go = () => {
        show();
        onShow();
      };
      const { text, rows } = useServersStore.getState();
      // What a person began to add is not thrown away for a link.
      if (text.trim() === "" && rows.length === 0) go();
      else toastOffer(offer, "Review instead", go);
    };
    open().catch((e: unknown) => toastError(e));
  }, [opened, onShow]);
}
