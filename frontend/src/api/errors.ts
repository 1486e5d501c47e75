import type { Code } from "./generated/types";

export interface ErrorPlace {
  line?: number;
  column?: number;
  path?: string;
}

/** A failed call, as the contract tells it. The message is fit to show to a person. */
export class CallError extends Error {
  readonly code: Code;
  readonly place: ErrorPlace;

  constructor(code: Code, message: string, place: ErrorPlace = {}) {
    super(message);
    this.name = "CallError";
    this.code = code;
    this.place = place;
  }
}

function isRecord(v: unknown): v is Record<string, unknown> {
  return typeof v === "object" && v !== null && !Array.isArray(v);
}

/** Reads {code, message, line?, column?, path?}; anything else becomes an internal error. */
export function toCallError(raw: unknown, fallback: string): CallError {
  if (raw instanceof CallError) return raw;
  let v = raw instanceof Error ? raw.message : raw;
  if (typeof v === "string") {
    const text = v;
    try {
      v = JSON.parse(text);
    } catch {
      return new CallError("internal", text || fallback);
    }
  }
  if (isRecord(v) && isRecord(v.error)) v = v.error;
  if (!isRecord(v) || typeof v.message !== "string") return new CallError("internal", fallback);
  const place: ErrorPlace = {};
  if (typeof v.line === "number" && v.line > 0) place.line = v.line;
  if (typeof v.column === "number" && v.column > 0) place.column = v.column;
  if (typeof v.path === "string" && v.path) place.path = v.path;
  return new CallError((typeof v.code === "string" ? v.code : "internal") as Code, v.message, place);
}
