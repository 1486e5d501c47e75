import {
  createHashHistory,
  createRootRoute,
  createRoute,
  createRouter,
  redirect,
} from "@tanstack/react-router";
import { AuditRoute } from "./pages/audit-route";
import { ChatRoute, NewChatRoute } from "./pages/chat-route";
import { SettingsRoute } from "./pages/settings-route";
import { Shell } from "./shell/shell";

export interface Search {
  tools?: "mcp" | "custom";
  server?: string;
  tool?: string;
}

const root = createRootRoute({
  validateSearch: (raw: Record<string, unknown>): Search => {
    const out: Search = {};
    if (raw.tools === "mcp" || raw.tools === "custom") out.tools = raw.tools;
    if (typeof raw.server === "string" && raw.server) out.server = raw.server;
    if (typeof raw.tool === "string" && raw.tool) out.tool = raw.tool;
    return out;
  },
  component: Shell,
  notFoundComponent: NewChatRoute,
});

const newChat = createRoute({ getParentRoute: () => root, path: "/", component: NewChatRoute });
const chat = createRoute({ getParentRoute: () => root, path: "/chat/$id", component: ChatRoute });
const settingsHome = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  beforeLoad: () => {
    throw redirect({ to: "/settings/$section", params: { section: "models" } });
  },
});
const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings/$section",
  component: SettingsRoute,
});
const audit = createRoute({ getParentRoute: () => root, path: "/audit", component: AuditRoute });

export function makeRouter() {
  return createRouter({
    routeTree: root.addChildren([newChat, chat, settingsHome, settings, audit]),
    history: createHashHistory(),
    defaultPreload: false,
    scrollRestoration: false,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
