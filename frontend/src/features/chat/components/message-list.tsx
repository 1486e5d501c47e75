import { ArrowDown } from "lucide-react";
import { type ReactNode, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { ConversationDetail } from "@/api/types";
import { useLiveReply } from "@/components/run-context";
import { Button } from "@/components/ui/button";
import { useCallAnnouncements } from "../hooks/use-call-announcements";
import { timeline } from "../lib/timeline";
import { MessageView } from "./message";
import type { CardActions } from "./tool-card";

const firstShown = 120;
const nearEnd = 48;

interface MessageListProps {
  detail: ConversationDetail;
  actions: CardActions;
  onRetry: () => void;
  empty: ReactNode;
}

/** The conversation. Follows its end until somebody scrolls up. */
export function MessageList({ detail, actions, onRetry, empty }: MessageListProps) {
  const live = useLiveReply(detail.conversation.id);
  const entries = useMemo(() => timeline(detail, live), [detail, live]);
  const [shown, setShown] = useState(firstShown);
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const [away, setAway] = useState(false);
  useCallAnnouncements(entries);

  const toEnd = useCallback(() => {
    const el = scroller.current;
    if (el) el.scrollTop = el.scrollHeight;
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another conversation begins at its end
  useLayoutEffect(() => {
    following.current = true;
    setShown(firstShown);
    toEnd();
  }, [detail.conversation.id, toEnd]);

  useEffect(() => {
    const el = content.current;
    const box = scroller.current;
    if (!el || !box) return;
    const watch = new ResizeObserver(() => following.current && toEnd());
    watch.observe(el);
    watch.observe(box);
    return () => watch.disconnect();
  }, [toEnd]);

  // What a person has just said is to be seen, wherever they had scrolled to.
  const lastUser = entries.findLast((e) => e.role === "user")?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when a message of the person's arrives
  useLayoutEffect(() => {
    following.current = true;
    toEnd();
  }, [lastUser, toEnd]);

  const onScroll = () => {
    const el = scroller.current;
    if (!el) return;
    const atEnd = el.scrollHeight - el.scrollTop - el.clientHeight < nearEnd;
    following.current = atEnd;
    setAway(!atEnd);
  };

  const visible = entries.slice(-shown);
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        onScroll={onScroll}
        className="h-full overflow-y-auto"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label="Conversation"
      >
        <div ref={content} className="mx-auto grid w-full max-w-[760px] grid-cols-1 gap-8 px-5 py-6">
          {entries.length > visible.length && (
            <Button className="justify-self-center" onClick={() => setShown((n) => n + firstShown)}>
              Show earlier messages
            </Button>
          )}
          {visible.map((e, i) => (
            <MessageView
              key={e.id}
              entry={e}
              continues={e.role === "assistant" && visible[i - 1]?.role === "assistant"}
              ends={visible[i + 1]?.role !== "assistant"}
              actions={actions}
              onRetry={e.error && i === visible.length - 1 && !detail.run ? onRetry : undefined}
            />
          ))}
          {entries.length === 0 && empty}
        </div>
      </div>
      {away && (
        <Button
          className="-translate-x-1/2 absolute bottom-3 left-1/2 shadow-float"
          size="sm"
          onClick={() => {
            following.current = true;
            toEnd();
          }}
        >
          <ArrowDown /> Latest
        </Button>
      )}
    </div>
  );
}
