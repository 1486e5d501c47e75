/** One factory of query keys per noun: what an event invalidates, a query used. */
export const keys = {
  servers: {
    all: ["servers"] as const,
    list: () => ["servers", "list"] as const,
    found: () => ["servers", "found"] as const,
    formats: () => ["servers", "formats"] as const,
    activity: (name: string) => ["activity", name] as const,
    log: (name: string) => ["log", name] as const,
    processes: (name: string) => ["servers", "processes", name] as const,
  },
  resources: {
    all: ["resources"] as const,
    list: (server: string) => ["resources", "list", server] as const,
    prompts: (server: string) => ["resources", "prompts", server] as const,
    completion: (server: string, asked: string) => ["resources", "completion", server, asked] as const,
  },
  tools: {
    all: ["tools"] as const,
    list: () => ["tools", "list"] as const,
    custom: () => ["tools", "custom"] as const,
    saved: (tool: string) => ["savedRequests", tool] as const,
    versions: (name: string) => ["tools", "versions", name] as const,
    approval: (ref: { kind: string; server?: string; name: string; digest?: string }) =>
      ["tools", "approval", ref] as const,
    check: (code: string) => ["check", code] as const,
  },
  chat: {
    all: ["chat"] as const,
    list: () => ["chat", "list"] as const,
    detail: (id: string) => ["chat", "detail", id] as const,
  },
  approvals: { all: ["approvals"] as const },
  questions: { all: ["questions"] as const },
  agents: { all: ["agents"] as const },
  models: {
    all: ["models"] as const,
    providers: () => ["models", "providers"] as const,
    of: (providerId: string) => ["models", "of", providerId] as const,
  },
  secrets: { all: ["secrets"] as const },
  audit: { all: ["audit"] as const },
  settings: {
    all: ["settings"] as const,
    view: () => ["settings", "view"] as const,
    info: () => ["settings", "info"] as const,
  },
};
