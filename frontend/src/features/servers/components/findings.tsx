import type { Finding } from "@/api/types";
import { StatusIcon } from "@/components/status-icon";
import { toneText } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { openOutside } from "@/lib/clipboard";
import { cn } from "@/lib/cn";
import type { StateLook } from "@/lib/status";

const looks: Record<Finding["severity"], StateLook> = {
  danger: { word: "Danger", shape: "triangle-x", tone: "danger", live: false },
  warning: { word: "Warning", shape: "triangle", tone: "warning", live: false },
  info: { word: "Note", shape: "hollow", tone: "neutral", live: false },
};

interface FindingsProps {
  findings: readonly Finding[];
  /** Where to get the program; undefined when that is not known. */
  installHelp?: string;
  onEdit?: () => void;
}

/** What a look at a configuration brought up, each with the one action that settles it. */
export function Findings({ findings, installHelp, onEdit }: FindingsProps) {
  if (findings.length === 0) return null;
  return (
    <ul className="grid grid-cols-1 gap-1" aria-label="Findings" data-testid="findings">
      {findings.map((f) => {
        const look = looks[f.severity];
        return (
          <li key={`${f.code}-${f.field}-${f.message}`} className="flex items-start gap-2 text-sm">
            <StatusIcon look={look} label={look.word} className="mt-0.5" />
            <span
              className={cn(
                "min-w-0 flex-1 [overflow-wrap:anywhere]",
                f.severity === "danger" && toneText.danger,
              )}
            >
              {f.message}
            </span>
            {f.mend === "install" && installHelp && (
              <Button size="sm" onClick={() => openOutside(installHelp)}>
                How to install
              </Button>
            )}
            {(f.mend === "edit" || (f.mend === "install" && !installHelp)) && onEdit && (
              <Button size="sm" variant="ghost" onClick={onEdit}>
                Edit
              </Button>
            )}
          </li>
        );
      })}
    </ul>
  );
}
