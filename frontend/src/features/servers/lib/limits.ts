import type { ServerSpec } from "@/api/types";

/** The longest limit that tools.json takes: a day. */
export const longestMs = 24 * 3600 * 1000;

/** Why a limit cannot be saved; undefined when it can. 0 means the default. */
export function secondsProblem(ms: number): string | undefined {
  if (!Number.isFinite(ms) || ms < 0) return "Write a number of seconds, or leave it empty.";
  if (ms > longestMs) return "At most a day, 86,400 seconds.";
  return undefined;
}

/** The first thing about the settings that must be mended before saving; "" when nothing is. */
export function settingsProblem(spec: ServerSpec): string {
  const limits = [
    spec.connectTimeout,
    spec.timeout,
    spec.maxTotalTimeout,
    spec.idleStop,
    spec.toolListTtl,
    ...Object.values(spec.toolTimeouts ?? {}),
  ];
  for (const ms of limits) {
    const problem = secondsProblem(ms ?? 0);
    if (problem) return `A time limit is not right. ${problem}`;
  }
  if (spec.maxTotalTimeout && spec.timeout && spec.maxTotalTimeout < spec.timeout)
    return "The limit of a call in all is shorter than that of its silence.";
  if (!spec.name.trim()) return "Give the server a name.";
  if (spec.transport === "stdio" && !spec.command?.trim()) return "Give it a command.";
  if (spec.transport !== "stdio" && !spec.url?.trim()) return "Give it a URL.";
  return "";
}
