import { createStore } from "zustand/vanilla";
import type { ChatDelta, Chunk, ConversationDetail, Message, Part, ToolsStreamEnd } from "@/api/types";

export interface LiveReply {
  runId: string;
  messageId: string;
  text: string;
  reasoning: string;
  /** The calls whose arguments are being written. */
  calls: readonly PreparingCall[];
}

export interface PreparingCall {
  alias: string;
  ref?: ChatDelta["ref"];
  /** What is written of the arguments so far; undefined when the begin of it is not known. */
  arguments?: string;
}

interface RunState {
  /** The reply that is being written, by conversation. */
  replies: Readonly<Record<string, LiveReply>>;
  /** The chunks of running calls, by call. */
  chunks: Readonly<Record<string, readonly Chunk[]>>;
}

type LiveKind = "text" | "reasoning";

const keptChunks = 200;
const emptyState: RunState = { replies: {}, chunks: {} };

function liveKind(kind: string): LiveKind | undefined {
  return kind === "text" || kind === "reasoning" ? kind : undefined;
}

/** All text of one kind in a message, which is what a delta's offset counts. */
export function textOf(message: Message, kind: LiveKind): string {
  let s = "";
  for (const p of message.parts) if (p.kind === kind) s += p.text ?? "";
  return s;
}

/**
 * The store of what streams. Queries are the truth; this only bridges the time
 * until the next one. Deltas are put in at most once per frame.
 */
export function createRunStore(onGap: (conversationId: string) => void, schedule = nextFrame) {
  const store = createStore<RunState>(() => emptyState);
  let queue: ChatDelta[] = [];
  let chunkQueue: Chunk[] = [];
  // Deltas that begin behind what is known wait for a query to close the gap.
  let early: ChatDelta[] = [];
  let scheduled = false;

  function plan() {
    if (scheduled) return;
    scheduled = true;
    schedule(flush);
  }

  function flush() {
    scheduled = false;
    const deltas = queue;
    const chunks = chunkQueue;
    queue = [];
    chunkQueue = [];
    if (deltas.length === 0 && chunks.length === 0) return;
    const gaps = new Set<string>();
    store.setState((state) => {
      const replies = { ...state.replies };
      for (const delta of deltas) {
        if (!apply(replies, delta)) {
          early.push(delta);
          gaps.add(delta.conversationId);
        }
      }
      return { replies, chunks: addChunks(state.chunks, chunks) };
    });
    for (const id of gaps) onGap(id);
  }

  return {
    store,
    delta(delta: ChatDelta) {
      queue.push(delta);
      plan();
    },
    chunk(chunk: Chunk) {
      chunkQueue.push(chunk);
      plan();
    },
    end(_end: ToolsStreamEnd) {
      flush();
    },
    /** Takes what a query found: it may know more than the stream, never less that matters. */
    seed(detail: ConversationDetail) {
      const id = detail.conversation.id;
      store.setState((state) => {
        const replies = { ...state.replies };
        const run = detail.run;
        if (!run) {
          delete replies[id];
          early = early.filter((d) => d.conversationId !== id);
        } else {
          const known = replies[id];
          if (known && known.runId !== run.id) delete replies[id];
          if (run.reply) {
            const text = textOf(run.reply, "text");
            const reasoning = textOf(run.reply, "reasoning");
            const same = known?.messageId === run.reply.id ? known : undefined;
            replies[id] = {
              runId: run.id,
              messageId: run.reply.id,
              text: same && same.text.length > text.length ? same.text : text,
              reasoning: same && same.reasoning.length > reasoning.length ? same.reasoning : reasoning,
              calls: same?.calls ?? [],
            };
          }
          const waiting = early.filter((d) => d.conversationId === id).sort((a, b) => a.offset - b.offset);
          early = early.filter((d) => d.conversationId !== id);
          for (const d of waiting) if (d.runId === run.id) apply(replies, d);
        }
        const found = run?.calls.flatMap((c) => c.chunks) ?? [];
        return { replies, chunks: addChunks(state.chunks, found) };
      });
    },
    /** Forgets everything that streamed; the queries fetch what is true now. */
    reset() {
      queue = [];
      chunkQueue = [];
      early = [];
      store.setState({ ...emptyState });
    },
    dropChunks(callId: string) {
      store.setState((state) => {
        const { [callId]: _gone, ...rest } = state.chunks;
        return { chunks: rest };
      });
    },
    flush,
  };
}

