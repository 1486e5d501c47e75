import { useRouterState } from "@tanstack/react-router";
import { Bot, Plus, ScrollText, Settings } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { ErrorNote } from "@/components/error-note";
import { toastError } from "@/components/toast";
import { Button } from "@/components/ui/button";
import { useAgents } from "@/features/agents";
import { ConversationList, useChatActions, useChatStore, useConversations } from "@/features/chat";
import { cn } from "@/lib/cn";
import { useNav, useWhere } from "../use-nav";

interface RailProps {
  className?: string;
  /** After a choice, where the rail is a drawer. */
  onLeave?: () => void;
  focus?: boolean;
}

export function Rail({ className, onLeave, focus }: RailProps) {
  const nav = useNav();
  const { conversationId } = useWhere();
  const path = useRouterState({ select: (s) => s.location.pathname });
  const conversations = useConversations();
  const agents = useAgents();
  const actions = useChatActions();
  const setNewChat = useChatStore((s) => s.setNewChat);
  const box = useRef<HTMLElement>(null);

  useEffect(() => {
    if (focus) box.current?.querySelector<HTMLElement>("button")?.focus();
  }, [focus]);

  const go = (fn: () => void) => () => {
    fn();
    onLeave?.();
  };

  return (
    <nav
      ref={box}
      aria-label="Conversations and agents"
      className={cn("flex min-h-0 flex-col bg-canvas", className)}
    >
      <div className="p-3 pb-2">
        <Button
          className="w-full justify-start"
          onClick={go(() => {
            setNewChat({ agentId: undefined, providerId: undefined, model: undefined });
            nav.newChat();
          })}
        >
          <Plus /> New chat
        </Button>
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto px-2 pb-2">
        <Heading>Conversations</Heading>
        {conversations.error && (
          <ErrorNote
            error={conversations.error}
            title="The conversations could not be read."
            onRetry={() => void conversations.refetch()}
          />
        )}
        {conversations.data?.length === 0 && (
          <p className="px-2 py-1 text-ink-3 text-sm">None yet. Write the first message.</p>
        )}
        <ConversationList
          conversations={conversations.data ?? []}
          current={conversationId}
          onOpen={(id) => go(() => nav.toChat(id))()}
          onRename={(id, title) => actions.update.mutate({ id, title }, { onError: (e) => toastError(e) })}
          onRemove={(id) =>
            actions.remove.mutate(id, {
              onSuccess: () => id === conversationId && nav.newChat(),
              onError: (e) => toastError(e),
            })
          }
        />
        <Heading>Agents</Heading>
        <ul className="grid grid-cols-1 gap-px">
          {agents.data?.map((a) => (
            <li key={a.id}>
              <button
                type="button"
                title={`New chat with ${a.name}`}
                onClick={go(() => {
                  setNewChat({ agentId: a.id, providerId: undefined, model: undefined });
                  nav.newChat();
                })}
                className="flex h-8 w-full items-center gap-2 rounded-md px-2 text-left text-sm hover:bg-hover"
              >
                <Bot className="size-4 shrink-0 text-ink-3" aria-hidden />
                <span className="truncate">{a.name}</span>
              </button>
            </li>
          ))}
        </ul>
      </div>
      <div className="grid grid-cols-1 gap-px border-line border-t p-2">
        <Item icon={<ScrollText />} current={path === "/audit"} onClick={go(nav.toAudit)}>
          Audit
        </Item>
        <Item icon={<Settings />} current={path.startsWith("/settings")} onClick={go(() => nav.toSettings())}>
          Settings
        </Item>
      </div>
    </nav>
  );
}

function Heading({ children }: { children: ReactNode }) {
  return <h2 className="px-2 pt-3 pb-1 font-medium text-ink-3 text-xs first:pt-1">{children}</h2>;
}

function Item(props: { icon: ReactNode; current: boolean; onClick: () => void; children: ReactNode }) {
  return (
    <button
      type="button"
      aria-current={props.current ? "page" : undefined}
      onClick={props.onClick}
      className={cn(
        "flex h-8 items-center gap-2 rounded-md px-2 text-left text-sm hover:bg-hover [&_svg]:size-4 [&_svg]:text-ink-3",
        props.current && "bg-hover font-medium",
      )}
    >
      {props.icon} {props.children}
    </button>
  );
}
