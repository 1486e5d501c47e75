import type { CallStatus, RunCall, ServerState, ServerView } from "@/api/types";
import { formatElapsed, plural } from "./format";

export type Tone = "neutral" | "info" | "success" | "warning" | "danger";

/** The shape of a lamp: a state is never told by colour alone. */
export type Shape =
  | "hollow"
  | "half"
  | "dotted"
  | "diff"
  | "power"
  | "arrow"
  | "ring"
  | "filled"
  | "key"
  | "pencil"
  | "arrows"
  | "triangle"
  | "triangle-x"
  | "shield"
  | "clock"
  | "hand"
  | "slash"
  | "question";

export interface StateLook {
  word: string;
  shape: Shape;
  tone: Tone;
  /** Something is happening right now. */
  live: boolean;
}

/** A server with what the page knows beside its status. */
export interface SeenServer extends Pick<ServerView, "status"> {
  /** How many of its tools changed since they were allowed. */
  changed?: number;
}

/** What a server's row tells: its state, or what is doubtful though that is well. */
export type Condition = ServerState | "verifying" | "outdated" | "changed";

export function condition({ status, changed }: SeenServer): Condition {
  if (status.state === "connected" && status.flag) return status.flag;
  const quiet = status.state === "connected" || status.state === "on_demand";
  return quiet && changed ? "changed" : status.state;
}

export function lookOf(server: SeenServer): StateLook {
  return serverLooks[condition(server)];
}

export const serverLooks: Record<Condition, StateLook> = {
  off: { word: "Off", shape: "hollow", tone: "neutral", live: false },
  on_demand: { word: "On demand", shape: "half", tone: "neutral", live: false },
  installing: { word: "Installing", shape: "arrow", tone: "info", live: true },
  starting: { word: "Starting", shape: "ring", tone: "info", live: true },
  negotiating: { word: "Connecting", shape: "ring", tone: "info", live: true },
  connected: { word: "Connected", shape: "filled", tone: "success", live: false },
  verifying: { word: "Unverified", shape: "dotted", tone: "neutral", live: false },
  outdated: { word: "Settings changed", shape: "power", tone: "warning", live: false },
  changed: { word: "Changed", shape: "diff", tone: "warning", live: false },
  needs_sign_in: { word: "Needs sign-in", shape: "key", tone: "warning", live: false },
  signing_in: { word: "Authorising", shape: "key", tone: "info", live: true },
  needs_values: { word: "Needs values", shape: "pencil", tone: "warning", live: false },
  reconnecting: { word: "Reconnecting", shape: "arrows", tone: "warning", live: true },
  failed: { word: "Failed", shape: "triangle", tone: "danger", live: false },
  crash_loop: { word: "Crash loop", shape: "triangle-x", tone: "danger", live: false },
};

const attention: ReadonlySet<Condition> = new Set([
  "outdated",
  "changed",
  "needs_sign_in",
  "needs_values",
  "reconnecting",
  "failed",
  "crash_loop",
]);

export function needsAttention(server: SeenServer): boolean {
  return attention.has(condition(server));
}

/** The sentence of truth under a server's name. The server's own message wins. */
export function serverSentence(server: SeenServer, now = Date.now()): string {
  const { status, changed = 0 } = server;
  switch (condition(server)) {
    case "off":
      return "Off";
    case "verifying":
      return "Checking after sleep…";
    case "outdated":
      return "A secret that it uses has another value. Reconnect to apply your changes.";
    case "changed":
      return `${plural(changed, "tool")} changed since you allowed ${changed === 1 ? "it" : "them"}`;
  }
  if (status.state === "reconnecting" && status.retryAt) {
    const left = new Date(status.retryAt).getTime() - now;
    const attempt = status.attempt ? ` (attempt ${status.attempt})` : "";
    if (left > 0) return `Reconnecting in ${formatElapsed(left + 999)}${attempt}`;
  }
  if (status.message) return status.message;
  return serverLooks[status.state].word;
}

/** What a card tells: the status of a call, or that the model still writes it. */
export type CardStatus = CallStatus | "preparing";

export const callLooks: Record<CardStatus, StateLook> = {
  preparing: { word: "Preparing", shape: "dotted", tone: "neutral", live: true },
  running: { word: "Running", shape: "ring", tone: "info", live: true },
  waiting: { word: "Waiting for you", shape: "hand", tone: "warning", live: true },
  done: { word: "Done", shape: "filled", tone: "success", live: false },
  tool_error: { word: "Tool error", shape: "triangle", tone: "danger", live: false },
  failed: { word: "Failed", shape: "triangle-x", tone: "danger", live: false },
  timeout: { word: "Timed out", shape: "clock", tone: "danger", live: false },
  denied: { word: "Denied by you", shape: "hand", tone: "neutral", live: false },
  denied_rule: { word: "Denied by a rule", shape: "shield", tone: "neutral", live: false },
  expired: { word: "Expired", shape: "clock", tone: "neutral", live: false },
  canceled: { word: "Cancelled", shape: "slash", tone: "neutral", live: false },
  invalid: { word: "Not called", shape: "slash", tone: "danger", live: false },
  lost: { word: "Lost", shape: "question", tone: "warning", live: false },
};

const open: ReadonlySet<CardStatus> = new Set(["preparing", "running", "waiting"]);

export function isOpen(status: CardStatus): boolean {
  return open.has(status);
}

/** The calls that must not be folded away: a person should see them. */
export function needsEyes(status: CardStatus): boolean {
  return status !== "done";
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

export interface CallFacts extends Pick<RunCall, "alias" | "title" | "arguments"> {
  status: CardStatus;
  callId: string;
  ref?: RunCall["ref"];
  startedAt?: string;
  millis?: number;
  result?: RunCall["result"];
  error?: string;
}

/** The sentence behind a call's name: what happened, in words that differ for each end. */
export function callSentence(call: CallFacts): string {
  switch (call.status) {
    case "preparing":
      return "Writing arguments…";
    case "running":
      return "Running";
    case "waiting":
      return "Waiting for your approval";
    case "done":
      return "Done";
    case "tool_error": {
      const said = call.result?.content.find((c) => c.text)?.text ?? call.error ?? "";
      return said ? `Reported an error: ${firstLine(said)}` : "Reported an error";
    }
    case "failed":
      return call.error ? firstLine(call.error) : "The tool could not be reached";
    case "timeout":
      return call.error ? firstLine(call.error) : "No answer in time";
    case "denied":
      return "You declined; nothing was run";
    case "denied_rule":
      return call.error ? firstLine(call.error) : "Blocked by a rule; nothing was run";
    case "expired":
      return "You did not answer in time; nothing was run";
    case "canceled":
      return "Cancelled; the server was told and may still be working";
    case "invalid":
      return call.error ? firstLine(call.error) : "Unknown tool or wrong arguments; nothing was run";
    case "lost":
      return "Patchbay ended during this call; whether the tool ran is unknown";
  }
}
