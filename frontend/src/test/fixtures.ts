import type {
  Agent,
  Approval,
  AuditRecord,
  CallStatus,
  Conversation,
  Message,
  Part,
  Provider,
  RunCall,
  ServerSpec,
  ServerState,
  ServerStatus,
  ServerView,
  Tool,
  ToolResult,
  ToolView,
} from "@/api/types";
import { Mask } from "@/api/types";

/** Test data, typed by the contract: a change of the contract breaks it here first. */
export const at = "2026-03-02T10:00:00Z";

export function spec(over: Partial<ServerSpec> = {}): ServerSpec {
  return { name: "demo", transport: "stdio", command: "patchbay", args: ["demo-server"], ...over };
}

export function status(state: ServerState, over: Partial<ServerStatus> = {}): ServerStatus {
  return { name: "demo", transport: "stdio", state, message: "", since: at, toolCount: 0, ...over };
}

export function server(
  name: string,
  state: ServerState,
  over: Partial<ServerStatus> = {},
  specOver: Partial<ServerSpec> = {},
): ServerView {
  const s = spec({ name, ...specOver });
  return { spec: s, status: status(state, { name, transport: s.transport, ...over }) };
}

export function tool(server: string, name: string, over: Partial<Tool> = {}): Tool {
  return {
    ref: { kind: "mcp", server, name, digest: "d" },
    title: name.replace(/_/g, " "),
    description: `Does ${name}.`,
    inputSchema: { type: "object", properties: {} },
    annotations: {},
    ...over,
  };
}

export function toolView(t: Tool, over: Partial<ToolView> = {}): ToolView {
  return {
    tool: t,
    alias: t.ref.server ? `${t.ref.server}__${t.ref.name}` : t.ref.name,
    decision: { effect: "allow", rule: "read-only-hint", why: "The server says it only reads.", risk: "low" },
    inherited: {
      effect: "allow",
      rule: "read-only-hint",
      why: "The server says it only reads.",
      risk: "low",
    },
    approval: { choice: "" },
    available: true,
    ...over,
  };
}

export function textResult(text: string, over: Partial<ToolResult> = {}): ToolResult {
  return { content: [{ type: "text", text }], bytes: text.length, ...over };
}

export function message(
  id: string,
  role: Message["role"],
  parts: Part[],
  over: Partial<Message> = {},
): Message {
  return {
    id,
    role,
    parts,
    origin: {},
    usage: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 },
    at,
    ...over,
  };
}

export function conversation(id: string, over: Partial<Conversation> = {}): Conversation {
  return {
    id,
    title: id,
    agentId: "default",
    providerId: "",
    model: "",
    createdAt: at,
    updatedAt: at,
    ...over,
  };
}

export function runCall(callId: string, statusNow: CallStatus, over: Partial<RunCall> = {}): RunCall {
  return {
    callId,
    alias: "demo__slow",
    ref: { kind: "mcp", server: "demo", name: "slow" },
    title: "Slow",
    arguments: "{}",
    status: statusNow,
    startedAt: at,
    chunks: [],
    ...over,
  };
}

export function approval(id: string, over: Partial<Approval> = {}): Approval {
  return {
    id,
    call: {
      id: `call-${id}`,
      ref: { kind: "mcp", server: "demo", name: "delete_note" },
      arguments: { id: 7 },
    },
    title: "Delete note",
    principal: { kind: "agent", agentId: "default", conversationId: "c1", runId: "r1" },
    decision: { effect: "ask", rule: "default-ask", why: "It may change data.", risk: "medium" },
    annotations: {},
    requestedAt: at,
    ...over,
  };
}

export const agent: Agent = {
  id: "default",
  name: "Assistant",
  instructions: "Be brief.",
  providerId: "",
  model: "",
  toolChoice: "all",
  servers: [],
  tools: [],
  builtIn: true,
};

export const rehearsal: Provider = {
  id: "rehearsal",
  kind: "rehearsal",
  name: "Rehearsal",
  baseUrl: "",
  hasKey: false,
  defaultModel: "rehearsal",
  origin: "builtin",
};

export function record(seq: number, statusNow: CallStatus, over: Partial<AuditRecord> = {}): AuditRecord {
  return {
    seq,
    callId: `call-${seq}`,
    beganAt: at,
    endedAt: at,
    principal: { kind: "agent", agentId: "default", conversationId: "c1" },
    ref: { kind: "mcp", server: "demo", name: "add" },
    arguments: '{"a":1,"b":2}',
    decision: { effect: "allow", rule: "read-only-hint", why: "The server says it only reads.", risk: "low" },
    status: statusNow,
    bytes: 120,
    millis: 42,
    ...over,
  };
}

export const masked = Mask;
