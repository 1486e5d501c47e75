import type {
  Agent,
  Approval,
  AuditRecord,
  ConversationDetail,
  CustomTool,
  Provider,
  ServerView,
  SettingsView,
  ToolView,
} from "@/api/types";
import {
  agent,
  approval,
  at,
  conversation,
  masked,
  message,
  record,
  rehearsal,
  runCall,
  server,
  textResult,
  tool,
  toolView,
} from "./fixtures";

export interface FakeState {
  servers: ServerView[];
  tools: ToolView[];
  custom: CustomTool[];
  chats: Map<string, ConversationDetail>;
  approvals: Approval[];
  agents: Agent[];
  providers: Provider[];
  settings: SettingsView;
  audit: AuditRecord[];
  configError?: { code: "invalid"; message: string; line: number; column: number };
}

/** A page as on the first start. */
export function emptyState(): FakeState {
  return {
    servers: [],
    tools: [],
    custom: [],
    chats: new Map(),
    approvals: [],
    agents: [agent],
    providers: [rehearsal],
    settings: {
      theme: "system",
      defaultProviderId: "",
      defaultModel: "",
      builtin: { folders: [], allowPrivate: false },
      firstRunDone: false,
    },
    audit: [],
  };
}

const schema = {
  type: "object",
  properties: {
    path: { type: "string", description: "Where to look" },
    limit: { type: "integer", description: "At most so many", default: 10, minimum: 1 },
    recursive: { type: "boolean", description: "Folders within folders too" },
    kind: { type: "string", enum: ["file", "folder", "both"] },
    tags: { type: "array", items: { type: "string" } },
  },
  required: ["path"],
};

