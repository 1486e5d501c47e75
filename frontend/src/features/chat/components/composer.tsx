import { ArrowUp, Square } from "lucide-react";
import { type KeyboardEvent, type RefObject, useLayoutEffect, useState } from "react";
import { Button } from "@/components/ui/button";
import { useChatStore } from "../store";

interface ComposerProps {
  /** The conversation, or "new". */
  draftId: string;
  running: boolean;
  sending: boolean;
  /** Why nothing can be sent now; "" when it can. */
  blocked?: string;
  onSend: (text: string) => void;
  onStop: () => void;
  inputRef: RefObject<HTMLTextAreaElement | null>;
}

const tallest = 240;

export function Composer({ draftId, running, sending, blocked, onSend, onStop, inputRef }: ComposerProps) {
  const draft = useChatStore((s) => s.drafts[draftId] ?? "");
  const setDraft = useChatStore((s) => s.setDraft);
  const empty = draft.trim() === "";

  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useLayoutEffect(() => {
    const el = inputRef.current;
    if (!el) return;
    el.style.height = "auto";
    el.style.height = `${Math.min(el.scrollHeight, tallest)}px`;
  }, [draft, inputRef]);

  const [early, setEarly] = useState(false);
  const hint =
    blocked || (early && running ? "The reply is still being written. Stop it to send this now." : "");

  const send = () => {
    setEarly(running && !empty);
    if (empty || running || sending || blocked) return;
    onSend(draft.trim());
  };

  const onKeyDown = (e: KeyboardEvent) => {
    if (e.nativeEvent.isComposing) return;
    if (e.key === "Enter" && !e.shiftKey && !e.ctrlKey && !e.metaKey && !e.altKey) {
      e.preventDefault();
      send();
    } else if (e.key === "Escape" && running) {
      e.preventDefault();
      e.stopPropagation();
      onStop();
    }
  };

  return (
    <div className="mx-auto w-full max-w-[760px] px-5 pb-4">
      <div className="flex items-end gap-2 rounded-lg border border-line-strong/70 bg-raised p-1.5 pl-3 focus-within:border-accent focus-within:outline-1 focus-within:outline-accent">
        <textarea
          ref={inputRef}
          rows={1}
          value={draft}
          aria-label="Message"
          placeholder={running ? "Write the next message…" : "Write a message…"}
          onChange={(e) => setDraft(draftId, e.target.value)}
          onKeyDown={onKeyDown}
          data-composer
          className="max-h-60 min-h-8 flex-1 resize-none bg-transparent py-1.5 leading-5 outline-none"
        />
        {running ? (
          <Button onClick={onStop} aria-keyshortcuts="Escape">
            <Square className="size-3! fill-current" /> Stop
          </Button>
        ) : (
          <Button
            variant="primary"
            size="icon"
            onClick={send}
            disabled={empty || sending || !!blocked}
            aria-label="Send"
          >
            <ArrowUp />
          </Button>
        )}
      </div>
      {hint && (
        <p role="status" className="mt-1 px-1 text-ink-2 text-xs">
          {hint}
        </p>
      )}
    </div>
  );
}
