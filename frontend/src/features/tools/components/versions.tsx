import { History } from "lucide-react";
import { useState } from "react";
import type { CustomTool } from "@/api/types";
import { CodeDiff } from "@/components/code-diff";
import { ErrorNote } from "@/components/error-note";
import { Button } from "@/components/ui/button";
import { cn } from "@/lib/cn";
import { formatFull } from "@/lib/format";
import { pretty } from "@/lib/json";
import { useVersions } from "../queries";

interface VersionsProps {
  /** The tool as it is saved now. */
  tool: CustomTool;
  busy: boolean;
  onRestore: (version: { id: number; tool: CustomTool }) => void;
}

/** Everything but the code, as text. */
function rest({ name: _name, enabled: _enabled, code: _code, ...others }: CustomTool): string {
  return pretty(others);
}

/** The former versions of a tool, each beside the one of now. */
export function Versions({ tool, busy, onRestore }: VersionsProps) {
  const versions = useVersions(tool.name);
  const [selected, setSelected] = useState<number>();
  if (versions.error) {
    return (
      <ErrorNote
        error={versions.error}
        title="The versions could not be read."
        onRetry={() => void versions.refetch()}
      />
    );
  }
  if (!versions.data) return <p className="text-ink-3 text-sm">Reading the versions…</p>;
  if (versions.data.length === 0) {
    return <p className="text-ink-2 text-sm">No earlier version yet. Each save keeps the one before it.</p>;
  }
  const shown = versions.data.find((v) => v.id === selected) ?? versions.data[0];
  return (
    <div className="grid grid-cols-1 gap-3">
      <ul aria-label="Earlier versions" className="flex max-h-28 flex-wrap gap-1 overflow-y-auto">
        {versions.data.map((v) => (
          <li key={v.id}>
            <button
              type="button"
              aria-pressed={v === shown}
              onClick={() => setSelected(v.id)}
              className={cn(
                "nums h-7 rounded-md border border-line px-2 text-xs hover:bg-hover",
                v === shown && "border-accent bg-accent-soft font-medium",
              )}
            >
              until {formatFull(v.savedAt)}
            </button>
          </li>
        ))}
      </ul>
      {shown && (
        <>
          <p className="text-ink-2 text-xs">
            − is the version until {formatFull(shown.savedAt)}, + is as it is saved now.
          </p>
          {shown.tool.code !== tool.code && (
            <CodeDiff
              language="javascript"
              label="Differences in the code"
              before={shown.tool.code}
              after={tool.code}
            />
          )}
          {rest(shown.tool) !== rest(tool) && (
            <CodeDiff
              language="json"
              label="Differences in the rest"
              before={rest(shown.tool)}
              after={rest(tool)}
            />
          )}
          {shown.tool.code === tool.code && rest(shown.tool) === rest(tool) && (
            <p className="text-ink-2 text-sm">This version is the same as the saved one.</p>
          )}
          <Button className="justify-self-start" disabled={busy} onClick={() => onRestore(shown)}>
            <History /> Restore this version
          </Button>
        </>
      )}
    </div>
  );
}
