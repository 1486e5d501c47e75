import type { Annotations } from "@/api/types";
import type { Tone } from "@/lib/status";
import { Badge } from "./ui/badge";
import { HoverTip } from "./ui/tooltip";

interface Claim {
  word: string;
  tone: Tone;
  says: string;
}

/** What a server claims of its tool. Silence means the specification's worst case. */
function claimsOf(a: Annotations): Claim[] {
  const out: Claim[] = [];
  if (a.readOnlyHint === true)
    out.push({ word: "read-only", tone: "success", says: "The server says this is read-only." });
  else if (a.destructiveHint === true)
    out.push({ word: "destructive", tone: "danger", says: "The server says this may delete or overwrite." });
  else if (a.readOnlyHint === false)
    out.push({ word: "changes data", tone: "warning", says: "The server says this changes data." });
  if (a.idempotentHint === true && a.readOnlyHint !== true)
    out.push({
      word: "idempotent",
      tone: "neutral",
      says: "The server says that repeating a call changes nothing more.",
    });
  if (a.openWorldHint === true)
    out.push({
      word: "open world",
      tone: "info",
      says: "The server says this reaches beyond this computer.",
    });
  return out;
}

export function ToolBadges({ annotations }: { annotations: Annotations }) {
  const claims = claimsOf(annotations);
  if (claims.length === 0) return null;
  return (
    <span className="flex flex-wrap gap-1">
      {claims.map((c) => (
        <HoverTip key={c.word} text={c.says}>
          <Badge tone={c.tone}>
            {c.word}
            <span className="sr-only">, the server says</span>
          </Badge>
        </HoverTip>
      ))}
    </span>
  );
}
