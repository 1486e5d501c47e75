import { createContext, useContext } from "react";
import { useStore } from "zustand";
import type { Chunk } from "@/api/types";
import { createRunStore, type LiveReply, type RunStore } from "@/lib/run-store";

const RunStoreContext = createContext<RunStore>(createRunStore(() => {}));

export const RunStoreProvider = RunStoreContext.Provider;

export function useRunStore(): RunStore {
  return useContext(RunStoreContext);
}

export function useLiveReply(conversationId: string | undefined): LiveReply | undefined {
  return useStore(useRunStore().store, (s) => (conversationId ? s.replies[conversationId] : undefined));
}

const none: readonly Chunk[] = [];

export function useChunks(callId: string): readonly Chunk[] {
  return useStore(useRunStore().store, (s) => s.chunks[callId] ?? none);
}
