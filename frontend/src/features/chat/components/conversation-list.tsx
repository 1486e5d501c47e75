import { Ellipsis, MessageSquare } from "lucide-react";
import { useState } from "react";
import type { ConversationView } from "@/api/types";
import { StatusIcon } from "@/components/status-icon";
import { IconButton } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/dialog";
import { Input } from "@/components/ui/input";
import { Menu, MenuContent, MenuItem, MenuTrigger } from "@/components/ui/menu";
import { cn } from "@/lib/cn";
import { formatWhen } from "@/lib/format";
import { callLooks } from "@/lib/status";

interface ConversationListProps {
  conversations: readonly ConversationView[];
  current?: string;
  onOpen: (id: string) => void;
  onRename: (id: string, title: string) => void;
  onRemove: (id: string) => void;
}

export function conversationTitle(c: { title: string }): string {
  return c.title || "New chat";
}

export function ConversationList({
  conversations,
  current,
  onOpen,
  onRename,
  onRemove,
}: ConversationListProps) {
  const [renaming, setRenaming] = useState<string>();
  const [removing, setRemoving] = useState<ConversationView>();
  return (
    <>
      <ul className="grid grid-cols-[minmax(0,1fr)] gap-px">
        {conversations.map((c) => (
          <li key={c.id} className="group relative">
            {renaming === c.id ? (
              <Rename
                title={c.title}
                onDone={(title) => {
                  setRenaming(undefined);
                  if (title && title !== c.title) onRename(c.id, title);
                }}
              />
            ) : (
              <>
                <button
                  type="button"
                  aria-current={c.id === current ? "page" : undefined}
                  onClick={() => onOpen(c.id)}
                  onDoubleClick={() => setRenaming(c.id)}
                  onKeyDown={(e) => {
                    if (e.key === "F2") setRenaming(c.id);
                    if (e.key === "Delete") setRemoving(c);
                  }}
                  title={conversationTitle(c)}
                  className={cn(
                    "flex h-8 w-full items-center gap-2 rounded-md px-2 text-left text-sm hover:bg-hover",
                    c.id === current && "bg-hover font-medium",
                  )}
                >
                  {c.waiting ? (
                    <StatusIcon look={callLooks.waiting} />
                  ) : c.running ? (
                    <StatusIcon look={callLooks.running} />
                  ) : (
                    <MessageSquare className="size-4 shrink-0 text-ink-3" aria-hidden />
                  )}
                  <span className="min-w-0 flex-1 truncate">{conversationTitle(c)}</span>
                  <span className="nums shrink-0 font-normal text-ink-3 text-xs group-focus-within:invisible group-hover:invisible">
                    {c.waiting ? "waiting" : c.running ? "running" : formatWhen(c.updatedAt)}
                  </span>
                </button>
                <Menu>
                  <MenuTrigger asChild>
                    <IconButton
                      label={`More for ${conversationTitle(c)}`}
                      size="icon-sm"
                      className="absolute top-0.5 right-0.5 opacity-0 focus-visible:opacity-100 group-focus-within:opacity-100 group-hover:opacity-100 aria-expanded:opacity-100"
                    >
                      <Ellipsis />
                    </IconButton>
                  </MenuTrigger>
                  <MenuContent align="end">
                    <MenuItem onSelect={() => setRenaming(c.id)}>Rename</MenuItem>
                    <MenuItem className="text-danger" onSelect={() => setRemoving(c)}>
                      Delete…
                    </MenuItem>
                  </MenuContent>
                </Menu>
              </>
            )}
          </li>
        ))}
      </ul>
      <ConfirmDialog
        open={removing !== undefined}
        onOpenChange={(o) => !o && setRemoving(undefined)}
        title="Delete this conversation?"
        description={`“${removing ? conversationTitle(removing) : ""}” and its messages are deleted for good. The audit log keeps its records.`}
        action="Delete"
        onConfirm={() => removing && onRemove(removing.id)}
      />
    </>
  );
}

function Rename({ title, onDone }: { title: string; onDone: (title: string) => void }) {
  const [text, setText] = useState(title);
  return (
    <Input
      autoFocus
      aria-label="Title of the conversation"
      value={text}
      onChange={(e) => setText(e.target.value)}
      onFocus={(e) => e.target.select()}
      onBlur={() => onDone(text.trim())}
      onKeyDown={(e) => {
        if (e.key === "Enter") onDone(text.trim());
        if (e.key === "Escape") {
          e.stopPropagation();
          onDone("");
        }
      }}
    />
  );
}
