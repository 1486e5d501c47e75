import { type ReactNode, useRef } from "react";
import { StatusIcon } from "@/components/status-icon";
import { toastError } from "@/components/toast";
import { Button } from "@/components/ui/button";
import { modelLabel } from "@/features/models";
import { useServerActions, useServers } from "@/features/servers";
import { useUpdateSettings } from "@/features/settings";
import { plural } from "@/lib/format";
import { lookOf, type StateLook, serverSentence } from "@/lib/status";
import { useCurrentChat } from "../use-current-chat";
import { useExamples } from "../use-examples";
import { useNav } from "../use-nav";

const off: StateLook = { word: "To do", shape: "hollow", tone: "neutral", live: false };
const on: StateLook = { word: "Ready", shape: "filled", tone: "success", live: false };

/** Three lamps, one action each. With nothing at hand, two clicks make the first two green. */
export function FirstRun({ onPropose }: { onPropose: (text: string) => void }) {
  const nav = useNav();
  const chat = useCurrentChat();
  const servers = useServers().data ?? [];
  const actions = useServerActions();
  const update = useUpdateSettings();
  const examples = useExamples();
  const rehearsal = chat.providers.find((p) => p.kind === "rehearsal");
  const hasModel = chat.provider !== undefined && (chat.provider.kind === "rehearsal" || chat.model !== "");
  const live = servers.filter((s) => s.status.state === "connected");
  const tried = servers[0];
  // The button that adds the demo server leaves when it has; the focus must not go with it.
  const opener = useRef<HTMLButtonElement>(null);
  const tools = live.reduce((n, s) => n + s.status.toolCount, 0);

  return (
    <section aria-label="First steps" className="grid grid-cols-1 gap-5" data-testid="first-run">
      <div className="grid grid-cols-1 gap-1">
        <h2 className="font-semibold text-xl">Three lamps to green</h2>
        <p className="text-ink-2">A model that answers, a server with tools, and a first question.</p>
      </div>
      <ol className="grid divide-y divide-line rounded-lg border border-line bg-surface">
        <Step
          look={hasModel ? on : off}
          title="A model"
          text={
            hasModel
              ? chat.provider?.kind === "rehearsal"
                ? "Rehearsal is ready. It is no AI: it makes exactly the calls you write."
                : `${modelLabel(chat.provider, chat.model)} is ready.`
              : "Ollama, an OpenAI-compatible endpoint, or Rehearsal, which needs nothing."
          }
          action={
            !hasModel && rehearsal ? (
              <Button
                variant="primary"
                onClick={() =>
                  update.mutate(
                    { defaultProviderId: rehearsal.id, defaultModel: "" },
                    { onError: (e) => toastError(e) },
                  )
                }
              >
                Use Rehearsal
              </Button>
            ) : undefined
          }
          second={
            <Button onClick={() => nav.toSettings("models")}>
              {hasModel ? "Other models" : "Add a model"}
            </Button>
          }
        />
        <Step
          look={live.length > 0 ? on : tried ? lookOf(tried) : off}
          title="A server"
          text={
            live.length > 0
              ? `${plural(live.length, "server")} connected, ${plural(tools, "tool")}.`
              : tried
                ? `${tried.spec.name}: ${serverSentence(tried)}`
                : "Paste an MCP server's configuration, or begin with the demo server that is built in."
          }
          action={
            servers.length === 0 ? (
              <Button
                variant="primary"
                disabled={actions.addDemo.isPending}
                onClick={() =>
                  actions.addDemo.mutate(undefined, {
                    onSuccess: () => opener.current?.focus(),
                    onError: (e) => toastError(e),
                  })
                }
              >
                Add the demo server
              </Button>
            ) : undefined
          }
          second={
            <Button ref={opener} onClick={() => nav.openTools("mcp", tried?.spec.name)}>
              {tried ? "Open Tools" : "Paste a server"}
            </Button>
          }
        />
        <Step
          look={off}
          title="A first question"
          text="Write it below, or take an example."
          action={
            <Button
              variant={hasModel && live.length > 0 ? "primary" : "secondary"}
              disabled={!hasModel || !examples[0]}
              onClick={() => onPropose(examples[0] ?? "")}
            >
              Take an example
            </Button>
          }
        />
      </ol>
      <Button
        variant="ghost"
        className="justify-self-start"
        onClick={() => update.mutate({ firstRunDone: true }, { onError: (e) => toastError(e) })}
      >
        Hide these steps
      </Button>
    </section>
  );
}

function Step(props: {
  look: StateLook;
  title: string;
  text: string;
  action?: ReactNode;
  second?: ReactNode;
}) {
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-3">
      <StatusIcon look={props.look} label={props.look.word} className="size-5" />
      <div className="min-w-0 flex-1 basis-60">
        <p className="font-medium">{props.title}</p>
        <p className="text-ink-2 text-sm">{props.text}</p>
      </div>
      <div className="flex flex-wrap gap-2">
        {props.second}
        {props.action}
      </div>
    </li>
  );
}