export type RunStore = ReturnType<typeof createRunStore>;

/** Adds one delta; false when the text before it is not known. */
function apply(replies: Record<string, LiveReply>, d: ChatDelta): boolean {
  if (d.kind === "tool_call") {
    prepare(replies, d);
    return true;
  }
  const kind = liveKind(d.kind);
  if (!kind) return true;
  let reply = replies[d.conversationId];
  if (!reply || reply.messageId !== d.messageId) {
    if (d.offset > 0) return false;
    reply = freshReply(d);
  }
  const have = reply[kind];
  if (d.offset > have.length) return false;
  const fresh = d.text.slice(have.length - d.offset);
  replies[d.conversationId] = fresh ? { ...reply, [kind]: have + fresh } : reply;
  return true;
}

function freshReply(d: ChatDelta): LiveReply {
  return { runId: d.runId, messageId: d.messageId, text: "", reasoning: "", calls: [] };
}

/** Adds to the arguments of a call. They are only shown, so a gap in them is not fetched. */
function prepare(replies: Record<string, LiveReply>, d: ChatDelta): void {
  const known = replies[d.conversationId];
  const reply = known?.messageId === d.messageId ? known : freshReply(d);
  const at = d.call ?? 0;
  const before = reply.calls[at]?.arguments ?? (d.offset === 0 ? "" : undefined);
  const whole = before !== undefined && d.offset <= before.length;
  const calls = [...reply.calls];
  for (let i = calls.length; i < at; i++) calls.push({ alias: "" });
  calls[at] = {
    alias: d.alias ?? "",
    ref: d.ref,
    arguments: whole ? before + d.text.slice(before.length - d.offset) : undefined,
  };
  replies[d.conversationId] = { ...reply, calls };
}

function addChunks(all: RunState["chunks"], more: readonly Chunk[]): RunState["chunks"] {
  if (more.length === 0) return all;
  const out: Record<string, readonly Chunk[]> = { ...all };
  for (const c of more) {
    const list = out[c.callId] ?? [];
    if (list.some((x) => x.seq === c.seq)) continue;
    out[c.callId] = [...list, c].sort((a, b) => a.seq - b.seq).slice(-keptChunks);
  }
  return out;
}

/** Joins a reply from a query with what streamed since. */
export function mergeReply(message: Message | undefined, live: LiveReply | undefined): Message | undefined {
  if (!live) return message;
  if (message && message.id !== live.messageId) return liveMessage(live);
  if (!message) return liveMessage(live);
  let parts: Part[] = message.parts;
  for (const kind of ["reasoning", "text"] as const) {
    const known = textOf(message, kind);
    const more = live[kind].slice(known.length);
    if (!more) continue;
    const at = parts.findLastIndex((p) => p.kind === kind);
    parts =
      at < 0
        ? kind === "reasoning"
          ? [{ kind, text: more }, ...parts]
          : [...parts, { kind, text: more }]
        : parts.map((p, i) => (i === at ? { ...p, text: (p.text ?? "") + more } : p));
  }
  return { ...message, parts };
}

function liveMessage(live: LiveReply): Message {
  const parts: Part[] = [];
  if (live.reasoning) parts.push({ kind: "reasoning", text: live.reasoning });
  if (live.text) parts.push({ kind: "text", text: live.text });
  return {
    id: live.messageId,
    role: "assistant",
    parts,
    origin: {},
    usage: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 },
    at: "",
  };
}

/** The next frame, or soon when the page is hidden and gets no frames. */
function nextFrame(fn: () => void): void {
  let done = false;
  const once = () => {
    if (done) return;
    done = true;
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    fn();
  };
  const timer = setTimeout(once, 200);
  const frame = requestAnimationFrame(once);
}
