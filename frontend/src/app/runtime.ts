import { QueryClient } from "@tanstack/react-query";
import { toast } from "sonner";
import { createStore } from "zustand/vanilla";
import { followEvents } from "@/api/events";
import { keys } from "@/api/keys";
import type { LinkState } from "@/api/transport";
import type { PatchbayEvent } from "@/api/types";
import { toastError } from "@/components/toast";
import { noteResourceChange } from "@/features/resources";
import { takeLinks } from "@/features/servers";
import { openOutside } from "@/lib/clipboard";
import { createRunStore, type RunStore } from "@/lib/run-store";

const coalesceMs = 40;

export interface Runtime {
  client: QueryClient;
  runs: RunStore;
  link: ReturnType<typeof createLinkStore>;
  stop: () => void;
}

function createLinkStore() {
  return createStore<{ state: LinkState }>(() => ({ state: "connecting" }));
}

/** What an event makes stale. Events say what changed; queries fetch what it is now. */
export function staleKeys(event: PatchbayEvent): readonly (readonly unknown[])[] {
  switch (event.type) {
    case "servers:changed":
      return [keys.servers.all];
    case "servers:activity":
      return [keys.servers.activity(event.data.server)];
    case "resources:changed":
      return event.data.uri ? [] : [keys.resources.list(event.data.server)];
    case "prompts:changed":
      return [keys.resources.prompts(event.data.server)];
    case "tools:changed":
      return [keys.tools.all];
    case "chat:toolCall":
      return [keys.chat.detail(event.data.conversationId)];
    case "chat:changed":
    case "run:started":
    case "run:finished":
      return [keys.chat.list(), keys.chat.detail(event.data.conversationId)];
    case "approval:requested":
    case "approval:resolved":
      return event.data.conversationId
        ? [keys.approvals.all, keys.chat.list(), keys.chat.detail(event.data.conversationId)]
        : [keys.approvals.all];
    case "question:asked":
    case "question:answered":
      return [keys.questions.all];
    case "config:changed":
      return [keys.settings.info(), keys.servers.all, keys.tools.all, keys.secrets.all];
    case "agents:changed":
      return [keys.agents.all];
    case "settings:changed":
      return [keys.settings.all, keys.models.all, keys.secrets.all];
    case "audit:appended":
      return [keys.audit.all];
    case "resync":
      return [[]];
    case "tools:streamChunk":
    case "tools:streamEnd":
    case "chat:delta":
    case "browser:open":
    case "link:opened":
      return [];
  }
}

/** A browser may refuse to open a page that no click asked for, so a click is offered too. */
function openSignIn(server: string, url: string) {
  openOutside(url);
  toast(`Sign in to ${server} in your browser`, {
    action: { label: "Open the page", onClick: () => openOutside(url) },
    duration: 30_000,
  });
}

/** Joins the wire's events with the caches. Needs a wire; stop ends it. */
export function startRuntime(): Runtime {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 30_000,
        retry: 1,
        retryDelay: 400,
        refetchOnWindowFocus: false,
        networkMode: "always",
      },
      mutations: { networkMode: "always" },
    },
  });
  const link = createLinkStore();
  const pending = new Map<string, readonly unknown[]>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  // The first of a burst goes at once: somebody may wait for it. Those behind it go together.
  const flush = () => {
    timer = undefined;
    if (pending.size === 0) return;
    timer = setTimeout(flush, coalesceMs);
    const all = [...pending.values()];
    pending.clear();
    for (const queryKey of all) void client.invalidateQueries({ queryKey });
  };
  const invalidate = (list: readonly (readonly unknown[])[]) => {
    for (const key of list) pending.set(JSON.stringify(key), key);
    if (timer === undefined) flush();
  };

  const runs = createRunStore((conversationId) => invalidate([keys.chat.detail(conversationId)]));

  const stop = followEvents(
    (event) => {
      switch (event.type) {
        case "chat:delta":
          runs.delta(event.data);
          break;
        case "tools:streamChunk":
          runs.chunk(event.data.chunk);
          break;
        case "tools:streamEnd":
          runs.end(event.data);
          break;
        case "resources:changed":
          if (event.data.uri) noteResourceChange(event.data.server, event.data.uri);
          break;
        case "browser:open":
          openSignIn(event.data.server, event.data.url);
          break;
        case "link:opened":
        case "resync": // one may have been opened before the page stood
          takeLinks().catch((e: unknown) => toastError(e));
          break;
      }
      invalidate(staleKeys(event));
    },
    (state) => link.setState({ state }),
  );

  return {
    client,
    runs,
    link,
    stop: () => {
      stop();
      clearTimeout(timer);
    },
  };
}
