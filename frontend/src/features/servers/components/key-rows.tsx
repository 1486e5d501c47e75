import { Eye, EyeOff, Plus, X } from "lucide-react";
import { useId, useState } from "react";
import { Mask } from "@/api/types";
import { Button, IconButton } from "@/components/ui/button";
import { Input } from "@/components/ui/input";
import { focusAdded } from "@/lib/focus-added";

interface KeyRowsProps {
  label: string;
  /** "variable" or "header". */
  noun: string;
  /** "env" or "headers": leads to a value from elsewhere. */
  place?: string;
  values: Readonly<Record<string, string>>;
  onChange: (values: Record<string, string>) => void;
}

/** Names with values that stay hidden. A saved value shows as a mask and is never read back. */
export function KeyRows({ label, noun, place, values, onChange }: KeyRowsProps) {
  const [rows, setRows] = useState(() => Object.entries(values).map(([k, v], i) => ({ id: i, k, v })));
  const [shown, setShown] = useState<ReadonlySet<number>>(new Set());
  const prefix = useId();

  const change = (next: typeof rows) => {
    setRows(next);
    onChange(Object.fromEntries(next.filter((r) => r.k.trim()).map((r) => [r.k.trim(), r.v])));
  };
  const edit = (id: number, part: Partial<{ k: string; v: string }>) =>
    change(rows.map((r) => (r.id === id ? { ...r, ...part } : r)));

  return (
    <fieldset className="grid grid-cols-1 gap-1.5">
      <legend className="mb-1 font-medium text-sm">{label}</legend>
      {rows.map((r) => {
        const saved = r.v === Mask;
        // ${NAME} only names a value; to hide it would hide what is missing.
        const reference = /^\$\{[^}]*\}$/.test(r.v);
        const visible = (shown.has(r.id) && !saved) || reference;
        return (
          <div key={r.id} className="flex items-center gap-1.5">
            <Input
              aria-label={`Name of the ${noun}`}
              className="w-2/5 font-mono text-xs"
              placeholder="NAME"
              value={r.k}
              onChange={(e) => edit(r.id, { k: e.target.value })}
            />
            <Input
              id={`${prefix}-${r.id}`}
              data-place={place && `${place}.${r.k}`}
              aria-label={`Value of ${r.k || `the ${noun}`}`}
              aria-description={saved ? "Saved. Type to replace it." : undefined}
              type={visible ? "text" : "password"}
              autoComplete="new-password"
              className="min-w-0 flex-1 font-mono text-xs"
              placeholder="value"
              value={r.v}
              onFocus={(e) => (saved || reference) && e.target.select()}
              onChange={(e) => {
                // Typing into a mask replaces it whole; what is left of it would be a wrong value.
                const v = saved ? e.target.value.replaceAll("•", "") : e.target.value;
                edit(r.id, { v });
              }}
            />
            <IconButton
              label={saved ? "Saved values are not shown" : visible ? "Hide value" : "Show value"}
              size="icon-sm"
              aria-disabled={saved || undefined}
              onClick={() => {
                if (saved) return;
                const next = new Set(shown);
                if (!next.delete(r.id)) next.add(r.id);
                setShown(next);
              }}
            >
              {visible ? <EyeOff /> : <Eye />}
            </IconButton>
            <IconButton
              label={`Remove ${r.k || `the ${noun}`}`}
              size="icon-sm"
              onClick={() => change(rows.filter((x) => x.id !== r.id))}
            >
              <X />
            </IconButton>
          </div>
        );
      })}
      <Button
        size="sm"
        className="justify-self-start"
        onClick={(e) => {
          setRows([...rows, { id: Math.max(-1, ...rows.map((r) => r.id)) + 1, k: "", v: "" }]);
          focusAdded(e.currentTarget);
        }}
      >
        <Plus /> Add {noun}
      </Button>
    </fieldset>
  );
}
