import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { agents } from "@/api/generated/calls";
import { keys } from "@/api/keys";
import type { Agent } from "@/api/types";

export function useAgents() {
  return useQuery({ queryKey: keys.agents.all, queryFn: async () => (await agents.get()).agents });
}

export function useAgentActions() {
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: keys.agents.all });
  return {
    save: useMutation({ mutationFn: (input: Agent) => agents.save(input), onSettled: refresh }),
    remove: useMutation({ mutationFn: (id: string) => agents.remove({ id }), onSettled: refresh }),
  };
}
