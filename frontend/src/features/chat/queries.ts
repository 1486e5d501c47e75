import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { chat, tools } from "@/api/generated/calls";
import { keys } from "@/api/keys";
import type { CreateConversationInput, SendInput, UpdateConversationInput } from "@/api/types";

export function useConversations() {
  return useQuery({
    queryKey: keys.chat.list(),
    queryFn: async () => (await chat.getConversations()).conversations,
  });
}

export function useConversation(id: string | undefined) {
  return useQuery({
    queryKey: keys.chat.detail(id ?? ""),
    queryFn: () => chat.get({ id: id ?? "" }),
    enabled: id !== undefined,
    retry: false,
  });
}

export function useChatActions() {
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: keys.chat.all });
  return {
    create: useMutation({
      mutationFn: (input: CreateConversationInput) => chat.create(input),
      onSettled: refresh,
    }),
    update: useMutation({
      mutationFn: (input: UpdateConversationInput) => chat.update(input),
      onSettled: refresh,
    }),
    remove: useMutation({ mutationFn: (id: string) => chat.remove({ id }), onSettled: refresh }),
    send: useMutation({ mutationFn: (input: SendInput) => chat.send(input), onSettled: refresh }),
    stop: useMutation({
      mutationFn: (conversationId: string) => chat.stop({ conversationId }),
      onSettled: refresh,
    }),
    cancelCall: useMutation({ mutationFn: (callId: string) => tools.cancel({ callId }) }),
  };
}

export type ChatActions = ReturnType<typeof useChatActions>;
