import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { mcp } from "@/api/generated/calls";
import { keys } from "@/api/keys";
import { newCallId } from "@/api/transport";
import type {
  Activity,
  AddServerInput,
  LinkView,
  ParsedServers,
  ReviewInput,
  ServerSpec,
  ServerView,
  SetServerEnabledInput,
  SetToolsEnabledInput,
  TestServerInput,
  UpdateServerInput,
} from "@/api/types";

const serversQuery = () =>
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

/** The end of the file about a server. It grows unseen, so it is read when somebody looks. */
export function useServerLog(name: string) {
  return useQuery({
    queryKey: keys.servers.log(name),
    queryFn: ({ signal }) => mcp.getLog({ name }, { signal }),
    staleTime: 0,
    gcTime: 0,
  });
}

/** The oldest link or file that was opened from outside and not shown yet; undefined for none. */
export async function takeLink(): Promise<LinkView | undefined> {
  const next = await mcp.takeLink();
  return next.link || next.file ? next : undefined;
}

export function parseServers(text: string, signal?: AbortSignal) {
  return mcp.parseServers({ text }, { signal });
}

const pieceBytes = 6 * 1024 * 1024;

/** Hands a bundle to the backend, piece by piece, which says what is in it. */
export async function uploadBundle(file: Blob): Promise<ParsedServers> {
  const id = newCallId();
  for (let at = 0; ; at += pieceBytes) {
    const last = at + pieceBytes >= file.size;
    const found = await mcp.uploadBundle({
      id,
      data: await base64(file.slice(at, at + pieceBytes)),
      last,
    });
    if (last) return found;
  }
}

function base64(piece: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject(reader.error);
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""));
    reader.readAsDataURL(piece);
  });
}

export function reviewServers(servers: ReviewInput[], signal?: AbortSignal) {
  return mcp.reviewServers({ servers }, { signal });
}

export function useFoundConfigs(enabled: boolean) {
  return useQuery({
    queryKey: keys.servers.found(),
    queryFn: async () => (await mcp.findConfigs()).files,
    enabled,
    staleTime: 0,
  });
}

export function useExportFormats() {
  return useQuery({
    queryKey: keys.servers.formats(),
    queryFn: async () => (await mcp.getExportFormats()).formats,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** What runs for a server now; asked anew while somebody looks. */
export function useProcesses(name: string) {
  return useQuery({
    queryKey: keys.servers.processes(name),
    queryFn: ({ signal }) => mcp.getProcesses({ name }, { signal }),
    staleTime: 0,
    gcTime: 0,
    refetchInterval: 2000,
  });
}

export function exportServer(name: string, format: string) {
  return mcp.exportServer({ name, format });
}

export function testServer(
  server: ServerSpec,
  savedAs: string | undefined,
  signal?: AbortSignal,
  more: Pick<TestServerInput, "from" | "allowLoaders"> = {},
) {
  return mcp.testServer({ server, savedAs: savedAs ?? "", ...more }, { signal });
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
    refreshTools: useMutation({
      mutationFn: (name: string) => mcp.refreshTools({ name }),
      onSettled: () => Promise.all([refresh(), client.invalidateQueries({ queryKey: keys.tools.all })]),
    }),
    setToolsEnabled: useMutation({
      mutationFn: (input: SetToolsEnabledInput) => mcp.setToolsEnabled(input),
      onMutate: async ({ name, tools, enabled }) => {
        await client.cancelQueries({ queryKey: keys.servers.list() });
        client.setQueryData<ServerView[]>(keys.servers.list(), (all) =>
          all?.map((s) => {
            if (s.spec.name !== name) return s;
            const rest = (s.spec.disabledTools ?? []).filter((t) => !tools.includes(t));
            return { ...s, spec: { ...s.spec, disabledTools: enabled ? rest : [...rest, ...tools] } };
          }),
        );
      },
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
