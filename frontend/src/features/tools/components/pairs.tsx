import { Plus, X } from "lucide-react";
import { useState } from "react";
import { Button, IconButton } from "@/components/ui/button";
import { Input } from "@/components/ui/input";

interface PairsProps {
  label: string;
  /** What one of them is called, for the labels of its fields. */
  one: string;
  value: Readonly<Record<string, string>> | undefined;
  onChange: (value: Record<string, string> | undefined) => void;
}

/** Names and their templates, a row each. */
export function Pairs({ label, one, value, onChange }: PairsProps) {
  // A row without a name is none yet, so rows are kept beside the value.
  const [rows, setRows] = useState<readonly (readonly [string, string])[]>(() => Object.entries(value ?? {}));
  const change = (next: readonly (readonly [string, string])[]) => {
    setRows(next);
    const out = Object.fromEntries(next.filter(([k]) => k.trim() !== "").map(([k, v]) => [k.trim(), v]));
    onChange(Object.keys(out).length > 0 ? out : undefined);
  };
  return (
    <fieldset className="grid grid-cols-1 gap-1.5">
      <legend className="mb-1 font-medium text-sm">{label}</legend>
      {rows.map(([k, v], i) => (
        <div key={i} className="grid grid-cols-[minmax(0,2fr)_minmax(0,3fr)_auto] gap-2">
          <Input
            aria-label={`Name of ${one} ${i + 1}`}
            className="font-mono text-xs"
            placeholder="name"
            value={k}
            onChange={(e) => change(rows.map((r, n) => (n === i ? [e.target.value, r[1]] : r)))}
          />
          <Input
            aria-label={`Value of ${one} ${i + 1}`}
            className="font-mono text-xs"
            placeholder="{{argument}}"
            value={v}
            onChange={(e) => change(rows.map((r, n) => (n === i ? [r[0], e.target.value] : r)))}
          />
          <IconButton label={`Remove ${one} ${i + 1}`} onClick={() => change(rows.filter((_, n) => n !== i))}>
            <X />
          </IconButton>
        </div>
      ))}
      <Button className="justify-self-start" onClick={() => setRows([...rows, ["", ""]])}>
        <Plus /> Add {one}
      </Button>
    </fieldset>
  );
}
