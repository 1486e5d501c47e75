import type { ServerView } from "@/api/types";
import type { ListedServer } from "./servers";
import { condition } from "./status";

/** What the main button of a server does. */
export type ActionKind =
  | "turn_on"
  | "connect"
  | "sign_in"
  | "settings"
  | "show_log"
  | "install"
  | "review"
  | "choose_file"
  | "choose_folder";

export interface ServerAction {
  kind: ActionKind;
  label: string;
  /** For "settings": the place of the field to begin at, as "command" or "env.KEY". */
  field?: string;
}

/** The engine's sentence about every limit for connecting that was too short. */
const tooShort = "raise the time limit for connecting";

/** What else mends it, beside mainAction: who cannot install may have the program elsewhere. */
export function otherAction(
  server: ListedServer,
  canInstall: boolean,
  canChoose = false,
): ServerAction | undefined {
  if (mainAction(server, canInstall, canChoose)?.kind !== "install") return undefined;
  return mainAction(server, false, canChoose);
}

/** The one thing to do about a server as it is; undefined where waiting is all. */
export function mainAction(
  server: ListedServer,
  canInstall: boolean,
  canChoose = false,
): ServerAction | undefined {
  const { spec, status } = server;
  switch (condition(server)) {
    case "outdated":
      return { kind: "connect", label: "Reconnect" };
    case "changed":
      return { kind: "review", label: "Review" };
    case "off":
      return spec.disabled ? { kind: "turn_on", label: "Turn on" } : { kind: "connect", label: "Connect" };
    case "on_demand":
      return { kind: "connect", label: "Start now" };
    case "installing":
      return { kind: "show_log", label: "Show log" };
    case "needs_sign_in":
      return { kind: "sign_in", label: "Sign in" };
    case "needs_values":
      return { kind: "settings", label: "Fill in", field: placeOf(spec, status.missingValues?.[0]) };
    case "reconnecting":
      return { kind: "connect", label: "Connect now" };
    case "crash_loop":
      return { kind: "show_log", label: "Show log" };
    case "failed":
      return mend(spec, status, canInstall, canChoose);
    case "connected": // its tools may not have been listed
      return status.fix === "reconnect" ? { kind: "connect", label: "Reconnect" } : undefined;
    case "starting":
    case "negotiating":
    case "signing_in":
    case "verifying":
      return undefined;
  }
}

/** The place of the setting that asks for a value by its name, as "env.KEY" for ${NAME}. */
function placeOf(spec: ServerView["spec"], name: string | undefined): string | undefined {
  if (!name) return undefined;
  const uses = (text = "") =>
    [`\${${name}}`, `\${env:${name}}`, `\${${name}:-`, `\${env:${name}:-`].some((ref) => text.includes(ref));
  for (const group of ["env", "headers"] as const)
    for (const [key, value] of Object.entries(spec[group] ?? {})) if (uses(value)) return `${group}.${key}`;
  const arg = spec.args?.findIndex(uses) ?? -1;
  if (arg >= 0) return `args.${arg}`;
  for (const place of ["url", "command", "cwd"] as const) if (uses(spec[place])) return place;
  return name in (spec.env ?? {}) ? `env.${name}` : name;
}

function mend(
  spec: ServerView["spec"],
  status: ServerView["status"],
  canInstall: boolean,
  canChoose: boolean,
): ServerAction | undefined {
  const said = `${status.message} ${status.detail ?? ""}`;
  if (said.includes(tooShort))
    return { kind: "settings", label: "Raise time limit", field: "connectTimeout" };
  const edit = correct(spec, said, canChoose);
  switch (status.fix) {
    case "install":
      return canInstall ? { kind: "install", label: `Install ${runtime(spec.command)}` } : edit;
    case "edit":
      return edit;
    case "sign_in":
      return { kind: "sign_in", label: "Sign in again" };
    case "values":
      return { kind: "settings", label: "Fill in", field: placeOf(spec, status.missingValues?.[0]) };
    case "show_log":
      return { kind: "show_log", label: "Show log" };
    default:
      return { kind: "connect", label: "Reconnect" };
  }
}

/** Leads to the setting that is wrong, or lets the right path be chosen. */
function correct(spec: ServerView["spec"], said: string, canChoose: boolean): ServerAction {
  if (spec.transport !== "stdio") return { kind: "settings", label: "Edit URL", field: "url" };
  if (said.includes("working folder"))
    return canChoose
      ? { kind: "choose_folder", label: "Choose folder…" }
      : { kind: "settings", label: "Change folder", field: "cwd" };
  return canChoose && said.includes("Command not found")
    ? { kind: "choose_file", label: "Choose file…" }
    : { kind: "settings", label: "Correct command", field: "command" };
}

const runtimes: Record<string, string> = { uvx: "uv", npx: "Node.js", npm: "Node.js", node: "Node.js" };

function runtime(command: string | undefined): string {
  const name = (command ?? "").split(/[\\/]/).at(-1) ?? "";
  return runtimes[name] ?? name;
}
