import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { models } from "@/api/generated/calls";
import { keys } from "@/api/keys";
import type { SaveProviderInput } from "@/api/types";

export function useProviders() {
  return useQuery({ queryKey: keys.models.providers(), queryFn: () => models.getProviders() });
}

/** Asks the provider's endpoint, so it may fail: the error is worth showing. */
export function useModels(providerId: string | undefined, enabled = true) {
  return useQuery({
    queryKey: keys.models.of(providerId ?? ""),
    queryFn: async () => (await models.get({ providerId: providerId ?? "" })).models,
    enabled: enabled && !!providerId,
    retry: false,
    staleTime: 60_000,
  });
}

export function useProviderActions() {
  const client = useQueryClient();
  const refresh = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: keys.models.all }),
      client.invalidateQueries({ queryKey: keys.settings.all }),
    ]);
  return {
    save: useMutation({
      mutationFn: (input: SaveProviderInput) => models.saveProvider(input),
      onSettled: refresh,
    }),
    remove: useMutation({ mutationFn: (id: string) => models.removeProvider({ id }), onSettled: refresh }),
  };
}
