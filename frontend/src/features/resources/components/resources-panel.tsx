import { BookOpen, MessageSquarePlus } from "lucide-react";
import { type FormEvent, useEffect, useState } from "react";
import type { Feature, Resource, ResourceTemplate } from "@/api/types";
import { CopyButton } from "@/components/copy-button";
import { ErrorNote } from "@/components/error-note";
import { toastError } from "@/components/toast";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Callout } from "@/components/ui/callout";
import { Field } from "@/components/ui/field";
import { Switch } from "@/components/ui/switch";
import { formatBytes } from "@/lib/format";
import { expandTemplate, variablesOf } from "../lib/template";
import { useFeatureCall, useResources, watchResource } from "../queries";
import { useResourceChanges } from "../store";
import { CompletedInput } from "./completed-input";
import { FeatureOutcome } from "./feature-outcome";
import { FeatureRow, FeatureSearch, matching } from "./feature-row";

interface ResourcesPanelProps {
  server: string;
  features: readonly Feature[];
  onUse: (text: string) => void;
}

const shown = 200;

/** A server's resources: found, read, watched, and taken into the chat. */
export function ResourcesPanel({ server, features, onUse }: ResourcesPanelProps) {
  const query = useResources(server);
  const [search, setSearch] = useState("");
  const [open, setOpen] = useState("");
  if (query.error)
    return (
      <ErrorNote
        error={query.error}
        title="The resources could not be listed."
        onRetry={() => void query.refetch()}
      />
    );
  if (!query.data) return <p className="text-ink-3 text-sm">Reading resources…</p>;
  const { resources, templates, notes } = query.data;
  const found = matching(resources, search, (r) => [r.uri, r.name, r.title, r.description]);
  const item = { server, features, onUse };
  return (
    <div className="grid grid-cols-1 gap-4" data-testid="resources">
      {notes.length > 0 && resources.length + templates.length === 0 && (
        <Callout tone="neutral">{notes.join(" ")}</Callout>
      )}
      <FeatureSearch
        label={`Search the resources of ${server}`}
        placeholder="Search resources"
        value={search}
        onChange={setSearch}
        busy={query.isFetching}
        onRefresh={() => void query.refetch()}
      />
      {resources.length === 0 && templates.length === 0 && (
        <p className="text-ink-2 text-sm">This server lists no resources.</p>
      )}
      {found.length > 0 && (
        <ul aria-label="Resources" className="grid grid-cols-1 divide-y divide-line border-line border-y">
          {found.slice(0, shown).map((r) => (
            <ResourceRow
              key={r.uri}
              resource={r}
              open={open === r.uri}
              onOpen={(on) => setOpen(on ? r.uri : "")}
              {...item}
            />
          ))}
        </ul>
      )}
      {found.length > shown && (
        <p className="text-ink-3 text-xs">
          {shown} of {found.length} are shown. Search to see the others.
        </p>
      )}
      {found.length === 0 && resources.length > 0 && (
        <p className="text-ink-2 text-sm">No resource matches “{search}”.</p>
      )}
      {templates.length > 0 && (
        <section className="grid grid-cols-1 gap-2" aria-label="Resource templates">
          <h4 className="font-medium text-sm">Templates</h4>
          <ul className="grid grid-cols-1 divide-y divide-line border-line border-y">
            {templates.map((t) => (
              <TemplateRow
                key={t.uriTemplate}
                template={t}
                open={open === t.uriTemplate}
                onOpen={(on) => setOpen(on ? t.uriTemplate : "")}
                {...item}
              />
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

interface RowProps extends ResourcesPanelProps {
  open: boolean;
  onOpen: (open: boolean) => void;
}

function ResourceRow({ resource: r, open, onOpen, ...rest }: RowProps & { resource: Resource }) {
  return (
    <FeatureRow
      open={open}
      onOpen={onOpen}
      name={r.title || r.name}
      detail={r.uri}
      facts={
        <>
          {r.mimeType && <Badge>{r.mimeType}</Badge>}
          {r.size !== undefined && r.size !== null && (
            <span className="nums text-ink-3 text-xs">{formatBytes(r.size)}</span>
          )}
        </>
      }
    >
      {r.description && <p className="text-ink-2 text-sm">{r.description}</p>}
      <Reading uri={r.uri} {...rest} />
    </FeatureRow>
  );
}

function TemplateRow({ template: t, open, onOpen, ...rest }: RowProps & { template: ResourceTemplate }) {
  const [values, setValues] = useState<Record<string, string>>({});
  const names = variablesOf(t.uriTemplate);
  const uri = expandTemplate(t.uriTemplate, values);
  const complete = names.every((n) => values[n]);
  return (
    <FeatureRow
      open={open}
      onOpen={onOpen}
      name={t.title || t.name}
      detail={t.uriTemplate}
      facts={t.mimeType && <Badge>{t.mimeType}</Badge>}
    >
      {t.description && <p className="text-ink-2 text-sm">{t.description}</p>}
      {names.map((n) => (
        <Field key={n} label={<span className="font-mono">{n}</span>}>
          {(ids) => (
            <CompletedInput
              ids={ids}
              server={rest.server}
              completes={rest.features.includes("completions")}
              completion={{ uriTemplate: t.uriTemplate, argument: n, value: values[n] ?? "" }}
              onChange={(v) => setValues((all) => ({ ...all, [n]: v }))}
            />
          )}
        </Field>
      ))}
      <Reading key={complete ? uri : ""} uri={uri} blocked={!complete} {...rest} />
    </FeatureRow>
  );
}

interface ReadingProps extends ResourcesPanelProps {
  uri: string;
  blocked?: boolean;
}

function Reading({ server, features, onUse, uri, blocked }: ReadingProps) {
  const run = useFeatureCall(server, "resources");
  const changes = useResourceChanges(server, uri);
  const [watched, setWatched] = useState(false);
  const [readAt, setReadAt] = useState(changes);
  const changed = run.output !== undefined && changes > readAt;
  const read = (e?: FormEvent) => {
    e?.preventDefault();
    setReadAt(changes);
    run.start({ uri });
  };
  useEffect(() => {
    if (!watched) return;
    return () => void watchResource(server, uri, false).catch(() => {}); // it ends with the connection anyway
  }, [watched, server, uri]);
  const text = (run.output?.result?.content ?? []).map((c) => c.text ?? "").join("\n");
  return (
    <form className="grid grid-cols-1 gap-3" onSubmit={read}>
      <div className="flex flex-wrap items-center gap-2">
        <Button type="submit" size="sm" variant="primary" disabled={blocked || run.running}>
          <BookOpen /> {changed ? "Read again" : "Read"}
        </Button>
        {run.running && (
          <Button size="sm" onClick={run.cancel}>
            Cancel
          </Button>
        )}
        {text && (
          <Button size="sm" onClick={() => onUse(`From ${uri}:\n\n${text}\n`)}>
            <MessageSquarePlus /> Use in chat
          </Button>
        )}
        {!blocked && <CopyButton text={uri} label="Copy the URI" />}
        {features.includes("resources.subscribe") && !blocked && (
          <span className="ml-auto flex items-center gap-2 text-ink-2 text-sm">
            Tell me of changes
            <Switch
              aria-label={`Tell me when ${uri} changes`}
              checked={watched}
              onCheckedChange={(on) => {
                setWatched(on);
                if (on)
                  watchResource(server, uri, true).catch((err: unknown) => {
                    setWatched(false);
                    toastError(err);
                  });
              }}
            />
          </span>
        )}
      </div>
      {changed && (
        <Callout tone="info">
          <span role="status">The resource changed since it was read.</span>
        </Callout>
      )}
      <FeatureOutcome run={run} title="The resource could not be read." onRetry={() => read()} />
    </form>
  );
}
