import { Plus, X } from "lucide-react";
import { Button, IconButton } from "@/components/ui/button";
import { Input } from "@/components/ui/input";
import { focusAdded } from "@/lib/focus-added";

interface RootsEditorProps {
  roots: readonly string[];
  onChange: (roots: string[]) => void;
}

/** The folders that a server is told about. */
export function RootsEditor({ roots, onChange }: RootsEditorProps) {
  return (
    <fieldset className="grid grid-cols-1 gap-1.5 border-line border-t pt-4">
      <legend className="contents">
        <span className="font-medium text-sm">Roots</span>
      </legend>
      <p className="text-ink-3 text-xs">
        Folders that the server is told to work in. It may still read others: this is a hint to it, not a
        wall.
      </p>
      {roots.map((r, i) => (
        <div key={i} className="flex items-center gap-1.5">
          <Input
            aria-label={`Root ${i + 1}`}
            placeholder="/home/me/project"
            className="min-w-0 flex-1 font-mono text-xs"
            value={r}
            onChange={(e) => onChange(roots.map((x, j) => (j === i ? e.target.value : x)))}
          />
          <IconButton
            label={`Remove root ${i + 1}`}
            size="icon-sm"
            onClick={() => onChange(roots.filter((_, j) => j !== i))}
          >
            <X />
          </IconButton>
        </div>
      ))}
      <Button
        size="sm"
        className="justify-self-start"
        onClick={(e) => {
          onChange([...roots, ""]);
          focusAdded(e.currentTarget);
        }}
      >
        <Plus /> Add root
      </Button>
    </fieldset>
  );
}
