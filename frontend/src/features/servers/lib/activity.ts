import type { Activity, ActivityKind } from "@/api/types";
import { isRecord, parseJson } from "@/lib/json";

export type ActivityGroup = "messages" | "events" | "output" | "log";

export const groupNames: Record<ActivityGroup, string> = {
  messages: "Messages",
  events: "Events",
  output: "Output",
  log: "Log",
};

const groupOf: Record<ActivityKind, ActivityGroup> = {
  sent: "messages",
  received: "messages",
  event: "events",
  stderr: "output",
  stdout: "output",
  log: "log",
};

export function filterActivity(
  all: readonly Activity[],
  hidden: ReadonlySet<ActivityGroup>,
  search: string,
): readonly Activity[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (hidden.size === 0 && words.length === 0) return all;
  return all.filter((a) => {
    if (hidden.has(groupOf[a.kind])) return false;
    const text = `${a.method ?? ""} ${a.id ?? ""} ${a.text}`.toLowerCase();
    return words.every((w) => text.includes(w));
  });
}

export interface Replay {
  tool: string;
  args: Record<string, unknown>;
}

/** The call that a sent message makes, if it is a whole tools/call. */
export function replayOf(a: Activity): Replay | undefined {
  if (a.kind !== "sent" || a.method !== "tools/call" || a.cut || a.answer) return undefined;
  const parsed = parseJson(a.text);
  const params = parsed.ok && isRecord(parsed.value) ? parsed.value.params : undefined;
  if (!isRecord(params) || typeof params.name !== "string") return undefined;
  return { tool: params.name, args: isRecord(params.arguments) ? params.arguments : {} };
}

/** The call as a person would make it in a shell. */
export function commandOf({ tool, args }: Replay): string {
  const quote = (s: string) => (/^[\w./:@-]+$/.test(s) ? s : `'${s.replaceAll("'", "'\\''")}'`);
  return `patchbay call ${quote(tool)} ${quote(JSON.stringify(args))}`;
}
