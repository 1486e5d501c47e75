import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { mcp, secrets } from "@/api/generated/calls";
import { keys } from "@/api/keys";
import type { RemoveSecretInput, SaveSecretInput } from "@/api/types";

/** The names of all secrets with who uses them; there are no values here. */
export function useSecrets() {
  return useQuery({ queryKey: keys.secrets.all, queryFn: async () => (await secrets.list()).secrets });
}

export function useSecretActions() {
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: keys.secrets.all });
  return {
    // What is mutated stays in memory for a while; a value must not.
    save: useMutation({
      mutationFn: (input: SaveSecretInput) => secrets.save(input),
      gcTime: 0,
      onSettled: refresh,
    }),
    remove: useMutation({
      mutationFn: (input: RemoveSecretInput) => secrets.remove(input),
      onSettled: refresh,
    }),
  };
}

export function reconnectAll(names: readonly string[]) {
  return Promise.all(names.map((name) => mcp.reconnectServer({ name })));
}
