import { Bot, ShieldAlert } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import type { Answer, Approval } from "@/api/types";
import { Arguments } from "@/components/arguments";
import { ToolBadges } from "@/components/tool-badges";
import { Badge, Kbd } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Tip } from "@/components/ui/tooltip";
import { announce } from "@/lib/announce";
import { plural } from "@/lib/format";
import { isMod, modName } from "@/lib/platform";
import { firstBatch, isGuarded, whoAsks } from "../lib/batch";

export const guardMs = 600;

interface ApprovalDockProps {
  /** What may be decided here, the oldest first. */
  approvals: readonly Approval[];
  busy: boolean;
  agentName: (id: string) => string | undefined;
  onResolve: (ids: string[], answer: Answer) => void;
  /** Esc leaves the bar; a decision returns to where the person was. */
  onLeave: () => void;
}

/** The questions that wait for a person, pinned where they do not move. */
export function ApprovalDock({ approvals, busy, agentName, onResolve, onLeave }: ApprovalDockProps) {
  const batch = firstBatch(approvals);
  const first = batch[0];
  const key = batch.map((a) => a.id).join(" ");
  const bar = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const ready = useGuard(first?.id ?? "", batch.some(isGuarded));
  const freshSince = useRef(0);

  useEffect(() => {
    if (!key) return;
    freshSince.current = Date.now();
    if (!isTyping(document.activeElement)) heading.current?.focus({ preventScroll: true });
  }, [key]);

  const sentence = !first
    ? ""
    : batch.length === 1
      ? `Run ${first.call.ref.name}${first.call.ref.server ? ` on ${first.call.ref.server}` : ""}?`
      : `${batch.length} tools want to run`;
  useEffect(() => {
    if (sentence) announce(`${sentence} Your approval is needed.`, "assertive");
  }, [sentence]);

  const decide = useCallback(
    (ids: string[], answer: Answer) => {
      if (busy || (answer !== "deny" && !ready)) return;
      onResolve(ids, answer);
      onLeave();
    },
    [busy, ready, onResolve, onLeave],
  );

  useEffect(() => {
    if (!key) return;
    const ids = key.split(" ");
    const onKey = (e: globalThis.KeyboardEvent) => {
      if (!isMod(e) || !(e.target instanceof HTMLElement)) return;
      const inBar = bar.current?.contains(e.target) ?? false;
      const composer = e.target.closest("[data-composer]");
      if (!inBar && !composer && e.target !== document.body) return;
      if (e.key === "Enter") {
        e.preventDefault();
        decide(ids, "allow_once");
      } else if (e.key === "Backspace") {
        // In a text it deletes a word, which must not decline a call.
        if (composer instanceof HTMLTextAreaElement && composer.value !== "") return;
        e.preventDefault();
        decide(ids, "deny");
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [key, decide]);

  if (!first) return null;
  const others = approvals.length - batch.length;

  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key === "Escape") {
      e.preventDefault();
      e.stopPropagation();
      onLeave();
      return;
    }
    if (e.ctrlKey || e.metaKey || e.altKey || isTyping(e.target as Element)) return;
    // A letter typed for the composer must not decide a question that just appeared.
    if (Date.now() - freshSince.current < guardMs) return;
    const row = (e.target as HTMLElement).closest<HTMLElement>("[data-approval]")?.dataset.approval;
    const id = batch.length === 1 ? first.id : row;
    if (!id) return;
    const target = batch.find((a) => a.id === id);
    if (e.key === "a") decide([id], "allow_once");
    else if (e.key === "d") decide([id], "deny");
    else if (e.key === "s" && target?.principal.conversationId && !target.decision.once)
      decide([id], "allow_chat");
    else return;
    e.preventDefault();
  };

  return (
    <section
      ref={bar}
      aria-label="Approval"
      data-testid="approval-bar"
      onKeyDown={onKeyDown}
      className="mx-auto mb-3 flex max-h-[52vh] w-[calc(100%-40px)] max-w-[720px] flex-col overflow-hidden rounded-lg border border-warning/60 bg-raised shadow-float"
    >
      <div className="flex items-center gap-2 border-line border-b bg-warning-soft px-3 py-2">
        <ShieldAlert className="size-4 shrink-0 text-warning" aria-hidden />
        <h2 ref={heading} tabIndex={-1} className="min-w-0 flex-1 font-semibold text-sm outline-offset-2">
          {batch.length === 1 ? <Question a={first} /> : sentence}
        </h2>
        <span className="flex shrink-0 items-center gap-1 text-ink-2 text-xs">
          <Bot className="size-3.5" aria-hidden /> {whoAsks(first, agentName)}
        </span>
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto">
        {batch.map((a) => (
          <div
            key={a.id}
            data-approval={a.id}
            className="grid grid-cols-1 gap-2 border-line border-b px-3 py-2.5 last:border-b-0"
          >
            {batch.length > 1 && (
              <div className="flex items-center gap-2">
                <p className="min-w-0 flex-1 text-sm">
                  <Question a={a} />
                </p>
                <Button size="sm" disabled={busy} onClick={() => decide([a.id], "deny")}>
                  Deny
                </Button>
                <Button
                  size="sm"
                  aria-disabled={!ready}
                  disabled={busy}
                  onClick={() => decide([a.id], "allow_once")}
                >
                  Allow once
                </Button>
              </div>
            )}
            <Facts a={a} />
            <Arguments whole value={a.call.arguments} />
          </div>
        ))}
      </div>
      <div className="flex flex-wrap items-center gap-2 border-line border-t px-3 py-2">
        {batch.length === 1 ? (
          <>
            <Answering k="d" disabled={busy} onClick={() => decide([first.id], "deny")}>
              Deny
            </Answering>
            <Answering
              k="a"
              primary
              guarded={!ready}
              disabled={busy}
              onClick={() => decide([first.id], "allow_once")}
            >
              Allow once
            </Answering>
            {first.principal.conversationId && !first.decision.once && (
              <Answering
                k="s"
                guarded={!ready}
                disabled={busy}
                onClick={() => decide([first.id], "allow_chat")}
              >
                Allow for this chat
              </Answering>
            )}
          </>
        ) : (
          <>
            <Button
              disabled={busy}
              onClick={() =>
                decide(
                  batch.map((a) => a.id),
                  "deny",
                )
              }
            >
              Deny all
            </Button>
            <Button
              variant="primary"
              aria-disabled={!ready}
              disabled={busy}
              onClick={() =>
                decide(
                  batch.map((a) => a.id),
                  "allow_once",
                )
              }
            >
              Allow all once
            </Button>
          </>
        )}
        <span className="ml-auto text-ink-3 text-xs max-sm:hidden">
          {others > 0
            ? `${plural(others, "more")} after this`
            : `${modName}+Enter allows once, ${modName}+Backspace denies`}
        </span>
      </div>
    </section>
  );
}

function Answering(props: {
  k: string;
  primary?: boolean;
  guarded?: boolean;
  disabled: boolean;
  onClick: () => void;
  children: ReactNode;
}) {
  return (
    <Button
      variant={props.primary ? "primary" : "secondary"}
      aria-keyshortcuts={props.k}
      aria-disabled={props.guarded || undefined}
      disabled={props.disabled}
      onClick={props.onClick}
    >
      {props.children} <Kbd aria-hidden>{props.k}</Kbd>
    </Button>
  );
}

function Question({ a }: { a: Approval }) {
  return (
    <span className="[overflow-wrap:anywhere]">
      Run <span className="font-mono text-[0.95em]">{a.call.ref.name}</span>
      {a.call.ref.server && (
        <>
          {" "}
          on <span className="font-mono text-[0.95em]">{a.call.ref.server}</span>
        </>
      )}
      ?
    </span>
  );
}

const risks = {
  low: { word: "Low risk", tone: "neutral" },
  medium: { word: "Medium risk", tone: "warning" },
  high: { word: "High risk", tone: "danger" },
} as const;

function Facts({ a }: { a: Approval }) {
  const risk = risks[a.decision.risk];
  return (
    <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
      {risk && (
        <Tip text={a.decision.why}>
          <Badge tone={risk.tone}>{risk.word}</Badge>
        </Tip>
      )}
      <ToolBadges annotations={a.annotations} />
      {a.decision.why && <span className="text-ink-2 text-xs">{a.decision.why}</span>}
    </div>
  );
}

/** False for a moment after a dangerous question appears. */
function useGuard(id: string, guarded: boolean): boolean {
  const [readyFor, setReadyFor] = useState("");
  useEffect(() => {
    if (!id) return;
    if (!guarded) {
      setReadyFor(id);
      return;
    }
    const t = setTimeout(() => setReadyFor(id), guardMs);
    return () => clearTimeout(t);
  }, [id, guarded]);
  return !guarded || readyFor === id;
}

function isTyping(el: Element | null): boolean {
  if (!(el instanceof HTMLElement)) return false;
  if (el instanceof HTMLTextAreaElement || el instanceof HTMLInputElement) {
    return !(el.hasAttribute("data-composer") && el.value === "");
  }
  return el.isContentEditable;
}
