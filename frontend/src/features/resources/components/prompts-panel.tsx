import { MessageSquarePlus, Play } from "lucide-react";
import { type FormEvent, useState } from "react";
import type { Feature, Prompt, ToolResult } from "@/api/types";
import { ErrorNote } from "@/components/error-note";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Field } from "@/components/ui/field";
import { isRecord } from "@/lib/json";
import { useFeatureCall, usePrompts } from "../queries";
import { CompletedInput } from "./completed-input";
import { FeatureOutcome } from "./feature-outcome";
import { FeatureRow, FeatureSearch, matching } from "./feature-row";

interface PromptsPanelProps {
  server: string;
  features: readonly Feature[];
  onUse: (text: string) => void;
}

/** The text of a prompt's messages, for the composer: what a person would have written. */
function promptText(result: ToolResult | undefined): string {
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
  const found = matching(prompts, search, (p) => [p.name, p.title, p.description]);
  return (
    <div className="grid grid-cols-1 gap-4" data-testid="prompts">
      <FeatureSearch
        label={`Search the prompts of ${server}`}
        placeholder="Search prompts"
        value={search}
        onChange={setSearch}
        busy={query.isFetching}
        onRefresh={() => void query.refetch()}
      />
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
    <FeatureRow
      open={open}
      onOpen={onOpen}
      name={p.title || p.name}
      detail={p.name}
      facts={
        p.arguments &&
        p.arguments.length > 0 && (
          <Badge>{p.arguments.length === 1 ? "1 argument" : `${p.arguments.length} arguments`}</Badge>
        )
      }
    >
      <form className="grid grid-cols-1 gap-3" onSubmit={get}>
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
    </FeatureRow>
  );
}
