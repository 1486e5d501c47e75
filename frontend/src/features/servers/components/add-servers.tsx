import { Plug } from "lucide-react";
import { type DragEvent, useEffect, useId, useRef } from "react";
import { CallError } from "@/api/types";
import { messageOf, placeOf } from "@/components/error-note";
import { Button } from "@/components/ui/button";
import { Callout } from "@/components/ui/callout";
import { Textarea } from "@/components/ui/input";
import { plural } from "@/lib/format";
import { useAddFlow } from "../hooks/use-add-flow";
import { useParse } from "../hooks/use-parse";
import { blockedBecause, lineAt, willSave } from "../lib/review";
import type { ServerActions } from "../queries";
import { useServersStore } from "../store";
import { ReviewRowView } from "./review-row";

const examples = [
  {
    label: "JSON",
    text: '{\n  "mcpServers": {\n    "filesystem": {\n      "command": "npx",\n      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"]\n    }\n  }\n}',
  },
  { label: "A command", text: "npx -y @modelcontextprotocol/server-memory" },
  { label: "A URL", text: "https://mcp.example.com/mcp" },
];

interface AddServersProps {
  actions: ServerActions;
  taken: readonly string[];
  /** No server yet: the box is the page. */
  first: boolean;
  onAdded: (name: string) => void;
  onClose: () => void;
  onDemo: () => void;
  demoBusy: boolean;
}

/** Paste, review, then test or save. Nothing runs before one of the last two. */
export function AddServers({ actions, taken, first, onAdded, onClose, onDemo, demoBusy }: AddServersProps) {
  const { text, rows, set, setRow, clearAdd } = useServersStore();
  const parse = useParse();
  const flow = useAddFlow(actions, onAdded);
  const box = useRef<HTMLTextAreaElement>(null);
  const errorId = useId();

  useEffect(() => box.current?.focus(), []);

  const saving = rows.some((r) => r.state === "saving");
  const ready = rows.filter(willSave);
  const blocked = ready.some((r) => blockedBecause(r, rows, taken) !== "");
  const hasDemo = taken.includes("demo");

  const onDrop = (e: DragEvent) => {
    const file = e.dataTransfer.files[0];
    if (!file) return;
    e.preventDefault();
    void file.text().then((t) => set({ text: t }));
  };

  return (
    <div className="flex h-full min-h-0 flex-col" data-testid="add-servers">
      <div className="min-h-0 flex-1 overflow-y-auto px-5 py-5">
        <div className="mx-auto grid w-full max-w-[720px] gap-4">
          <div className="grid grid-cols-1 gap-1">
            <h3 className="font-semibold text-lg">
              {first ? "Paste a server's JSON to begin" : "Add servers"}
            </h3>
            <p className="text-ink-2 text-sm">
              JSON from a README, a whole configuration file, a command or a URL. Nothing runs before you
              press Test or Save.
            </p>
          </div>
          <Textarea
            ref={box}
            aria-label="Configuration to paste"
            aria-invalid={parse.error ? true : undefined}
            aria-describedby={parse.error ? errorId : undefined}
            spellCheck={false}
            placeholder={'{ "mcpServers": { … } }'}
            className="min-h-44 resize-y font-mono text-xs leading-normal"
            value={text}
            onChange={(e) => set({ text: e.target.value })}
            onDrop={onDrop}
            onKeyDown={(e) => {
              if (e.key === "Escape" && text.trim() !== "") e.stopPropagation();
            }}
          />
          {text.trim() === "" && rows.length === 0 && (
            <div className="flex flex-wrap items-center gap-2 text-ink-2 text-sm">
              <span>Try an example:</span>
              {examples.map((e) => (
                <Button key={e.label} size="sm" onClick={() => set({ text: e.text })}>
                  {e.label}
                </Button>
              ))}
              {!hasDemo && (
                <>
                  <span className="ml-2">or</span>
                  <Button size="sm" variant="primary" onClick={onDemo} disabled={demoBusy}>
                    <Plug /> Add the demo server
                  </Button>
                </>
              )}
            </div>
          )}
          {parse.error !== undefined && <ParseError id={errorId} text={text} error={parse.error} />}
          {parse.found?.warnings?.map((w) => (
            <Callout key={w} tone="info">
              {w}
            </Callout>
          ))}
          {parse.found?.rejected?.map((r) => (
            <Callout key={r.name} tone="danger" title={`${r.name || "A server"} cannot be used.`}>
              {r.error.message}
              {r.error.line
                ? ` (line ${r.error.line}${r.error.column ? `, column ${r.error.column}` : ""})`
                : ""}
            </Callout>
          ))}
          {rows.length > 0 && (
            <section className="grid grid-cols-1 gap-2" aria-label="Servers found">
              <h4 className="font-medium text-sm" role="status">
                Found {plural(rows.length, "server")}
              </h4>
              <ul className="grid grid-cols-1 gap-3">
                {rows.map((row) => (
                  <ReviewRowView
                    key={row.key}
                    row={row}
                    rows={rows}
                    taken={taken}
                    blocked={blockedBecause(row, rows, taken)}
                    onChange={(change) => setRow(row.key, change)}
                    onTest={() => void flow.test(row)}
                    onCancelTest={() => flow.cancelTest(row)}
                  />
                ))}
              </ul>
            </section>
          )}
        </div>
      </div>
      {(!first || rows.length > 0 || text !== "") && (
        <div className="flex items-center gap-2 border-line border-t bg-surface px-5 py-3">
          <p className="min-w-0 flex-1 truncate text-ink-3 text-xs" role="status">
            {parse.pending ? "Reading…" : ""}
          </p>
          <Button
            onClick={() => {
              clearAdd();
              onClose();
            }}
          >
            {text.trim() || rows.length ? "Discard" : "Close"}
          </Button>
          <Button
            variant="primary"
            disabled={ready.length === 0 || blocked || saving || parse.pending}
            onClick={() => void flow.save(rows)}
          >
            {saving
              ? "Saving…"
              : ready.length > 1
                ? `Save & connect ${ready.length} servers`
                : "Save & connect"}
          </Button>
        </div>
      )}
    </div>
  );
}

function ParseError({ id, text, error }: { id: string; text: string; error: unknown }) {
  const place = placeOf(error);
  const message = messageOf(error);
  const line = error instanceof CallError ? error.place.line : undefined;
  const column = error instanceof CallError ? error.place.column : undefined;
  const source = line ? lineAt(text, line) : "";
  return (
    <div id={id} role="alert">
      <Callout tone="danger" title={message}>
        {place && !message.includes(place) && <p className="text-ink-2">At {place}.</p>}
        {source && (
          <pre className="mt-1 overflow-x-auto rounded-sm bg-sunken px-2 py-1 font-mono text-xs">
            <span className="text-ink-3">{line} │ </span>
            {source}
            {column ? `\n${" ".repeat(`${line} │ `.length + column - 1)}^` : ""}
          </pre>
        )}
      </Callout>
    </div>
  );
}
