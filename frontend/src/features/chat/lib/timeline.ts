import type { ConversationDetail, Message, Part, RunCall } from "@/api/types";
import { type LiveReply, mergeReply } from "@/lib/run-store";
import type { CallFacts } from "@/lib/status";

export type Block =
  | { kind: "text"; text: string }
  | { kind: "reasoning"; text: string }
  | { kind: "image"; mimeType: string; data: string }
  | { kind: "calls"; calls: CallFacts[] };

export interface Entry {
  id: string;
  role: "user" | "assistant";
  blocks: Block[];
  at: string;
  origin: string;
  stopped: boolean;
  error: string;
  /** The reply is being written. */
  live: boolean;
}

/** Joins messages, results and what runs into what is read from top to bottom. */
export function timeline(detail: ConversationDetail, live?: LiveReply): Entry[] {
  const results = new Map<string, Part>();
  for (const m of detail.messages) {
    if (m.role !== "tool") continue;
    for (const p of m.parts) if (p.kind === "tool_result" && p.callId) results.set(p.callId, p);
  }
  const running = new Map((detail.run?.calls ?? []).map((c) => [c.callId, c]));
  const entries: Entry[] = [];
  const ids = new Set<string>();
  const told = new Set<string>();

  const add = (m: Message, isLive: boolean) => {
    ids.add(m.id);
    const blocks = blocksOf(m, results, running, detail.run !== undefined, told);
    if (blocks.length === 0 && !m.error && !m.stopped && !isLive) return;
    entries.push({
      id: m.id,
      role: m.role === "user" ? "user" : "assistant",
      blocks,
      at: m.at,
      origin: m.origin.model ?? "",
      stopped: m.stopped ?? false,
      error: m.error ?? "",
      live: isLive,
    });
  };

  for (const m of detail.messages) if (m.role !== "tool") add(m, false);
  const run = detail.run;
  if (run) {
    const current = live && live.runId === run.id && !ids.has(live.messageId) ? live : undefined;
    const reply = mergeReply(run.reply && !ids.has(run.reply.id) ? run.reply : undefined, current);
    if (reply) add(reply, true);
    const writing = (current?.calls ?? []).flatMap((c, i): CallFacts[] =>
      c.alias
        ? [
            {
              ...c,
              callId: `${current?.messageId}/${i}`,
              title: c.alias,
              arguments: c.arguments ?? "",
              status: "preparing",
            },
          ]
        : [],
    );
    if (writing.length > 0) {
      const block: Block = { kind: "calls", calls: writing };
      const last = entries.at(-1);
      if (reply && last?.id === reply.id) last.blocks.push(block);
      else entries.push(emptyEntry(`${run.id}-preparing`, [block]));
    }
    const untold = run.calls.filter((c) => !told.has(c.callId));
    if (untold.length > 0) {
      const last = entries.at(-1);
      const block: Block = { kind: "calls", calls: untold.map(factsOfRun) };
      if (last?.role === "assistant") last.blocks.push(block);
      else entries.push(emptyEntry(`${run.id}-calls`, [block]));
    }
    const last = entries.at(-1);
    if (!reply && last?.role !== "assistant") entries.push(emptyEntry(`${run.id}-wait`, []));
  }
  return entries;
}

function emptyEntry(id: string, blocks: Block[]): Entry {
  return { id, role: "assistant", blocks, at: "", origin: "", stopped: false, error: "", live: true };
}

function blocksOf(
  m: Message,
  results: Map<string, Part>,
  running: Map<string, RunCall>,
  isRunning: boolean,
  told: Set<string>,
): Block[] {
  const out: Block[] = [];
  for (const p of m.parts) {
    if (p.kind === "text" || p.kind === "reasoning") {
      if (p.text?.trim()) out.push({ kind: p.kind, text: p.text });
    } else if (p.kind === "image") {
      if (p.data) out.push({ kind: "image", mimeType: p.mimeType ?? "", data: p.data });
    } else if (p.kind === "tool_call") {
      const call = factsOf(p, results, running, isRunning);
      told.add(call.callId);
      const last = out.at(-1);
      if (last?.kind === "calls") last.calls.push(call);
      else out.push({ kind: "calls", calls: [call] });
    }
  }
  return out;
}

function factsOf(
  p: Part,
  results: Map<string, Part>,
  running: Map<string, RunCall>,
  isRunning: boolean,
): CallFacts {
  const id = p.callId ?? "";
  const now = running.get(id);
  if (now) return factsOfRun(now);
  const done = results.get(id);
  return {
    callId: id,
    alias: p.alias ?? "",
    ref: p.ref,
    title: p.title || p.ref?.name || p.alias || "",
    arguments: p.arguments ?? "",
    // Without a result the call never ended; while a run goes on, it is still to come.
    status: done?.status ?? (done ? "done" : isRunning ? "running" : "lost"),
    millis: done?.millis,
    result: done?.result,
    error: done?.error,
  };
}

function factsOfRun(c: RunCall): CallFacts {
  return {
    callId: c.callId,
    alias: c.alias,
    ref: c.ref,
    title: c.title || c.ref?.name || c.alias,
    arguments: c.arguments,
    status: c.status,
    startedAt: c.startedAt,
    millis: c.millis,
    result: c.result,
    error: c.error,
  };
}
