import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { tools } from "@/api/generated/calls";
import { keys } from "@/api/keys";
import { newCallId } from "@/api/transport";
import type { CustomTool, ToolRef, UpdateToolInput } from "@/api/types";

const catalog = () => queryOptions({ queryKey: keys.tools.list(), queryFn: () => tools.get() });

export function useTools() {
  return useQuery({ ...catalog(), select: (all) => all.tools });
}

/** Everything that an agent can be given: the tools, and what is made of resources and prompts. */
export function useOfferable() {
  return useQuery({ ...catalog(), select: (all) => [...all.tools, ...(all.features ?? [])] });
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
