/** One factory of query keys per noun: what an event invalidates, a query used. */
export const keys = {
  servers: {
    all: ["servers"] as const,
    list: () => ["servers", "list"] as const,
    found: () => ["servers", "found"] as const,
    formats: () => ["servers", "formats"] as const,
    log: (name: string) => ["servers", "log", name] as const,
  },
  tools: {
    all: ["tools"] as const,
    list: () => ["tools", "list"] as const,
    custom: () => ["tools", "custom"] as const,
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
  audit: { all: ["audit"] as const },
  settings: {
    all: ["settings"] as const,
    view: () => ["settings", "view"] as const,
    info: () => ["settings", "info"] as const,
  },
};
