import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { approvals } from "@/api/generated/calls";
import { keys } from "@/api/keys";
import type { ResolveInput } from "@/api/types";

export function useApprovals() {
  return useQuery({ queryKey: keys.approvals.all, queryFn: async () => (await approvals.get()).approvals });
}

export function useResolve() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: ResolveInput) => approvals.resolve(input),
    onSettled: () => client.invalidateQueries({ queryKey: keys.approvals.all }),
  });
}
