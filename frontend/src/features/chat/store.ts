import { create } from "zustand";

export interface NewChat {
  agentId?: string;
  providerId?: string;
  model?: string;
}

interface ChatState {
  /** What is written and not sent, by conversation; "new" before there is one. */
  drafts: Readonly<Record<string, string>>;
  /** Cards and groups that a person opened (true) or closed (false). */
  open: Readonly<Record<string, boolean>>;
  newChat: NewChat;
  setDraft(id: string, text: string): void;
  setOpen(id: string, open: boolean): void;
  setNewChat(change: NewChat): void;
}

/** What must outlive a view: drafts, disclosure, the choices for the next conversation. */
export const useChatStore = create<ChatState>((set) => ({
  drafts: {},
  open: {},
  newChat: {},
  setDraft: (id, text) => set((s) => ({ drafts: { ...s.drafts, [id]: text } })),
  setOpen: (id, open) => set((s) => ({ open: { ...s.open, [id]: open } })),
  setNewChat: (change) => set((s) => ({ newChat: { ...s.newChat, ...change } })),
}));
