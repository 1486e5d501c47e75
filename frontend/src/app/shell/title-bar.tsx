import { useRouterState } from "@tanstack/react-router";
import { Bot, ChevronDown, PanelLeft, Wrench } from "lucide-react";
import { Mark } from "@/components/mark";
import { StatusIcon } from "@/components/status-icon";
import { Button, IconButton } from "@/components/ui/button";
import {
  Menu,
  MenuContent,
  MenuItem,
  MenuRadioGroup,
  MenuRadioItem,
  MenuSeparator,
  MenuTrigger,
} from "@/components/ui/menu";
import { useAgents } from "@/features/agents";
import { useApprovals } from "@/features/approvals";
import { conversationTitle } from "@/features/chat";
import { ModelPicker } from "@/features/models";
import { modName } from "@/lib/platform";
import { callLooks } from "@/lib/status";
import { focusApproval } from "../focus";
import { useCurrentChat } from "../use-current-chat";
import { useNav, useWhere } from "../use-nav";
import { Lamps } from "./lamps";
import { narrowQuery, useLayout } from "./layout-store";

export function TitleBar() {
  const nav = useNav();
  const { search } = useWhere();
  const { rail, drawer, set } = useLayout();
  const path = useRouterState({ select: (s) => s.location.pathname });
  const chat = useCurrentChat();
  const onChat = path === "/" || path.startsWith("/chat/");
  const title =
    path === "/audit"
      ? "Audit"
      : path.startsWith("/settings")
        ? "Settings"
        : chat.conversation
          ? conversationTitle(chat.conversation)
          : "New chat";

  return (
    <header className="flex h-12 shrink-0 items-center gap-1 border-line border-b bg-surface px-2">
      <IconButton
        label="Conversations and agents"
        shortcut={`${modName}+B`}
        aria-expanded={matchMedia(narrowQuery).matches ? drawer : rail}
        onClick={() => (matchMedia(narrowQuery).matches ? set({ drawer: !drawer }) : set({ rail: !rail }))}
      >
        <PanelLeft />
      </IconButton>
      <Mark className="mr-1 ml-1 size-5 shrink-0 text-accent" />
      <h1 className="min-w-16 shrink truncate font-semibold text-sm" title={title}>
        {title}
      </h1>
      {onChat && (
        <>
          <span className="mx-1 h-5 w-px shrink-0 bg-line" aria-hidden />
          <AgentPicker />
          <ModelPicker
            providers={chat.providers}
            provider={chat.provider}
            model={chat.model}
            onPick={chat.setModel}
            onSettings={() => nav.toSettings("models")}
          />
        </>
      )}
      <span className="flex-1" />
      <Waiting />
      <Lamps onOpen={(name) => nav.openTools("mcp", name)} />
      <Button
        aria-pressed={search.tools !== undefined}
        variant={search.tools ? "secondary" : "ghost"}
        onClick={() => (search.tools ? nav.closeTools() : nav.openTools("mcp"))}
        title={`${modName}+E`}
        data-testid="tools-button"
      >
        <Wrench /> Tools
      </Button>
    </header>
  );
}

function AgentPicker() {
  const agents = useAgents().data ?? [];
  const chat = useCurrentChat();
  const nav = useNav();
  return (
    <Menu>
      <MenuTrigger asChild>
        <Button
          variant="ghost"
          className="max-w-36 px-2 font-normal max-sm:hidden"
          aria-label={`Agent: ${chat.agent?.name ?? "none"}`}
        >
          <Bot /> <span className="truncate">{chat.agent?.name ?? "Agent"}</span>{" "}
          <ChevronDown className="size-3.5! text-ink-3" />
        </Button>
      </MenuTrigger>
      <MenuContent align="start">
        <MenuRadioGroup value={chat.agent?.id} onValueChange={chat.setAgent}>
          {agents.map((a) => (
            <MenuRadioItem key={a.id} value={a.id}>
              {a.name}
            </MenuRadioItem>
          ))}
        </MenuRadioGroup>
        <MenuSeparator />
        <MenuItem onSelect={() => nav.toSettings("agents")}>Agents…</MenuItem>
      </MenuContent>
    </Menu>
  );
}

function Waiting() {
  const approvals = useApprovals().data ?? [];
  const { conversationId, search } = useWhere();
  const nav = useNav();
  const first = approvals[0];
  if (!first) return null;
  const home = first.principal.conversationId;
  return (
    <Button
      size="sm"
      className="border-warning/60 bg-warning-soft text-warning"
      onClick={() => {
        if (home && home !== conversationId) nav.toChat(home);
        else if (!home && !search.tools) nav.openTools("mcp", first.call.ref.server);
        focusApproval();
      }}
    >
      <StatusIcon look={callLooks.waiting} />
      <span className="nums">{approvals.length}</span> waiting
    </Button>
  );
}
