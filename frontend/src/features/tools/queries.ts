import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { secrets, tools } from "@/api/generated/calls";
import { keys } from "@/api/keys";
import { newCallId } from "@/api/transport";
import type {
  CustomTool,
  RestoreVersionInput,
  SavedRequest,
  SaveSecretInput,
  SetApprovalInput,
  ToolRef,
  UpdateToolInput,
} from "@/api/types";

const catalog = () => queryOptions({ queryKey: keys.tools.list(), queryFn: () => tools.get() });

export function useTools() {
  return useQuery({ ...catalog(), select: (all) => [...all.tools, ...(all.builtins ?? [])] });
}

/** Everything that an agent can be given: the tools, and what is made of resources and prompts. */
export function useOfferable() {
  return useQuery({
    ...catalog(),
    select: (all) => [...all.tools, ...(all.features ?? []), ...(all.builtins ?? [])],
  });
}

export function useCustomTools() {
  return useQuery({ queryKey: keys.tools.custom(), queryFn: () => tools.getCustom() });
}

/** Former versions of a custom tool, the newest first. */
export function useVersions(name: string) {
  return useQuery({
    queryKey: keys.tools.versions(name),
    queryFn: async () => (await tools.getVersions({ name })).versions,
  });
}

/** Whether code is JavaScript; undefined while that is not known. */
export function useCodeCheck(code: string) {
  return useQuery({
    queryKey: keys.tools.check(code),
    queryFn: async () => (await tools.check({ code })).problem ?? null,
    enabled: code.trim() !== "",
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  }).data;
}

export function useCustomToolActions() {
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: keys.tools.all });
  return {
    add: useMutation({ mutationFn: (input: CustomTool) => tools.add(input), onSettled: refresh }),
    addMany: useMutation({
      mutationFn: (list: CustomTool[]) => tools.addMany({ tools: list }),
      onSettled: refresh,
    }),
    update: useMutation({ mutationFn: (input: UpdateToolInput) => tools.update(input), onSettled: refresh }),
    remove: useMutation({ mutationFn: (name: string) => tools.remove({ name }), onSettled: refresh }),
    restoreVersion: useMutation({
      mutationFn: (input: RestoreVersionInput) => tools.restoreVersion(input),
      onSettled: refresh,
    }),
    restore: useMutation({ mutationFn: (undoId: string) => tools.restore({ undoId }), onSettled: refresh }),
  };
}

/** Reads a document; nothing is saved. */
export function parseOpenAPI(text: string, baseUrl: string) {
  return tools.parseOpenAPI({ text, baseUrl });
}

/** Those of the named secrets that have no value yet. */
export function useMissingSecrets(names: readonly string[]) {
  return useQuery({
    queryKey: keys.secrets.all,
    queryFn: async () => (await secrets.list()).secrets,
    enabled: names.length > 0,
    select: (all) => names.filter((n) => !all.some((s) => s.kept && s.name === n)),
  });
}

export function useSaveSecret() {
  const client = useQueryClient();
  return useMutation({
    // What is mutated stays in memory for a while; a value must not.
    gcTime: 0,
    mutationFn: (input: SaveSecretInput) => secrets.save(input),
    onSettled: () => client.invalidateQueries({ queryKey: keys.secrets.all }),
  });
}

/** What a person chose for a tool, with its definition of then and of now. */
export function useApproval(ref: ToolRef) {
  return useQuery({ queryKey: keys.tools.approval(ref), queryFn: () => tools.getApproval({ ref }) });
}

export function useApprovalActions() {
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: keys.tools.all });
  return {
    set: useMutation({
      mutationFn: (input: SetApprovalInput) => tools.setApproval(input),
      onSettled: refresh,
    }),
    undo: useMutation({
      mutationFn: (undoId: string) => tools.restoreApproval({ undoId }),
      onSettled: refresh,
    }),
  };
}

export function executeTool(callId: string, ref: ToolRef, args: unknown) {
  return tools.execute({ callId, ref, arguments: args });
}

export function testTool(callId: string, tool: CustomTool, args: unknown) {
  return tools.testCustom({ callId, tool, arguments: args });
}

export function cancelCall(callId: string) {
  return tools.cancel({ callId });
}

export { newCallId };

/** The arguments that a person keeps for a tool, whatever its definition is now. */
export function useSavedRequests({ kind, server = "", name }: ToolRef) {
  const client = useQueryClient();
  const ref = { kind, server, name };
  const queryKey = keys.tools.saved(`${kind}\n${server}\n${name}`);
  const keep = (out: { requests: SavedRequest[] }) => client.setQueryData(queryKey, out.requests ?? []);
  return {
    query: useQuery({
      queryKey,
      queryFn: async () => (await tools.getSavedRequests({ ref })).requests ?? [],
    }),
    save: useMutation({
      mutationFn: (request: SavedRequest) => tools.saveRequest({ ref, request }),
      onSuccess: keep,
    }),
    remove: useMutation({
      mutationFn: (request: string) => tools.removeSavedRequest({ ref, name: request }),
      onSuccess: keep,
    }),
  };
}
