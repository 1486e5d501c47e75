import { CallError, toCallError } from "@/api/errors";
import type { EventMap, EventType } from "@/api/generated/events";
import type { Wire } from "@/api/transport";
import type {
  Activity,
  ActivityInput,
  AddServerInput,
  Agent,
  AuditInput,
  ConversationDetail,
  CustomTool,
  ExecuteInput,
  IDInput,
  NameInput,
  ParsedServers,
  ParseServersInput,
  PatchbayEvent,
  ResolveInput,
  ReviewServersInput,
  SaveProviderInput,
  SendInput,
  SetApprovalInput,
  SetServerEnabledInput,
  SetToolsEnabledInput,
  SettingsView,
  TestCustomInput,
  TestReport,
  ToolInput,
  UpdateConversationInput,
  UpdateServerInput,
  UpdateToolInput,
} from "@/api/types";
import { parseJson } from "@/lib/json";
import { emptyState, type FakeState, fullState } from "./fake-state";
import { conversation, message, rehearsal, server, spec, textResult, tool, toolView } from "./fixtures";

export interface FakeWire extends Wire {
  state: FakeState;
  calls: { channel: string; input: unknown }[];
  canceled: string[];
  emit<K extends EventType>(type: K, data: EventMap[K]): void;
  on(channel: string, handler: (input: never) => unknown): void;
}

/** A backend in the page, with no more sense than the screens need. */
const activity: Activity[] = [
  { seq: 1, at: "2026-11-20T10:00:00.000Z", kind: "event", text: "starting /usr/bin/npx" },
  {
    seq: 2,
    at: "2026-11-20T10:00:00.400Z",
    kind: "stderr",
    text: "Secure MCP Filesystem Server running on stdio",
  },
  {
    seq: 3,
    at: "2026-11-20T10:00:00.500Z",
    kind: "sent",
    method: "tools/list",
    id: "2",
    bytes: 46,
    text: '{"jsonrpc":"2.0","id":2,"method":"tools/list"}',
  },
  {
    seq: 4,
    at: "2026-11-20T10:00:00.512Z",
    kind: "received",
    method: "tools/list",
    id: "2",
    answer: true,
    millis: 12,
    bytes: 49,
    text: '{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}',
  },
];