/** A page in the middle of work, with every state on show. */
export function fullState(): FakeState {
  const s = emptyState();
  s.settings = {
    theme: "system",
    defaultProviderId: "rehearsal",
    defaultModel: "",
    builtin: { folders: [], allowPrivate: false },
    firstRunDone: true,
  };
  s.servers = [
    server("demo", "connected", {
      message: "6 tools, 3 ms",
      toolCount: 6,
      latencyMs: 3,
      verifiedAt: at,
      serverTitle: "Patchbay demo",
      serverVersion: "1.0",
      protocolVersion: "2025-11-25",
    }),
    server(
      "filesystem",
      "connected",
      {
        message: "11 tools, 38 ms",
        toolCount: 11,
        latencyMs: 38,
        verifiedAt: at,
        protocolVersion: "2025-06-18",
      },
      {
        command: "npx",
        args: ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/Documents with spaces"],
        env: { LOG_LEVEL: masked },
      },
    ),
    server(
      "github",
      "needs_values",
      { message: "1 value missing: GITHUB_TOKEN", fix: "values", missingValues: ["env.GITHUB_TOKEN"] },
      {
        command: "docker",
        args: ["run", "-i", "--rm", "ghcr.io/github/github-mcp-server"],
        env: { GITHUB_TOKEN: "${GITHUB_TOKEN}" },
      },
    ),
    server(
      "sqlite",
      "failed",
      {
        message: "Command not found: uvx. Install uv, or give the full path.",
        fix: "install",
        detail: 'exec: "uvx": executable file not found in $PATH',
      },
      { command: "uvx", args: ["mcp-server-sqlite"] },
    ),
    server("a-server-with-a-remarkably-long-name-that-must-not-break-anything", "starting", {
      message: "Starting…",
      since: new Date().toISOString(),
    }),
    server(
      "jira",
      "reconnecting",
      {
        message: "Connection lost",
        attempt: 2,
        retryAt: new Date(Date.now() + 40_000).toISOString(),
        fix: "reconnect",
      },
      {
        transport: "streamable-http",
        url: "https://mcp.example.com/v1/mcp",
        command: undefined,
        args: undefined,
        headers: { Authorization: masked },
      },
    ),
    server(
      "old",
      "off",
      {},
      {
        disabled: true,
        transport: "sse",
        url: "https://old.example.com/sse",
        command: undefined,
        args: undefined,
      },
    ),
  ];
  s.tools = [
    toolView(tool("demo", "current_time", { title: "Current time", annotations: { readOnlyHint: true } })),
    toolView(
      tool("demo", "add", {
        annotations: { readOnlyHint: true, idempotentHint: true },
        inputSchema: {
          type: "object",
          properties: { a: { type: "number" }, b: { type: "number" } },
          required: ["a", "b"],
        },
      }),
    ),
    toolView(tool("demo", "slow", { title: "Slow", description: "Takes its time and reports progress." })),
    toolView(
      tool("demo", "delete_note", {
        title: "Delete note",
        annotations: { destructiveHint: true },
        description: "Deletes a note for good.",
      }),
      {
        decision: {
          effect: "ask",
          rule: "destructive-hint",
          why: "The server says it may delete.",
          risk: "high",
        },
      },
    ),
    toolView(tool("demo", "picture", { title: "Picture", annotations: { readOnlyHint: true } })),
    toolView(tool("demo", "broken", { broken: "Its schema is not an object." }), { available: false }),
    ...Array.from({ length: 1000 }, (_, i) =>
      toolView(
        tool("filesystem", i === 0 ? "list_directory" : `tool_number_${i}`, {
          inputSchema: schema,
          annotations: i % 3 ? { readOnlyHint: true } : { openWorldHint: true },
          description: "Lists what is in a folder.\nWith details.",
        }),
      ),
    ),
  ];
  s.custom = [
    {
      name: "shout",
      description: "Makes text loud.",
      parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      code: "return args.text.toUpperCase();",
      timeout: 30_000,
      enabled: true,
    },
    {
      name: "word_count",
      description: "Counts words.",
      parameters: { type: "object", properties: {} },
      code: "return 1;",
      timeout: 5_000,
      enabled: false,
    },
  ];
  s.chats.set("c1", {
    conversation: conversation("c1", { title: "Tidy up my notes before the review" }),
    messages: [
      message("m1", "user", [{ kind: "text", text: "List my notes, then delete the oldest one." }]),
      message("m2", "assistant", [
        { kind: "reasoning", text: "I should list first." },
        {
          kind: "text",
          text: "I'll look at **your notes** first. See `notes/` and https://example.com.\n\n```js\nconst x = 1;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |",
        },
        {
          kind: "tool_call",
          callId: "k1",
          alias: "demo__add",
          ref: { kind: "mcp", server: "demo", name: "add" },
          title: "Add",
          arguments: '{"a":2,"b":3}',
        },
        {
          kind: "tool_call",
          callId: "k2",
          alias: "filesystem__list_directory",
          ref: { kind: "mcp", server: "filesystem", name: "list_directory" },
          title: "List directory",
          arguments: '{"path":"/home/me/notes"}',
        },
      ]),
      message("m3", "tool", [
        { kind: "tool_result", callId: "k1", status: "done", millis: 12, result: textResult("5") },
        {
          kind: "tool_result",
          callId: "k2",
          status: "tool_error",
          millis: 1840,
          result: textResult("ENOENT: no such file or directory, scandir '/home/me/notes'", {
            isError: true,
          }),
        },
      ]),
      message("m4", "assistant", [
        { kind: "text", text: "The folder does not exist. I'll try the note itself." },
      ]),
      message("m5", "user", [{ kind: "text", text: "Go on." }]),
      message("m6", "assistant", [
        {
          kind: "tool_call",
          callId: "k3",
          alias: "demo__slow",
          ref: { kind: "mcp", server: "demo", name: "slow" },
          title: "Slow",
          arguments: "{}",
        },
        {
          kind: "tool_call",
          callId: "k4",
          alias: "demo__delete_note",
          ref: { kind: "mcp", server: "demo", name: "delete_note" },
          title: "Delete note",
          arguments: '{"id":7,"reason":"oldest"}',
        },
      ]),
    ],
    run: {
      id: "r1",
      conversationId: "c1",
      startedAt: new Date().toISOString(),
      turn: 2,
      calls: [
        runCall("k3", "running", {
          startedAt: new Date().toISOString(),
          chunks: [
            { callId: "k3", seq: 1, at, kind: "progress", progress: 3, total: 10, message: "Uploading" },
          ],
        }),
        runCall("k4", "waiting", {
          alias: "demo__delete_note",
          ref: { kind: "mcp", server: "demo", name: "delete_note" },
          title: "Delete note",
          arguments: '{"id":7,"reason":"oldest"}',
          startedAt: new Date().toISOString(),
        }),
      ],
    },
  });
  s.chats.set("c2", {
    conversation: conversation("c2", {
      title: "What time is it in Lisbon, and why does it matter for the meeting?",
    }),
    messages: [],
  });
  s.approvals = [
    approval("a1", {
      call: {
        id: "k4",
        ref: { kind: "mcp", server: "demo", name: "delete_note" },
        arguments: { id: 7, reason: "oldest", path: "/home/me/notes/2019/first.md" },
      },
      decision: {
        effect: "ask",
        rule: "destructive-hint",
        why: "The server says it may delete.",
        risk: "high",
      },
      annotations: { destructiveHint: true },
    }),
  ];
  const states = [
    "done",
    "tool_error",
    "failed",
    "timeout",
    "denied",
    "denied_rule",
    "expired",
    "canceled",
    "invalid",
    "lost",
    "waiting",
  ] as const;
  s.audit = Array.from({ length: 400 }, (_, i) => record(400 - i, states[i % states.length] ?? "done"));
  s.providers = [
    rehearsal,
    {
      id: "p1",
      kind: "ollama",
      name: "Ollama",
      baseUrl: "http://127.0.0.1:11434",
      hasKey: false,
      defaultModel: "qwen3:8b",
      origin: "user",
    },
  ];
  return s;
}
