import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { settings } from "@/api/generated/calls";
import { keys } from "@/api/keys";
import type { SettingsView } from "@/api/types";

export function useSettings() {
  return useQuery({ queryKey: keys.settings.view(), queryFn: () => settings.get() });
}

export function useInfo() {
  return useQuery({ queryKey: keys.settings.info(), queryFn: () => settings.getInfo() });
}

/** Changes single choices; the contract takes the whole. */
export function useUpdateSettings() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (change: Partial<SettingsView>) => {
      const now = await settings.get();
      await settings.update({ ...now, ...change });
    },
    onMutate: (change) => {
      client.setQueryData<SettingsView>(keys.settings.view(), (now) => (now ? { ...now, ...change } : now));
    },
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: keys.settings.all }),
        client.invalidateQueries({ queryKey: keys.models.all }),
      ]),
  });
}