export function fakeWire(state: FakeState = emptyState()): FakeWire {
  let listener: (events: PatchbayEvent[]) => void = () => {};
  let seq = 0;
  let next = 1;
  const overrides = new Map<string, (input: never) => unknown>();

  const wire: FakeWire = {
    state,
    calls: [],
    canceled: [],
    emit(type, data) {
      listener([{ seq: ++seq, type, data } as PatchbayEvent]);
    },
    on(channel, handler) {
      overrides.set(channel, handler);
    },
    async call(channel, _bound, _callId, input) {
      const value = JSON.parse(input) as never;
      wire.calls.push({ channel, input: value });
      const handler = overrides.get(channel) ?? handlers[channel];
      if (!handler) throw new CallError("not_found", `The fake does not know ${channel}.`);
      try {
        return JSON.stringify((await handler(value)) ?? null);
      } catch (err) {
        throw toCallError(err, "fake");
      }
    },
    cancel(callId) {
      wire.canceled.push(callId);
    },
    subscribe(onEvents, onLink) {
      listener = onEvents;
      onLink("open");
      queueMicrotask(() => wire.emit("resync", {}));
      return () => {
        listener = () => {};
      };
    },
  };

  const serversChanged = (name: string) => {
    wire.emit("servers:changed", { servers: [name] });
    wire.emit("tools:changed", {});
  };
  const find = (name: string) => {
    const s = state.servers.find((x) => x.spec.name === name);
    if (!s) throw new CallError("not_found", `There is no server ${name}.`);
    return s;
  };
  const chat = (id: string): ConversationDetail => {
    const c = state.chats.get(id);
    if (!c) throw new CallError("not_found", "This conversation was deleted.");
    return c;
  };

  const handlers: Record<string, (input: never) => unknown> = {
    "mcp:getServers": () => ({ servers: state.servers }),
    "mcp:addDemoServer": () => {
      const s = server("demo", "connected", { message: "2 tools, 3 ms", toolCount: 2 });
      state.servers.push(s);
      state.tools.push(
        toolView(tool("demo", "current_time", { annotations: { readOnlyHint: true } })),
        toolView(tool("demo", "add")),
      );
      serversChanged("demo");
      return s;
    },
    "mcp:addServer": (i: AddServerInput) => {
      const s = server(i.server.name, "connected", { message: "0 tools, 5 ms" }, i.server);
      state.servers.push(s);
      serversChanged(i.server.name);
      return s;
    },
    "mcp:updateServer": (i: UpdateServerInput) => {
      const s = find(i.name);
      s.spec = i.server;
      serversChanged(i.name);
      return s;
    },
    "mcp:removeServer": (i: NameInput) => {
      state.servers = state.servers.filter((s) => s.spec.name !== i.name);
      serversChanged(i.name);
      return { undoId: i.name };
    },
    "mcp:restoreServer": () => {
      state.servers.push(server("restored", "connected"));
    },
    "mcp:setServerEnabled": (i: SetServerEnabledInput) => {
      const s = find(i.name);
      s.spec = { ...s.spec, disabled: !i.enabled };
      s.status = { ...s.status, state: i.enabled ? "connected" : "off" };
      serversChanged(i.name);
      return s;
    },
    "mcp:takeLink": () => ({ link: "" }),
    "mcp:refreshTools": () => undefined,
    "mcp:reconnectServer": () => undefined,
    "mcp:disconnectServer": () => undefined,
    "mcp:getActivity": (i: ActivityInput) => ({ entries: activity.filter((a) => a.seq > (i.after ?? 0)) }),
    "mcp:clearActivity": () => undefined,
    "mcp:reviewServers": (i: ReviewServersInput) => ({
      reviews: i.servers.map((x) => ({
        name: x.server.name,
        envNames: Object.keys(x.server.env ?? {}),
        findings: [],
        secrets: [],
        missing: [],
        exists: false,
        loaders: [],
      })),
    }),
    "mcp:findConfigs": () => ({ files: [] }),
    "mcp:getProcesses": () => ({ processes: [] }),
    "mcp:getExportFormats": () => ({
      formats: [{ id: "cursor", name: "Cursor", where: "~/.cursor/mcp.json" }],
    }),
    "mcp:exportServer": () => ({ text: "{}" }),
    "mcp:setToolsEnabled": (i: SetToolsEnabledInput) => find(i.name),
    "mcp:parseServers": (i: ParseServersInput) => parse(i.text, state),
    "mcp:testServer": async (): Promise<TestReport> => {
      await new Promise((r) => setTimeout(r, 300));
      return {
        ok: true,
        message: "Works: 1 tool, 38 ms.",
        steps: [
          { name: "Find command", status: "ok", message: "/usr/bin/npx", millis: 1 },
          { name: "Start", status: "ok", message: "Started", millis: 812 },
          { name: "Handshake", status: "ok", message: "MCP 2025-06-18", millis: 38 },
          { name: "List tools", status: "ok", message: "1 tool", millis: 4 },
        ],
        tools: [tool("x", "read_file")],
      };
    },
    "tools:get": () => ({ tools: state.tools, features: [], builtins: [] }),
    "tools:setApproval": (i: SetApprovalInput) => {
      state.tools = state.tools.map((t) =>
        i.refs.some((r) => r.server === t.tool.ref.server && r.name === t.tool.ref.name)
          ? { ...t, approval: { choice: i.choice } }
          : t,
      );
      wire.emit("tools:changed", {});
      return { undoId: "approval" };
    },
    "tools:restoreApproval": () => undefined,
    "tools:getApproval": (i: ToolInput) => {
      const view = state.tools.find((t) => t.tool.ref.name === i.ref.name);
      if (!view) throw new CallError("not_found", `There is no tool ${i.ref.name}.`);
      // As if it had said less of itself when it was allowed.
      return {
        approval: view.approval,
        now: view.tool,
        allowed: { ...view.tool, description: "Reads a file." },
      };
    },
    "tools:getCustom": () => ({ tools: state.custom }),
    "tools:add": (i: CustomTool) => void state.custom.push(i),
    "tools:update": (i: UpdateToolInput) => {
      state.custom = state.custom.map((t) => (t.name === i.name ? i.tool : t));
    },
    "tools:remove": (i: NameInput) => {
      state.custom = state.custom.filter((t) => t.name !== i.name);
      return { undoId: i.name };
    },
    "tools:restore": () => undefined,
    "tools:check": () => ({}),
    "tools:getVersions": () => ({ versions: [] }),
    "tools:restoreVersion": () => undefined,
    "tools:testCustom": (i: TestCustomInput) => {
      const result = textResult(JSON.stringify(i.arguments));
      return { callId: i.callId ?? "", status: "done", result, millis: 3, modelText: "" };
    },
    "tools:cancel": () => undefined,
    "tools:getSavedRequests": () => ({ requests: [] }),
    "tools:execute": async (i: ExecuteInput) => {
      await new Promise((r) => setTimeout(r, 200));
      const result = textResult(JSON.stringify({ ok: true, args: i.arguments }), {
        structuredContent: { ok: true },
      });
      return {
        callId: i.callId ?? "",
        status: "done",
        result,
        millis: 200,
        modelText: result.content[0]?.text ?? "",
      };
    },
    "chat:getConversations": () => ({
      conversations: [...state.chats.values()].map((c) => ({
        ...c.conversation,
        running: c.run !== undefined,
        waiting: state.approvals.some((a) => a.principal.conversationId === c.conversation.id),
      })),
    }),
    "chat:create": () => {
      const c = conversation(`n${next++}`, { title: "" });
      state.chats.set(c.id, { conversation: c, messages: [] });
      return c;
    },
    "chat:get": (i: IDInput) => chat(i.id),
    "chat:update": (i: UpdateConversationInput) => {
      const c = chat(i.id);
      c.conversation = { ...c.conversation, ...i };
      return c.conversation;
    },
    "chat:remove": (i: IDInput) => void state.chats.delete(i.id),
    "chat:send": (i: SendInput) => {
      const c = chat(i.conversationId);
      c.conversation.title ||= i.text.slice(0, 40);
      c.messages = [
        ...c.messages,
        message(`u${next++}`, "user", [{ kind: "text", text: i.text }]),
        message(`r${next++}`, "assistant", [{ kind: "text", text: "Heard." }]),
      ];
      wire.emit("chat:changed", { conversationId: i.conversationId });
      return { runId: "r" };
    },
    "chat:stop": () => undefined,
    "approvals:get": () => ({ approvals: state.approvals }),
    "approvals:resolve": (i: ResolveInput) => {
      state.approvals = state.approvals.filter((a) => a.id !== i.id);
      wire.emit("approval:resolved", { approvalId: i.id, conversationId: "c1", answer: i.answer });
    },
    "questions:get": () => ({ questions: [] }),
    "agents:get": () => ({ agents: state.agents }),
    "agents:save": (i: Agent) => {
      const saved = { ...i, id: i.id || `agent-${next++}` };
      state.agents = [...state.agents.filter((a) => a.id !== saved.id), saved];
      return saved;
    },
    "agents:remove": (i: IDInput) => {
      state.agents = state.agents.filter((a) => a.id !== i.id);
    },
    "models:getProviders": () => ({
      providers: state.providers,
      defaultProviderId: state.settings.defaultProviderId,
    }),
    "models:get": (i: { providerId: string }) => {
      if (i.providerId !== "rehearsal")
        throw new CallError(
          "unavailable",
          "Ollama cannot be reached at 127.0.0.1:11434. Start it, or change its base URL.",
        );
      return { models: [{ id: "rehearsal", name: "Rehearsal", tools: true }] };
    },
    "models:saveProvider": (i: SaveProviderInput) => {
      const p = {
        ...rehearsal,
        ...i,
        id: i.id || `p${next++}`,
        hasKey: !!i.key,
        defaultModel: i.defaultModel ?? "",
        origin: "user",
      };
      state.providers = [...state.providers.filter((x) => x.id !== p.id), p];
      return p;
    },
    "models:removeProvider": (i: IDInput) => {
      state.providers = state.providers.filter((p) => p.id !== i.id);
    },
    "audit:get": (i: AuditInput) => {
      const all = state.audit.filter((r) => !i.before || r.seq < i.before);
      return { records: all.slice(0, i.limit || 100), more: all.length > (i.limit || 100) };
    },
    "secrets:list": () => ({
      secrets: [
        { name: "github/GITHUB_TOKEN", kept: true, usedBy: [{ server: "github" }] },
        { name: "old/API_KEY", kept: true, usedBy: [] },
        { name: "weather/KEY", kept: false, usedBy: [{ tool: "weather" }] },
      ],
    }),
    "secrets:save": () => ({ restart: [] }),
    "secrets:remove": () => undefined,
    "settings:get": () => state.settings,
    "settings:update": (i: SettingsView) => {
      state.settings = i;
      wire.emit("settings:changed", {});
    },
    "settings:getInfo": () => ({
      version: "0.1.0",
      platform: "linux/amd64",
      configPath: "/home/me/.config/patchbay/tools.json",
      dataDir: "/home/me/.local/share/patchbay",
      logDir: "/home/me/.local/state/patchbay",
      secretsIn: "In the keychain of this computer.",
      configError: state.configError,
      configWarnings: [],
    }),
  };
  return wire;
}

/** What ?fake=full&theme=dark asks for. */
export function stateFor(q: URLSearchParams): FakeState {
  const s = q.get("fake") === "empty" ? emptyState() : fullState();
  const theme = q.get("theme");
  if (theme) s.settings.theme = theme;
  return s;
}

function parse(text: string, state: FakeState): ParsedServers {
  const json = parseJson(text);
  if (!json.ok) {
    const { line, column } = json.problem;
    throw new CallError("invalid", "This is not JSON, a command or a URL.", { line, column });
  }
  const all =
    (
      json.value as {
        mcpServers?: Record<string, { command?: string; args?: string[]; env?: Record<string, string> }>;
      }
    ).mcpServers ?? {};
  return {
    servers: Object.entries(all).map(([name, v]) => ({
      spec: spec({ name, ...v }),
      resolvedCommand: `/usr/bin/${v.command}`,
      problem: v.command === "uvx" ? "uvx is not installed. Install uv, or give the full path." : "",
      exists: state.servers.some((s) => s.spec.name === name),
      inputs: [],
      missing: Object.entries(v.env ?? {})
        .filter(([, x]) => /^</.test(x))
        .map(([k]) => `env.${k}`),
    })),
    rejected: [],
    warnings: [],
  };
}
