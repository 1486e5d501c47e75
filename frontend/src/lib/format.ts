const narrow = "\u202f";

/** "38 ms", "1.2 s", "2 min 5 s": numbers always with their unit. */
export function formatMillis(ms: number): string {
  if (ms < 0) return `0${narrow}ms`;
  if (ms < 1000) return `${Math.round(ms)}${narrow}ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)}${narrow}s`;
  const min = Math.floor(ms / 60_000);
  const s = Math.round((ms % 60_000) / 1000);
  return s ? `${min}${narrow}min ${s}${narrow}s` : `${min}${narrow}min`;
}

/** Whole seconds, for counters that tick. */
export function formatElapsed(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return `${s}${narrow}s`;
  return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")}`;
}

export function formatBytes(n: number): string {
  if (n < 1024) return `${n}${narrow}B`;
  if (n < 1024 * 1024) return `${(n / 1024).toFixed(1)}${narrow}KB`;
  return `${(n / 1024 / 1024).toFixed(1)}${narrow}MB`;
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString("en-US")} ${n === 1 ? one : many}`;
}

const time = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" });
const timeExact = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

function parse(rfc3339: string): Date | undefined {
  const d = new Date(rfc3339);
  return Number.isNaN(d.getTime()) ? undefined : d;
}

export function formatTime(rfc3339: string): string {
  const d = parse(rfc3339);
  return d ? timeExact.format(d) : "";
}

export function formatFull(rfc3339: string): string {
  const d = parse(rfc3339);
  return d ? full.format(d) : "";
}

/** The time for today, the day for anything older. */
export function formatWhen(rfc3339: string, now = new Date()): string {
  const d = parse(rfc3339);
  if (!d) return "";
  return d.toDateString() === now.toDateString() ? time.format(d) : day.format(d);
}

/** "40 s ago". */
export function formatAgo(rfc3339: string, now = Date.now()): string {
  const d = parse(rfc3339);
  if (!d) return "";
  const s = Math.max(0, Math.round((now - d.getTime()) / 1000));
  if (s < 5) return "just now";
  if (s < 60) return `${s}${narrow}s ago`;
  if (s < 3600) return `${Math.floor(s / 60)}${narrow}min ago`;
  if (s < 86_400) return `${Math.floor(s / 3600)}${narrow}h ago`;
  return day.format(d);
}

export function millisSince(rfc3339: string, now = Date.now()): number {
  const d = parse(rfc3339);
  return d ? Math.max(0, now - d.getTime()) : 0;
}
