import { ChevronRight, RefreshCw } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { Input } from "@/components/ui/input";

interface FeatureRowProps {
  open: boolean;
  onOpen: (open: boolean) => void;
  name: string;
  /** The identifier, in mono below the name. */
  detail: string;
  /** What stands at the right of the heading. */
  facts?: ReactNode;
  children: ReactNode;
}

/** One thing that a server offers, which opens to be used. */
export function FeatureRow({ open, onOpen, name, detail, facts, children }: FeatureRowProps) {
  return (
    <li>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => onOpen(!open)}
        className="flex min-h-9 w-full items-center gap-2 py-1 text-left hover:bg-sunken"
      >
        <ChevronRight className={`size-4 shrink-0 text-ink-3 ${open ? "rotate-90" : ""}`} aria-hidden />
        <span className="min-w-0 flex-1">
          <span className="block truncate text-sm">{name}</span>
          <span className="block truncate font-mono text-ink-3 text-xs">{detail}</span>
        </span>
        {facts}
      </button>
      {open && <div className="grid grid-cols-1 gap-3 pt-1 pb-4 pl-6">{children}</div>}
    </li>
  );
}

interface FeatureSearchProps {
  label: string;
  placeholder: string;
  value: string;
  onChange: (text: string) => void;
  busy: boolean;
  onRefresh: () => void;
}

/** The search above a list, with the way to read the list anew. */
export function FeatureSearch({ label, placeholder, value, onChange, busy, onRefresh }: FeatureSearchProps) {
  return (
    <div className="flex items-center gap-2">
      <Input
        type="search"
        aria-label={label}
        placeholder={placeholder}
        value={value}
        onChange={(e) => onChange(e.target.value)}
      />
      <Button onClick={onRefresh} disabled={busy}>
        <RefreshCw /> Refresh
      </Button>
    </div>
  );
}

/** Those of all whose words hold every word of the search. */
export function matching<T>(
  all: readonly T[],
  search: string,
  textOf: (item: T) => readonly (string | undefined)[],
): readonly T[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return all;
  return all.filter((item) => {
    const text = textOf(item).join(" ").toLowerCase();
    return words.every((w) => text.includes(w));
  });
}
