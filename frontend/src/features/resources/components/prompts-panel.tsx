import { ChevronRight, MessageSquarePlus, Play, RefreshCw } from "lucide-react";
import { type FormEvent, useState } from "react";
import type { Feature, Prompt, ToolResult } from "@/api/types";
import { ErrorNote } from "@/components/error-note";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Field } from "@/components/ui/field";
import { Input } from "@/components/ui/input";
import { isRecord } from "@/lib/json";
import { useFeatureCall, usePrompts } from "../queries";
import { CompletedInput } from "./completed-input";
import { FeatureOutcome } from "./feature-outcome";

interface PromptsPanelProps {
  server: string;
  features: readonly Feature[];
  onUse: (text: string) => void;
}

/** The text of a prompt's messages, for the composer: what a person would have written. */
export function promptText(result: ToolResult | undefined): string {
  const messages = isRecord(result?.structuredContent) ? result.structuredContent.messages : undefined;
  if (!Array.isArray(messages)) return "";
  const texts: { role: string; text: string }[] = [];
  for (const m of messages) {
    if (!isRecord(m) || !isRecord(m.content)) continue;
    const resource = isRecord(m.content.resource) ? m.content.resource : undefined;
    const text = m.content.text ?? resource?.text;
    if (typeof text === "string") texts.push({ role: String(m.role), text });
  }
  const several = texts.some((t) => t.role !== "user");
  return texts.map((t) => (several ? `${t.role}: ${t.text}` : t.text)).join("\n\n");
}

/** A server's prompts: filled in, looked at, and taken into the chat. */
export function PromptsPanel({ server, features, onUse }: PromptsPanelProps) {
  const query = usePrompts(server);
  const [search, setSearch] = useState("");
  const [open, setOpen] = useState("");
  if (query.error)
    return (
      <ErrorNote
        error={query.error}
        title="The prompts could not be listed."
        onRetry={() => void query.refetch()}
      />
    );
  if (!query.data) return <p className="text-ink-3 text-sm">Reading prompts…</p>;
  const { prompts } = query.data;
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = prompts.filter((p) => {
    const text = `${p.name} ${p.title ?? ""} ${p.description ?? ""}`.toLowerCase();
    return words.every((w) => text.includes(w));
  });
  return (
    <div className="grid grid-cols-1 gap-4" data-testid="prompts">
      <div className="flex items-center gap-2">
        <Input
          type="search"
          aria-label={`Search the prompts of ${server}`}
          placeholder={"Search prompts"}
          value={search}
          onChange={(e) => setSearch(e.target.value)}
        />
        <Button onClick={() => void query.refetch()} disabled={query.isFetching}>
          <RefreshCw /> Refresh
        </Button>
      </div>
      {found.length === 0 ? (
        <p className="text-ink-2 text-sm">
          {prompts.length === 0 ? "This server lists no prompts." : `No prompt matches “${search}”.`}
        </p>
      ) : (
        <ul aria-label="Prompts" className="grid grid-cols-1 divide-y divide-line border-line border-y">
          {found.map((p) => (
            <PromptRow
              key={p.name}
              prompt={p}
              server={server}
              features={features}
              onUse={onUse}
              open={open === p.name}
              onOpen={(on) => setOpen(on ? p.name : "")}
            />
          ))}
        </ul>
      )}
    </div>
  );
}

interface PromptRowProps extends PromptsPanelProps {
  prompt: Prompt;
  open: boolean;
  onOpen: (open: boolean) => void;
}

function PromptRow({ prompt: p, server, features, onUse, open, onOpen }: PromptRowProps) {
  const run = useFeatureCall(server, "prompts");
  const [values, setValues] = useState<Record<string, string>>({});
  const blank = p.arguments?.find((a) => a.required && !values[a.name]);
  const get = (e?: FormEvent) => {
    e?.preventDefault();
    const given = Object.fromEntries(Object.entries(values).filter(([, v]) => v !== ""));
    run.start({ name: p.name, arguments: given });
  };
  const text = promptText(run.output?.result);
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
          <span className="block truncate text-sm">{p.title || p.name}</span>
          <span className="block truncate font-mono text-ink-3 text-xs">{p.name}</span>
        </span>
        {p.arguments && p.arguments.length > 0 && (
          <Badge>{p.arguments.length === 1 ? "1 argument" : `${p.arguments.length} arguments`}</Badge>
        )}
      </button>
      {open && (
        <form className="grid grid-cols-1 gap-3 pt-1 pb-4 pl-6" onSubmit={get}>
          {p.description && <p className="text-ink-2 text-sm">{p.description}</p>}
          {p.arguments?.map((a) => (
            <Field
              key={a.name}
              label={
                <>
                  {a.title || <span className="font-mono">{a.name}</span>}
                  {a.required && <span className="font-normal text-ink-3"> (required)</span>}
                </>
              }
              hint={a.description}
            >
              {(ids) => (
                <CompletedInput
                  ids={ids}
                  server={server}
                  completes={features.includes("completions")}
                  completion={{
                    prompt: p.name,
                    argument: a.name,
                    value: values[a.name] ?? "",
                    context: Object.fromEntries(
                      Object.entries(values).filter(([k, v]) => k !== a.name && v !== ""),
                    ),
                  }}
                  required={a.required}
                  onChange={(v) => setValues((all) => ({ ...all, [a.name]: v }))}
                />
              )}
            </Field>
          ))}
          <div className="flex flex-wrap items-center gap-2">
            <Button type="submit" size="sm" variant="primary" disabled={blank !== undefined || run.running}>
              <Play /> Get prompt
            </Button>
            {run.running && (
              <Button size="sm" onClick={run.cancel}>
                Cancel
              </Button>
            )}
            {blank && <p className="text-ink-2 text-xs">Fill in {blank.title || blank.name} first.</p>}
            {text && (
              <Button size="sm" onClick={() => onUse(text)}>
                <MessageSquarePlus /> Use in chat
              </Button>
            )}
          </div>
          <FeatureOutcome run={run} title="The prompt could not be got." onRetry={() => get()} />
        </form>
      )}
    </li>
  );
}
