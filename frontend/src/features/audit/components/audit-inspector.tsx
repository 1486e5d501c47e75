import { X } from "lucide-react";
import type { ReactNode } from "react";
import type { AuditRecord } from "@/api/types";
import { TextBlock } from "@/components/json-view";
import { StatusIcon } from "@/components/status-icon";
import { toneText } from "@/components/ui/badge";
import { Button, IconButton } from "@/components/ui/button";
import { cn } from "@/lib/cn";
import { formatBytes, formatFull, formatMillis } from "@/lib/format";
import { prettyText } from "@/lib/json";
import { callLooks } from "@/lib/status";
import { answerNames, effectNames } from "../lib";

interface AuditInspectorProps {
  record: AuditRecord;
  who: string;
  /** The call of the tool that made this one, where it is among the records read. */
  parent?: AuditRecord;
  onParent: (seq: number) => void;
  onClose: () => void;
  onConversation: (id: string) => void;
}

export function AuditInspector({
  record: r,
  who,
  parent,
  onParent,
  onClose,
  onConversation,
}: AuditInspectorProps) {
  const look = callLooks[r.status];
  const conversation = r.principal.conversationId;
  return (
    <aside
      aria-label={`Record ${r.seq}`}
      className="flex w-[380px] shrink-0 flex-col border-line border-l bg-surface max-md:absolute max-md:inset-y-0 max-md:right-0 max-md:shadow-float"
    >
      <div className="flex items-center gap-2 border-line border-b px-4 py-2">
        <h3 className="min-w-0 flex-1 truncate font-mono font-semibold text-sm" title={r.ref.name}>
          {r.ref.name}
        </h3>
        <IconButton label="Close" size="icon-sm" onClick={onClose}>
          <X />
        </IconButton>
      </div>
      <div className="grid min-h-0 flex-1 content-start gap-4 overflow-y-auto p-4">
        <p className={cn("flex items-center gap-2 font-medium text-sm", toneText[look.tone])}>
          <StatusIcon look={look} /> {look.word}
        </p>
        {r.error && <p className="text-sm [overflow-wrap:anywhere]">{r.error}</p>}
        <dl className="grid grid-cols-[96px_minmax(0,1fr)] gap-x-3 gap-y-1.5 text-sm">
          <Fact name="Server">
            {r.ref.server && <code className="font-mono text-xs">{r.ref.server}</code>}
          </Fact>
          <Fact name="Asked by">{who}</Fact>
          <Fact name="Called by">
            {r.parentId &&
              (parent ? (
                <Button variant="link" onClick={() => onParent(parent.seq)}>
                  <span className="font-mono text-xs">{parent.ref.name}</span>, record {parent.seq}
                </Button>
              ) : (
                <code className="font-mono text-xs [overflow-wrap:anywhere]">{r.parentId}</code>
              ))}
          </Fact>
          <Fact name="Decision">
            {effectNames[r.decision.effect] ?? r.decision.effect}
            {r.decision.why && <span className="block text-ink-2 text-xs">{r.decision.why}</span>}
            {r.decision.rule && <span className="block font-mono text-ink-3 text-xs">{r.decision.rule}</span>}
          </Fact>
          <Fact name="Answer">{r.answer && answerNames[r.answer]}</Fact>
          <Fact name="Began">{formatFull(r.beganAt)}</Fact>
          <Fact name="Ended">{r.endedAt && formatFull(r.endedAt)}</Fact>
          <Fact name="Took">{r.endedAt && formatMillis(r.millis)}</Fact>
          <Fact name="Result">{r.bytes > 0 && formatBytes(r.bytes)}</Fact>
          <Fact name="Record">
            <span className="nums">{r.seq}</span>
          </Fact>
          <Fact name="Call">
            <code className="font-mono text-xs [overflow-wrap:anywhere]">{r.callId}</code>
          </Fact>
        </dl>
        <div className="grid grid-cols-1 gap-1">
          <h4 className="font-medium text-ink-3 text-xs">Arguments</h4>
          <TextBlock json label="Arguments" text={prettyText(r.arguments || "{}")} />
        </div>
        {conversation && (
          <Button className="justify-self-start" onClick={() => onConversation(conversation)}>
            Open the conversation
          </Button>
        )}
      </div>
    </aside>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (!children) return null;
  return (
    <>
      <dt className="text-ink-3">{name}</dt>
      <dd className="min-w-0 [overflow-wrap:anywhere]">{children}</dd>
    </>
  );
}
