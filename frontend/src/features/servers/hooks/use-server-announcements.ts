import { useEffect, useRef } from "react";
import { announce } from "@/lib/announce";
import type { ListedServer } from "@/lib/servers";
import { serverNews, type Told } from "../lib/news";

/** Long enough that a server which is there at once is told once, and a fleet in one sentence. */
const settleMs = 250;

/** Tells a screen reader of every change of a server's state. What stands at the begin is no news. */
export function useServerAnnouncements(servers: readonly ListedServer[] | undefined): void {
  const latest = useRef(servers);
  const told = useRef<Map<string, Told>>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  latest.current = servers;
  useEffect(() => {
    if (!servers) return;
    if (!told.current) {
      told.current = new Map();
      serverNews(servers, told.current);
      return;
    }
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      if (told.current) for (const s of serverNews(latest.current ?? [], told.current)) announce(s);
    }, settleMs);
  }, [servers]);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
}
