import type { Conversation } from "@/api/types";
import { toastError } from "@/components/toast";
import { useAgents } from "@/features/agents";
import { useChatActions, useChatStore, useConversation } from "@/features/chat";
import { effective, useProviders } from "@/features/models";
import { useSettings } from "@/features/settings";
import { useWhere } from "./use-nav";

/** The conversation on the screen, or the one that the next message begins, with who answers. */
export function useCurrentChat() {
  const { conversationId } = useWhere();
  const detail = useConversation(conversationId).data;
  const conversation: Conversation | undefined = conversationId ? detail?.conversation : undefined;
  const newChat = useChatStore((s) => s.newChat);
  const setNewChat = useChatStore((s) => s.setNewChat);
  const agents = useAgents().data ?? [];
  const view = useProviders().data;
  const settings = useSettings().data;
  const { update } = useChatActions();

  const agentId = conversation ? conversation.agentId : newChat.agentId;
  const agent = agents.find((a) => a.id === agentId) ?? agents.find((a) => a.builtIn) ?? agents[0];
  const { provider, model } = effective(
    {
      agentProviderId: agent?.providerId,
      agentModel: agent?.model,
      providerId: (conversation ? conversation.providerId : newChat.providerId) ?? "",
      model: (conversation ? conversation.model : newChat.model) ?? "",
    },
    view?.providers ?? [],
    view?.defaultProviderId ?? "",
    settings?.defaultModel ?? "",
  );

  return {
    conversation,
    agent,
    provider,
    model,
    loaded: view !== undefined,
    providers: view?.providers ?? [],
    setAgent: (id: string) => {
      if (conversation)
        update.mutate({ id: conversation.id, agentId: id }, { onError: (e) => toastError(e) });
      else setNewChat({ agentId: id });
    },
    setModel: (providerId: string, m: string) => {
      if (conversation)
        update.mutate({ id: conversation.id, providerId, model: m }, { onError: (e) => toastError(e) });
      else setNewChat({ providerId, model: m });
    },
  };
}
