import { Bookmark, Trash2 } from "lucide-react";
import { useState } from "react";
import type { ToolRef } from "@/api/types";
import { ErrorNote } from "@/components/error-note";
import { toastDone, toastUndo } from "@/components/toast";
import { Button, IconButton } from "@/components/ui/button";
import { Input } from "@/components/ui/input";
import { Popover, PopoverContent, PopoverTrigger } from "@/components/ui/popover";
import { argumentSummary, isRecord } from "@/lib/json";
import { useSavedRequests } from "../queries";

interface SavedRequestsProps {
  toolRef: ToolRef;
  /** What would be saved; undefined while it is not a JSON object. */
  value: Record<string, unknown> | undefined;
  onLoad: (args: Record<string, unknown>) => void;
}

/** The arguments that a person keeps for a tool. */
export function SavedRequests({ toolRef, value, onLoad }: SavedRequestsProps) {
  const [open, setOpen] = useState(false);
  const [name, setName] = useState("");
  const { query, save, remove } = useSavedRequests(toolRef);
  const all = query.data ?? [];
  const failed = query.error ?? save.error ?? remove.error;
  return (
    <Popover open={open} onOpenChange={setOpen}>
      <PopoverTrigger asChild>
        <Button>
          <Bookmark /> Saved{all.length > 0 ? ` (${all.length})` : ""}
        </Button>
      </PopoverTrigger>
      <PopoverContent align="start" aria-label={`Saved requests of ${toolRef.name}`} className="grid gap-3">
        {all.length === 0 ? (
          <p className="text-ink-2">Nothing saved yet. Give the present arguments a name to keep them.</p>
        ) : (
          <ul className="grid max-h-60 grid-cols-1 overflow-y-auto">
            {all.map((r) => (
              <li key={r.name} className="flex items-center gap-1">
                <button
                  type="button"
                  className="min-w-0 flex-1 rounded-md px-2 py-1 text-left hover:bg-hover"
                  onClick={() => {
                    if (isRecord(r.arguments)) onLoad(r.arguments);
                    setOpen(false);
                  }}
                >
                  <span className="block truncate font-medium">{r.name}</span>
                  <span className="block truncate font-mono text-ink-3 text-xs">
                    {argumentSummary(r.arguments)}
                  </span>
                </button>
                <IconButton
                  size="icon-sm"
                  label={`Remove ${r.name}`}
                  onClick={() =>
                    remove.mutate(r.name, {
                      onSuccess: () => toastUndo(`${r.name} removed`, () => save.mutate(r)),
                    })
                  }
                >
                  <Trash2 />
                </IconButton>
              </li>
            ))}
          </ul>
        )}
        <form
          className="flex gap-2"
          onSubmit={(e) => {
            e.preventDefault();
            const kept = name.trim();
            if (!kept || !value) return;
            save.mutate(
              { name: kept, arguments: value },
              {
                onSuccess: () => {
                  setName("");
                  toastDone(`${kept} saved`);
                },
              },
            );
          }}
        >
          <Input
            aria-label="Name of the request"
            placeholder="Save these arguments as…"
            maxLength={100}
            value={name}
            onChange={(e) => setName(e.target.value)}
          />
          <Button type="submit" disabled={!name.trim() || !value || save.isPending}>
            Save
          </Button>
        </form>
        {failed && <ErrorNote error={failed} title="The saved requests could not be changed." />}
      </PopoverContent>
    </Popover>
  );
}
