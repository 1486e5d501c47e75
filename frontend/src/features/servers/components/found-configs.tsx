import { useState } from "react";
import type { FoundFile } from "@/api/types";
import { ErrorNote } from "@/components/error-note";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { plural } from "@/lib/format";
import { target, transportNames } from "@/lib/servers";
import { rowsFrom } from "../lib/review";
import { useFoundConfigs } from "../queries";
import { useServersStore } from "../store";

interface FoundConfigsProps {
  taken: readonly string[];
  onClose: () => void;
}

/** The servers that other programs on this machine have, to choose from. */
export function FoundConfigs({ taken, onClose }: FoundConfigsProps) {
  const found = useFoundConfigs(true);
  const set = useServersStore((s) => s.set);
  const [chosen, setChosen] = useState<ReadonlySet<string>>();
  const files = found.data ?? [];
  const all = files.flatMap((f) => f.servers.map((s) => ({ id: idOf(f, s.spec.name), server: s })));
  const picked = chosen ?? new Set(all.filter((x) => !taken.includes(x.server.spec.name)).map((x) => x.id));
  const toggle = (ids: string[], on: boolean) => {
    const next = new Set(picked);
    for (const id of ids) {
      if (on) next.add(id);
      else next.delete(id);
    }
    setChosen(next);
  };

  if (found.error)
    return (
      <ErrorNote
        error={found.error}
        title="Other programs' files could not be read."
        onRetry={() => void found.refetch()}
      />
    );
  return (
    <section
      aria-label="From other apps"
      className="grid grid-cols-1 gap-3 rounded-lg border border-line bg-surface p-3"
      data-testid="found-configs"
    >
      <div className="flex items-center gap-2">
        <h4 className="flex-1 font-medium text-sm" role="status">
          {found.isPending
            ? "Looking for other apps…"
            : files.length === 0
              ? "No other app on this computer has servers configured."
              : `Found ${plural(all.length, "server")} in ${plural(files.length, "file")}`}
        </h4>
        <Button size="sm" onClick={onClose}>
          Cancel
        </Button>
        <Button
          size="sm"
          variant="primary"
          disabled={picked.size === 0 || found.isPending}
          onClick={() =>
            set({
              text: "",
              rowsOf: "",
              step: "review",
              rows: rowsFrom({
                servers: all.filter((x) => picked.has(x.id)).map((x) => x.server),
                rejected: [],
                warnings: [],
              }),
            })
          }
        >
          Review {picked.size > 0 ? plural(picked.size, "server") : ""}
        </Button>
      </div>
      {files.map((f) => {
        const ids = f.servers.map((s) => idOf(f, s.spec.name));
        return (
          <fieldset key={f.path} className="grid grid-cols-1 gap-1 border-line border-t pt-2">
            <legend className="contents">
              <span className="flex min-w-0 flex-wrap items-baseline gap-x-2 pb-1">
                <span className="font-medium text-sm">{f.app}</span>
                <span className="min-w-0 font-mono text-ink-3 text-xs [overflow-wrap:anywhere]">
                  {f.path}
                </span>
              </span>
            </legend>
            {f.error && <p className="text-danger text-xs">{f.error}</p>}
            {f.servers.length > 1 && (
              <label className="flex min-h-7 items-center gap-2 text-ink-2 text-xs">
                <input
                  type="checkbox"
                  className="size-4 accent-accent"
                  checked={ids.every((id) => picked.has(id))}
                  onChange={(e) => toggle(ids, e.target.checked)}
                />
                All of {f.app}
              </label>
            )}
            {f.servers.map((s) => {
              const id = idOf(f, s.spec.name);
              return (
                <label key={id} className="flex min-h-7 min-w-0 items-center gap-2">
                  <input
                    type="checkbox"
                    className="size-4 shrink-0 accent-accent"
                    checked={picked.has(id)}
                    onChange={(e) => toggle([id], e.target.checked)}
                  />
                  <span className="font-medium font-mono text-xs">{s.spec.name}</span>
                  <Badge className="h-4">{transportNames[s.spec.transport]}</Badge>
                  {s.exists && <span className="shrink-0 text-ink-3 text-xs">exists already</span>}
                  <span className="min-w-0 flex-1 truncate font-mono text-ink-3 text-xs">
                    {target(s.spec)}
                  </span>
                </label>
              );
            })}
          </fieldset>
        );
      })}
    </section>
  );
}

function idOf(file: FoundFile, name: string): string {
  return `${file.path}\n${name}`;
}
