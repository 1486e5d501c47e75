import { useVirtualizer } from "@tanstack/react-virtual";
import { CornerDownRight } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import type { AuditRecord } from "@/api/types";
import { ErrorNote } from "@/components/error-note";
import { StatusIcon } from "@/components/status-icon";
import { toneText } from "@/components/ui/badge";
import { cn } from "@/lib/cn";
import { formatBytes, formatFull, formatMillis, formatWhen } from "@/lib/format";
import { argumentSummary } from "@/lib/json";
import { callLooks } from "@/lib/status";
import { principalNames } from "../lib";
import { useAudit } from "../queries";
import { AuditInspector } from "./audit-inspector";

const rowHeight = 36;
const columns =
  "grid grid-cols-[150px_96px_minmax(0,1.3fr)_minmax(0,1.6fr)_72px] max-lg:grid-cols-[140px_84px_minmax(0,1fr)_72px] gap-3 items-center px-4";

interface AuditPageProps {
  agentName: (id: string) => string | undefined;
  empty: ReactNode;
  onConversation: (id: string) => void;
}

/** Every call that was ever asked for, the newest first. */
export function AuditPage({ agentName, empty, onConversation }: AuditPageProps) {
  const log = useAudit();
  const records = useMemo(() => log.data?.pages.flatMap((p) => p.records) ?? [], [log.data]);
  const [selected, setSelected] = useState<number>();
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: records.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = log;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && last >= records.length - 20) void fetchNextPage();
  }, [last, records.length, hasNextPage, isFetchingNextPage, fetchNextPage]);

  const record = records.find((r) => r.seq === selected);

  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key !== "ArrowDown" && e.key !== "ArrowUp") {
      if (e.key === "Escape" && record) setSelected(undefined);
      return;
    }
    e.preventDefault();
    const at = records.findIndex((r) => r.seq === selected);
    const next = Math.max(0, Math.min(records.length - 1, at + (e.key === "ArrowDown" ? 1 : -1)));
    setSelected(records[next]?.seq);
    virtual.scrollToIndex(next);
  };

  if (log.error) {
    return (
      <div className="p-6">
        <ErrorNote
          error={log.error}
          title="The audit log could not be read."
          onRetry={() => void log.refetch()}
        />
      </div>
    );
  }

  return (
    <div className="flex h-full min-h-0">
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <div className="px-4 pt-4 pb-3">
          <h2 className="font-semibold text-lg">Audit</h2>
          <p className="text-ink-2 text-sm">
            Every call of a tool, whoever made it. A call that cannot be recorded is not made.
          </p>
        </div>
        {records.length === 0 && !log.isPending ? (
          <div className="px-4">{empty}</div>
        ) : (
          <div
            role="table"
            aria-label="Audit log"
            aria-rowcount={records.length + 1}
            className="flex min-h-0 flex-1 flex-col"
          >
            <div
              role="row"
              aria-rowindex={1}
              className={cn(columns, "h-8 border-line border-b font-medium text-ink-3 text-xs")}
            >
              <span role="columnheader">Status</span>
              <span role="columnheader">When</span>
              <span role="columnheader">Tool</span>
              <span role="columnheader" className="max-lg:hidden">
                Arguments
              </span>
              <span role="columnheader" className="text-right">
                Time
              </span>
            </div>
            <div
              ref={scroller}
              // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move through the rows
              tabIndex={0}
              role="rowgroup"
              aria-label="Records; the arrow keys move through them"
              onKeyDown={onKeyDown}
              className="min-h-0 flex-1 overflow-y-auto -outline-offset-2"
            >
              <div className="relative" style={{ height: virtual.getTotalSize() }}>
                {items.map((item) => {
                  const r = records[item.index];
                  return r ? (
                    <Row
                      key={r.seq}
                      record={r}
                      index={item.index}
                      start={item.start}
                      selected={r.seq === selected}
                      onOpen={() => setSelected(r.seq === selected ? undefined : r.seq)}
                    />
                  ) : null;
                })}
              </div>
            </div>
          </div>
        )}
      </div>
      {record && (
        <AuditInspector
          record={record}
          parent={records.find((r) => r.callId === record.parentId)}
          onParent={setSelected}
          who={
            record.principal.kind === "agent"
              ? (agentName(record.principal.agentId ?? "") ?? "Agent")
              : principalNames[record.principal.kind]
          }
          onClose={() => setSelected(undefined)}
          onConversation={onConversation}
        />
      )}
    </div>
  );
}

interface RowProps {
  record: AuditRecord;
  index: number;
  start: number;
  selected: boolean;
  onOpen: () => void;
}

function Row({ record: r, index, start, selected, onOpen }: RowProps) {
  const look = callLooks[r.status];
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the row group's arrow keys and the button do the same
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={selected}
      style={{ transform: `translateY(${start}px)`, height: rowHeight }}
      className={cn(
        columns,
        "absolute inset-x-0 top-0 border-line border-b text-sm hover:bg-hover",
        selected && "bg-accent-soft hover:bg-accent-soft",
      )}
      onClick={onOpen}
    >
      <span role="cell" className={cn("flex min-w-0 items-center gap-2", toneText[look.tone])}>
        <StatusIcon look={look} />
        <button
          type="button"
          tabIndex={-1}
          className="truncate text-left"
          aria-label={`${look.word}: ${r.ref.name}, show record ${r.seq}`}
          onClick={(e) => {
            e.stopPropagation();
            onOpen();
          }}
        >
          {look.word}
        </button>
      </span>
      <span role="cell" className="nums truncate text-ink-2 text-xs" title={formatFull(r.beganAt)}>
        {formatWhen(r.beganAt)}
      </span>
      <span role="cell" className="truncate font-mono text-xs">
        {r.parentId && (
          <CornerDownRight
            className="mr-1 inline size-3.5 text-ink-3"
            role="img"
            aria-label="Called by a tool:"
          />
        )}
        {r.ref.server && <span className="text-ink-3">{r.ref.server} / </span>}
        {r.ref.name}
      </span>
      <span role="cell" className="truncate font-mono text-ink-2 text-xs max-lg:hidden">
        {argumentSummary(r.arguments, 120)}
      </span>
      <span role="cell" className="nums text-right text-ink-2 text-xs" title={formatBytes(r.bytes)}>
        {r.endedAt ? formatMillis(r.millis) : ""}
      </span>
    </div>
  );
}
