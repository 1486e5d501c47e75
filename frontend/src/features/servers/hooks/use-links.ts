import { useEffect } from "react";
import { create } from "zustand";
import { toastError, toastOffer } from "@/components/toast";
import { plural } from "@/lib/format";
import { rowsFrom } from "../lib/review";
import { parseServers, takeLink } from "../queries";
import { useServersStore } from "../store";

const useWaiting = create<{ links: readonly string[] }>(() => ({ links: [] }));

/** Fetches the links that were opened from outside; each is given out once. */
export async function takeLinks(): Promise<void> {
  for (;;) {
    const link = await takeLink();
    if (!link) return;
    useWaiting.setState((s) => ({ links: [...s.links, link] }));
  }
}

/** Shows the review of what a link holds. Nothing of it is saved or run by that. */
export function useLinks(onShow: () => void): void {
  const links = useWaiting((s) => s.links);
  useEffect(() => {
    const link = links[0];
    if (!link) return;
    useWaiting.setState({ links: links.slice(1) });
    const open = async () => {
      const found = await parseServers(link);
      const show = () => {
        useServersStore.getState().set({
          adding: true,
          step: "review",
          text: "",
          rowsOf: "",
          rows: rowsFrom(found),
        });
        onShow();
      };
      const { text, rows } = useServersStore.getState();
      // What a person began to add is not thrown away for a link.
      if (text.trim() === "" && rows.length === 0) show();
      else
        toastOffer(`A link wants to add ${plural(found.servers.length, "server")}.`, "Review instead", show);
    };
    open().catch((e: unknown) => toastError(e));
  }, [links, onShow]);
}
