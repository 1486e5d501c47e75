import { useCallback, useEffect, useMemo, useRef } from "react";
import type { ConversationDetail } from "@/api/types";
import { ErrorNote } from "@/components/error-note";
import { useRunStore } from "@/components/run-context";
import { toastError } from "@/components/toast";
import { Button } from "@/components/ui/button";
import {
  type CardActions,
  Composer,
  MessageList,
  useChatActions,
  useChatStore,
  useConversation,
} from "@/features/chat";
import { useSettings, useUpdateSettings } from "@/features/settings";
import { toolKey, useToolsStore } from "@/features/tools";
import { isRecord, parseJson, pretty } from "@/lib/json";
import { Approvals } from "../approvals";
import { focusApproval } from "../focus";
import { useCurrentChat } from "../use-current-chat";
import { useNav, useWhere } from "../use-nav";
import { FirstRun } from "./first-run";
import { NewChatHints } from "./new-chat-hints";

export function NewChatRoute() {
  const nav = useNav();
  const { create, send } = useChatActions();
  const newChat = useChatStore((s) => s.newChat);
  const setDraft = useChatStore((s) => s.setDraft);
  const chat = useCurrentChat();
  const settings = useSettings().data;
  const updateSettings = useUpdateSettings();
  const input = useRef<HTMLTextAreaElement>(null);
  const { search } = useWhere();

  // biome-ignore lint/correctness/useExhaustiveDependencies: once; the dialog gives the focus back itself
  useEffect(() => {
    if (!search.tools) input.current?.focus();
  }, []);

  const onSend = async (text: string) => {
    setDraft("new", "");
    try {
      const c = await create.mutateAsync({
        agentId: chat.agent?.id ?? "",
        providerId: newChat.providerId ?? "",
        model: newChat.model ?? "",
      });
      await send.mutateAsync({ conversationId: c.id, text });
      nav.toChat(c.id, true);
      if (settings && !settings.firstRunDone) updateSettings.mutate({ firstRunDone: true });
    } catch (err) {
      setDraft("new", text);
      toastError(err);
    }
  };

  const propose = (text: string) => {
    setDraft("new", text);
    input.current?.focus();
  };

  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto flex min-h-full w-full max-w-[760px] flex-col justify-center px-5 py-6">
          {settings && !settings.firstRunDone ? (
            <FirstRun onPropose={propose} />
          ) : (
            settings && <NewChatHints onPropose={propose} />
          )}
        </div>
      </div>
      {!search.tools && <Approvals />}
      <Composer
        draftId="new"
        inputRef={input}
        running={false}
        sending={create.isPending || send.isPending}
        blocked={chat.loaded && !chat.provider ? "Choose a model first: Settings › Models." : undefined}
        onSend={(t) => void onSend(t)}
        onStop={() => {}}
      />
    </div>
  );
}

export function ChatRoute() {
  const { conversationId = "" } = useWhere();
  const query = useConversation(conversationId);
  const nav = useNav();
  if (query.error && !query.data) {
    return (
      <div className="mx-auto max-w-[760px] p-6">
        <ErrorNote
          error={query.error}
          title="This conversation could not be opened."
          onRetry={() => void query.refetch()}
          actions={
            <Button size="sm" onClick={nav.newChat}>
              New chat
            </Button>
          }
        />
      </div>
    );
  }
  if (!query.data) return null;
  return <Chat key={conversationId} detail={query.data} />;
}

function Chat({ detail }: { detail: ConversationDetail }) {
  const id = detail.conversation.id;
  const { search } = useWhere();
  const { send, stop } = useChatActions();
  const runs = useRunStore();
  const setDraft = useChatStore((s) => s.setDraft);
  const chat = useCurrentChat();
  const input = useRef<HTMLTextAreaElement>(null);
  const actions = useCardActions(id);

  useEffect(() => runs.seed(detail), [runs, detail]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each conversation that is opened
  useEffect(() => {
    const asked = document.activeElement?.closest("[data-testid=approval-bar]");
    if (!search.tools && !asked) input.current?.focus();
  }, [id]);

  const onSend = (text: string) => {
    setDraft(id, "");
    send.mutate(
      { conversationId: id, text },
      {
        onError: (err) => {
          setDraft(id, text);
          toastError(err);
        },
      },
    );
  };

  const lastText = useMemo(
    () =>
      detail.messages
        .findLast((m) => m.role === "user")
        ?.parts.map((p) => p.text ?? "")
        .join("") ?? "",
    [detail.messages],
  );

  return (
    <div className="flex h-full min-h-0 flex-col">
      <MessageList
        detail={detail}
        actions={actions}
        onRetry={() => onSend(lastText)}
        empty={
          <NewChatHints
            onPropose={(text) => {
              setDraft(id, text);
              input.current?.focus();
            }}
          />
        }
      />
      {!search.tools && <Approvals conversationId={id} />}
      <Composer
        draftId={id}
        inputRef={input}
        running={detail.run !== undefined && detail.run !== null}
        sending={send.isPending}
        blocked={chat.loaded && !chat.provider ? "Choose a model first: Settings › Models." : undefined}
        onSend={onSend}
        onStop={() => stop.mutate(id, { onError: (e) => toastError(e) })}
      />
    </div>
  );
}

function useCardActions(id: string): CardActions {
  const nav = useNav();
  const { cancelCall } = useChatActions();
  const cancel = cancelCall.mutate;
  const setDraft = useChatStore((s) => s.setDraft);
  const setTrial = useToolsStore((s) => s.setTrial);
  const onCancel = useCallback(
    (callId: string) => cancel(callId, { onError: (e) => toastError(e) }),
    [cancel],
  );
  return useMemo<CardActions>(
    () => ({
      onCancel,
      onTry: (call) => {
        if (!call.ref) return;
        const parsed = parseJson(call.arguments || "{}");
        const args = parsed.ok && isRecord(parsed.value) ? parsed.value : undefined;
        setTrial(toolKey(call.ref), {
          mode: args ? "form" : "json",
          args: args ?? {},
          text: args ? pretty(args) : call.arguments,
        });
        nav.openTools(call.ref.kind === "custom" ? "custom" : "mcp", call.ref.server, call.ref.name);
      },
      onServer: (name) => nav.openTools("mcp", name),
      onAskAgain: (call) => {
        setDraft(id, `Please run ${call.ref?.name ?? call.alias} again.`);
        document.querySelector<HTMLElement>("[data-composer]")?.focus();
      },
      onApproval: focusApproval,
    }),
    [id, nav, onCancel, setDraft, setTrial],
  );
}
