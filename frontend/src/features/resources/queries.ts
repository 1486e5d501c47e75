import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { mcp, tools } from "@/api/generated/calls";
import { keys } from "@/api/keys";
import { newCallId } from "@/api/transport";
import type { Completion, ExecuteOutput } from "@/api/types";

export function useResources(server: string) {
  return useQuery({
    queryKey: keys.resources.list(server),
    queryFn: ({ signal }) => mcp.getResources({ name: server }, { signal }),
  });
}

export function usePrompts(server: string) {
  return useQuery({
    queryKey: keys.resources.prompts(server),
    queryFn: ({ signal }) => mcp.getPrompts({ name: server }, { signal }),
  });
}

/** Proposes values for an argument. A server that cannot is no error: it has no proposals. */
export function useCompletion(server: string, enabled: boolean, completion: Completion) {
  const [settled, setSettled] = useState(completion.value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(completion.value), 150);
    return () => clearTimeout(timer);
  }, [completion.value]);
  const asked = { ...completion, value: settled };
  return useQuery({
    queryKey: keys.resources.completion(server, JSON.stringify(asked)),
    queryFn: ({ signal }) => mcp.complete({ name: server, completion: asked }, { signal }),
    enabled,
    retry: false,
    placeholderData: (last) => last,
  });
}

export interface Run {
  running: boolean;
  output?: ExecuteOutput;
  error?: unknown;
  start: (args: unknown) => void;
  cancel: () => void;
}

/** A call of one of the tools that a server's features become. The gate records it as any other. */
export function useFeatureCall(server: string, name: "resources" | "prompts"): Run {
  const [state, setState] = useState<{ callId?: string; output?: ExecuteOutput; error?: unknown }>({});
  const current = useRef("");
  useEffect(
    () => () => {
      if (current.current) void tools.cancel({ callId: current.current });
    },
    [],
  );
  const start = (args: unknown) => {
    const callId = newCallId();
    current.current = callId;
    setState({ callId });
    const settle = (change: { output?: ExecuteOutput; error?: unknown }) => {
      if (current.current !== callId) return;
      current.current = "";
      setState(change);
    };
    tools.execute({ callId, ref: { kind: "feature", server, name }, arguments: args }).then(
      (output) => settle({ output }),
      (error: unknown) => settle({ error }),
    );
  };
  return {
    running: state.callId !== undefined,
    output: state.output,
    error: state.error,
    start,
    cancel: () => {
      if (current.current) void tools.cancel({ callId: current.current });
    },
  };
}

export function watchResource(server: string, uri: string, on: boolean) {
  return on ? mcp.subscribeResource({ name: server, uri }) : mcp.unsubscribeResource({ name: server, uri });
}
