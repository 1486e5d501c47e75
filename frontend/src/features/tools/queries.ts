import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { tools } from "@/api/generated/calls";
import { keys } from "@/api/keys";
import { newCallId } from "@/api/transport";
import type { CustomTool, ToolRef, UpdateToolInput } from "@/api/types";

export function useTools() {
  return useQuery({ queryKey: keys.tools.list(), queryFn: async () => (await tools.get()).tools });
}

export function useCustomTools() {
  return useQuery({ queryKey: keys.tools.custom(), queryFn: () => tools.getCustom() });
}

export function useCustomToolActions() {
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: keys.tools.all });
  return {
    add: useMutation({ mutationFn: (input: CustomTool) => tools.add(input), onSettled: refresh }),
    update: useMutation({ mutationFn: (input: UpdateToolInput) => tools.update(input), onSettled: refresh }),
    remove: useMutation({ mutationFn: (name: string) => tools.remove({ name }), onSettled: refresh }),
    restore: useMutation({ mutationFn: (undoId: string) => tools.restore({ undoId }), onSettled: refresh }),
  };
}

export function executeTool(callId: string, ref: ToolRef, args: unknown) {
  return tools.execute({ callId, ref, arguments: args });
}

export function cancelCall(callId: string) {
  return tools.cancel({ callId });
}

export { newCallId };
