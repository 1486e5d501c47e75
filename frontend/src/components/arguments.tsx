import { useState } from "react";
import { argumentRows } from "@/lib/json";
import { TextBlock } from "./json-view";
import { Button } from "./ui/button";

const foldAt = 400;

/** The arguments of a call. Long values fold, one press away, unless all must be seen. */
export function Arguments({ value, whole }: { value: unknown; whole?: boolean }) {
  const rows = argumentRows(value);
  if (!rows) {
    return <TextBlock label="Arguments" text={typeof value === "string" ? value : JSON.stringify(value)} />;
  }
  if (rows.length === 0) return <p className="text-ink-3 text-sm">No arguments.</p>;
  return (
    <dl className="grid grid-cols-[minmax(80px,max-content)_minmax(0,1fr)] gap-x-4 gap-y-1 text-xs">
      {rows.map((r) => (
        <div key={r.name} className="contents">
          <dt className="max-w-48 truncate py-0.5 font-mono text-ink-3" title={r.name}>
            {r.name}
          </dt>
          <dd className="min-w-0">
            <Value text={r.text} json={r.json} name={r.name} whole={whole} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ text, json, name, whole }: { text: string; json: boolean; name: string; whole?: boolean }) {
  const [open, setOpen] = useState(false);
  const long = !whole && (text.length > foldAt || text.split("\n").length > 6);
  const shown = long && !open ? `${text.split("\n").slice(0, 6).join("\n").slice(0, foldAt)}…` : text;
  return (
    <>
      <div className="whitespace-pre-wrap rounded-sm bg-sunken px-1.5 py-0.5 font-mono [overflow-wrap:anywhere]">
        {shown === "" ? <span className="text-ink-3">{json ? "" : '""'}</span> : shown}
      </div>
      {long && (
        <Button
          variant="link"
          size="sm"
          onClick={() => setOpen(!open)}
          aria-label={`${open ? "Fold" : "Show all of"} ${name}`}
        >
          {open ? "Fold" : `Show all ${text.length.toLocaleString("en-US")} characters`}
        </Button>
      )}
    </>
  );
}
