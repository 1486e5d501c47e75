import type { Hint, Hints } from "@/components/code-editor";
import { isRecord } from "@/lib/json";

const root: readonly Hint[] = [
  { label: "args", type: "variable", detail: "object", info: "The arguments of the call." },
  {
    label: "progress",
    type: "function",
    detail: "(done, total?, message?)",
    info: "Tells how far the tool is, while it runs.",
  },
  {
    label: "fetch",
    type: "function",
    detail: "(url, init?) → Response",
    info: "Asks a host that the tool declares under Access.",
  },
  { label: "tools", type: "namespace", info: "Other tools." },
  { label: "secrets", type: "namespace", info: "Secrets that the tool declares under Access." },
  { label: "files", type: "namespace", info: "Files in the folders that the tool declares under Access." },
  { label: "console", type: "namespace", info: "Lines for whoever watches the call." },
  { label: "setTimeout", type: "function", detail: "(fn, ms)" },
  { label: "JSON", type: "namespace" },
  { label: "Math", type: "namespace" },
  { label: "Promise", type: "namespace" },
  { label: "URLSearchParams", type: "function" },
];

const inside: Hints = {
  "tools.": [
    {
      label: "call",
      type: "function",
      detail: "(name, args) → Promise",
      info: "Calls another tool and returns its result: content, structuredContent, isError. You are asked as for any call.",
    },
  ],
  "secrets.": [{ label: "get", type: "function", detail: "(name) → Promise<string>" }],
  "files.": [
    { label: "read", type: "function", detail: "(path) → Promise<string>" },
    { label: "write", type: "function", detail: "(path, text) → Promise" },
    { label: "list", type: "function", detail: "(path) → Promise<{name, folder, size}[]>" },
  ],
  "console.": ["log", "info", "warn", "error", "debug"].map((label) => ({ label, type: "function" })),
  "JSON.": ["parse", "stringify"].map((label) => ({ label, type: "function" })),
  "Promise.": ["all", "allSettled", "race", "any"].map((label) => ({ label, type: "function" })),
};

/** What can be written in a tool whose arguments have this schema. */
export function hintsOf(schema: unknown): Hints {
  const out: Record<string, readonly Hint[]> = { ...inside, "": root };
  const add = (path: string, s: unknown, depth: number) => {
    if (!isRecord(s) || !isRecord(s.properties) || depth > 4) return;
    out[path] = Object.entries(s.properties).map(([label, p]) => {
      add(`${path}${label}.`, p, depth + 1);
      const about = isRecord(p) ? p : {};
      return {
        label,
        type: "property",
        ...(typeof about.type === "string" ? { detail: about.type } : {}),
        ...(typeof about.description === "string" ? { info: about.description } : {}),
      };
    });
  };
  add("args.", schema, 0);
  return out;
}
