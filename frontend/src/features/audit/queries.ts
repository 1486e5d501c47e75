import { useInfiniteQuery } from "@tanstack/react-query";
import { audit } from "@/api/generated/calls";
import { keys } from "@/api/keys";

const pageSize = 100;

export function useAudit() {
  return useInfiniteQuery({
    queryKey: keys.audit.all,
    queryFn: ({ pageParam }) => audit.get({ limit: pageSize, before: pageParam }),
    initialPageParam: 0,
    getNextPageParam: (last) => (last.more ? last.records.at(-1)?.seq : undefined),
  });
}
