import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { mcp } from "@/api/generated/calls";
import { keys } from "@/api/keys";
import type {
  Activity,
  AddServerInput,
  ServerSpec,
  ServerView,
  SetServerEnabledInput,
  UpdateServerInput,
} from "@/api/types";

export const serversQuery = () =>
  queryOptions({ queryKey: keys.servers.list(), queryFn: async () => (await mcp.getServers()).servers });

export function useServers() {
  return useQuery(serversQuery());
}

const keptActivity = 3000;

/** The timeline of a server. Each reading fetches only what is new. */
export function useActivity(name: string) {
  const client = useQueryClient();
  const queryKey = keys.servers.activity(name);
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const known = client.getQueryData<Activity[]>(queryKey) ?? [];
      const { entries } = await mcp.getActivity({ name, after: known.at(-1)?.seq ?? 0 }, { signal });
      return entries.length === 0 ? known : [...known, ...entries].slice(-keptActivity);
    },
    staleTime: 0,
    structuralSharing: false,
  });
  const clear = async () => {
    await mcp.clearActivity({ name });
    client.setQueryData<Activity[]>(queryKey, []);
  };
  return { query, clear };
}

export function parseServers(text: string, signal?: AbortSignal) {
  return mcp.parseServers({ text }, { signal });
}

export function testServer(server: ServerSpec, savedAs: string | undefined, signal?: AbortSignal) {
  return mcp.testServer({ server, savedAs: savedAs ?? "" }, { signal });
}

/** Signs in with a browser; it lasts until that is done, refused or aborted. */
export function signIn(name: string, signal: AbortSignal) {
  return mcp.signIn({ name }, { signal });
}

export function signOut(name: string) {
  return mcp.signOut({ name });
}

export function finishSignIn(name: string, callbackUrl: string) {
  return mcp.finishSignIn({ name, callbackUrl });
}

/** Every change of a server; each ends with a fresh list. */
export function useServerActions() {
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: keys.servers.all });
  return {
    add: useMutation({ mutationFn: (input: AddServerInput) => mcp.addServer(input), onSettled: refresh }),
    addDemo: useMutation({ mutationFn: () => mcp.addDemoServer(), onSettled: refresh }),
    update: useMutation({
      mutationFn: (input: UpdateServerInput) => mcp.updateServer(input),
      onSettled: refresh,
    }),
    remove: useMutation({ mutationFn: (name: string) => mcp.removeServer({ name }), onSettled: refresh }),
    restore: useMutation({
      mutationFn: (undoId: string) => mcp.restoreServer({ undoId }),
      onSettled: refresh,
    }),
    reconnect: useMutation({
      mutationFn: (name: string) => mcp.reconnectServer({ name }),
      onSettled: refresh,
    }),
    disconnect: useMutation({
      mutationFn: (name: string) => mcp.disconnectServer({ name }),
      onSettled: refresh,
    }),
    setEnabled: useMutation({
      mutationFn: (input: SetServerEnabledInput) => mcp.setServerEnabled(input),
      onMutate: async ({ name, enabled }) => {
        // The switch must not jump back while the daemon thinks.
        await client.cancelQueries({ queryKey: keys.servers.list() });
        client.setQueryData<ServerView[]>(keys.servers.list(), (all) =>
          all?.map((s) => (s.spec.name === name ? { ...s, spec: { ...s.spec, disabled: !enabled } } : s)),
        );
      },
      onSettled: refresh,
    }),
  };
}

export type ServerActions = ReturnType<typeof useServerActions>;
