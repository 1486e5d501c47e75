import {
  Activity,
  Copy,
  Ellipsis,
  FlaskConical,
  KeyRound,
  Pencil,
  RefreshCw,
  Share,
  Trash2,
  Unplug,
} from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { CallError, type ServerState, type ServerView, type TestReport } from "@/api/types";
import { ErrorNote } from "@/components/error-note";
import { TextBlock } from "@/components/json-view";
import { StatusIcon } from "@/components/status-icon";
import { copyAndTell, toastError } from "@/components/toast";
import { Badge, toneText } from "@/components/ui/badge";
import { Button, IconButton } from "@/components/ui/button";
import { Menu, MenuContent, MenuItem, MenuSeparator, MenuTrigger, useAfterMenu } from "@/components/ui/menu";
import { Switch } from "@/components/ui/switch";
import { Tab, TabList, TabPanel, Tabs } from "@/components/ui/tabs";
import { Tip } from "@/components/ui/tooltip";
import { useNow } from "@/components/use-now";
import { mainAction, otherAction, type ServerAction } from "@/lib/actions";
import { canChoose, chooseFile, chooseFolder } from "@/lib/choose";
import { openOutside } from "@/lib/clipboard";
import { cn } from "@/lib/cn";
import { formatAgo, formatElapsed, formatMillis, millisSince, plural } from "@/lib/format";
import { type ListedServer, target, transportNames } from "@/lib/servers";
import { lookOf, needsAttention, serverSentence } from "@/lib/status";
import type { Replay } from "../lib/activity";
import { installPage } from "../lib/install";
import { exportServer, testServer } from "../queries";
import { type DetailTab, useServersStore } from "../store";
import { ExportDialog } from "./export-dialog";
import { ProcessesDialog } from "./processes-dialog";
import { ServerActivity } from "./server-activity";
import { ServerSettings } from "./server-settings";
import { SignInPanel, useSignIn } from "./sign-in";
import { TestReportView } from "./test-report";

interface ServerDetailsProps {
  server: ListedServer;
  toolCount: number;
  toolsPanel: ReactNode;
  /** Undefined where the server has none. */
  resourcesPanel?: ReactNode;
  promptsPanel?: ReactNode;
  onBack?: ReactNode;
  onToggle: (enabled: boolean) => void;
  onReconnect: () => void;
  onDisconnect: () => void;
  onDuplicate: () => void;
  onRemove: () => void;
  onSave: (server: ServerView["spec"]) => Promise<unknown>;
  onReplay: (replay: Replay) => void;
  /** Shows what changed of its tools. */
  onReview: () => void;
}

/** The states in which there is something to end. */
const runs: ReadonlySet<ServerState> = new Set([
  "installing",
  "starting",
  "negotiating",
  "connected",
  "signing_in",
  "reconnecting",
]);

export function ServerDetails(props: ServerDetailsProps) {
  const {
    server,
    toolCount,
    toolsPanel,
    resourcesPanel,
    promptsPanel,
    onBack,
    onToggle,
    onReconnect,
    onDisconnect,
    onDuplicate,
    onRemove,
    onSave,
    onReplay,
    onReview,
  } = props;
  const { spec, status } = server;
  const chosen = useServersStore((s) => s.tab);
  const gone = (chosen === "resources" && !resourcesPanel) || (chosen === "prompts" && !promptsPanel);
  const tab = gone ? "tools" : chosen;
  const set = useServersStore((s) => s.set);
  const look = lookOf(server);
  const now = useNow(look.live || status.state === "connected", look.live ? 1000 : 10_000);
  const test = useTest(server);
  const busy = status.state === "starting" || status.state === "installing" || status.state === "negotiating";

  const help = installPage(spec.command);
  const action = mainAction(server, help !== undefined, canChoose());
  const other = otherAction(server, help !== undefined, canChoose());

  const [dialog, setDialog] = useState<"export" | "processes">();
  const signIn = useSignIn(spec.name);
  const mainButton = useRef<HTMLButtonElement>(null);
  // With the panel of signing in, what had the focus there is gone.
  useEffect(() => {
    if (!signIn.pending) return;
    return () => {
      setTimeout(() => document.activeElement === document.body && mainButton.current?.focus());
    };
  }, [signIn.pending]);
  const menu = useAfterMenu();
  const put = (place: "command" | "cwd", choice: Promise<string>) =>
    void choice
      .then((path) => (path ? onSave({ ...spec, [place]: path }) : undefined))
      .catch((err: unknown) => toastError(err));
  const act = ({ kind, field }: ServerAction) => {
    switch (kind) {
      case "turn_on":
        return onToggle(true);
      case "connect":
        return onReconnect();
      case "sign_in":
        return signIn.start();
      case "show_log":
        return set({ tab: "activity" });
      case "review":
        return onReview();
      case "choose_file":
        return put("command", chooseFile(`The program of ${spec.name}`));
      case "choose_folder":
        return put("cwd", chooseFolder(`The working folder of ${spec.name}`));
      case "install":
        return openOutside(help ?? "");
      case "settings":
        set({ tab: "settings", field: field ?? "" });
    }
  };

  // One file for each panel; a new one is a line here and its id in the store.
  const tabs: { id: DetailTab; label: ReactNode; panel: ReactNode; ownScroll?: boolean }[] = [
    { id: "tools", label: `Tools (${toolCount})`, panel: toolsPanel, ownScroll: true },
    ...(resourcesPanel ? [{ id: "resources" as const, label: "Resources", panel: resourcesPanel }] : []),
    ...(promptsPanel ? [{ id: "prompts" as const, label: "Prompts", panel: promptsPanel }] : []),
    {
      id: "activity",
      label: "Activity",
      panel: (
        <div className="h-full p-5">
          <ServerActivity key={spec.name} name={spec.name} onReplay={onReplay} />
        </div>
      ),
      ownScroll: true,
    },
    {
      id: "settings",
      label: "Settings",
      panel: <ServerSettings key={spec.name} server={server} onSave={onSave} />,
    },
  ];

  return (
    <Tabs
      value={tab}
      onValueChange={(v) => set({ tab: v as DetailTab })}
      className="flex h-full min-h-0 flex-col short:overflow-y-auto"
      data-testid="server-details"
      aria-label={`Server ${spec.name}`}
    >
      <header className="grid grid-cols-1 gap-2 px-5 pt-4 pb-3">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
          {onBack}
          <h3 className="flex min-w-0 flex-1 basis-48 items-center gap-2">
            <StatusIcon look={look} />
            <span className="min-w-0 truncate font-mono font-semibold text-base" title={spec.name}>
              {spec.name}
            </span>
            <Badge>{transportNames[spec.transport]}</Badge>
          </h3>
          <div className="flex flex-wrap items-center gap-1.5">
            <Button size="sm" onClick={test.running ? test.cancel : test.start}>
              <FlaskConical /> {test.running ? "Cancel test" : "Test"}
            </Button>
            {!spec.disabled && action?.kind !== "connect" && (
              <Button size="sm" onClick={onReconnect}>
                <RefreshCw /> Reconnect
              </Button>
            )}
            {!spec.disabled && runs.has(status.state) && (
              <Button size="sm" onClick={onDisconnect}>
                <Unplug /> {busy ? "Cancel" : status.state === "reconnecting" ? "Stop" : "Disconnect"}
              </Button>
            )}
            <Button size="sm" onClick={() => set({ tab: "settings" })}>
              <Pencil /> Edit
            </Button>
            <Menu>
              <MenuTrigger asChild>
                <IconButton label={`More for ${spec.name}`} size="icon-sm">
                  <Ellipsis />
                </IconButton>
              </MenuTrigger>
              <MenuContent align="end" onCloseAutoFocus={menu.onCloseAutoFocus}>
                <MenuItem onSelect={onDuplicate}>
                  <Copy /> Duplicate
                </MenuItem>
                <MenuItem
                  onSelect={() =>
                    void exportServer(spec.name, "patchbay")
                      .then((out) => copyAndTell(out.text, "Copied as JSON, without secrets"))
                      .catch((err: unknown) => toastError(err))
                  }
                >
                  <Copy /> Copy as JSON
                </MenuItem>
                <MenuItem onSelect={() => menu.later(() => setDialog("export"))}>
                  <Share /> Export to…
                </MenuItem>
                <MenuItem onSelect={() => menu.later(() => setDialog("processes"))}>
                  <Activity /> View processes
                </MenuItem>
                {spec.transport !== "stdio" && (
                  <MenuItem onSelect={() => void signIn.forget()}>
                    <KeyRound /> Sign out
                  </MenuItem>
                )}
                <MenuSeparator />
                <MenuItem className="text-danger" onSelect={onRemove}>
                  <Trash2 /> Remove
                </MenuItem>
              </MenuContent>
            </Menu>
            <Switch aria-label={`${spec.name} on`} checked={!spec.disabled} onCheckedChange={onToggle} />
          </div>
        </div>
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
          <p
            className={cn(
              "min-w-0 text-sm [overflow-wrap:anywhere]",
              look.tone === "neutral" ? "text-ink-2" : toneText[look.tone],
            )}
            data-testid="server-sentence"
          >
            <span className="font-medium">{look.word}</span>
            {serverSentence(server, now) !== look.word && (
              <span className="text-ink-2">: {serverSentence(server, now)}</span>
            )}
            {look.live && status.state !== "reconnecting" && (
              <span className="nums text-ink-3">, {formatElapsed(millisSince(status.since, now))}</span>
            )}
          </p>
          {action && !signIn.pending && (
            <span className="flex gap-1.5">
              <Button
                ref={mainButton}
                size="sm"
                variant={needsAttention(server) ? "primary" : "secondary"}
                data-testid="main-action"
                onClick={() => act(action)}
              >
                {action.label}
              </Button>
              {other && (
                <Button size="sm" data-testid="other-action" onClick={() => act(other)}>
                  {other.label}
                </Button>
              )}
            </span>
          )}
        </div>
        {signIn.error !== undefined && !signIn.pending && status.state === "needs_sign_in" && (
          <ErrorNote
            error={signIn.error}
            title={`Signing in to ${spec.name} did not work.`}
            actions={
              <Button size="sm" onClick={() => set({ tab: "settings", field: "auth" })}>
                Settings for signing in
              </Button>
            }
          />
        )}
        {signIn.pending && <SignInPanel name={spec.name} onCancel={signIn.cancel} />}
        <p className="truncate font-mono text-ink-3 text-xs" title={target(spec)}>
          {target(spec)}
        </p>
        {status.state === "connected" && (
          <p className="nums flex flex-wrap items-center gap-x-2 gap-y-1 text-ink-3 text-xs">
            {status.protocolVersion && (
              <Tip text={status.eraReason || "The revision of MCP that both sides speak."}>
                {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what the tooltip says */}
                <span tabIndex={0} className="rounded-sm" data-testid="era">
                  <Badge>MCP {status.protocolVersion}</Badge>
                  {status.eraReason && <span className="sr-only">. {status.eraReason}</span>}
                </span>
              </Tip>
            )}
            {[
              status.serverTitle &&
                `${status.serverTitle}${status.serverVersion ? ` ${status.serverVersion}` : ""}`,
              status.latencyMs !== undefined && formatMillis(status.latencyMs),
              status.verifiedAt && `verified ${formatAgo(status.verifiedAt, now)}`,
            ]
              .filter(Boolean)
              .join(" · ")}
          </p>
        )}
        {status.toolsCachedAt && (
          <p className="nums text-ink-3 text-xs" data-testid="cached">
            {plural(toolCount, "tool")} as listed {formatAgo(status.toolsCachedAt, now)}; the server has not
            confirmed them since.
          </p>
        )}
        {needsAttention(server) && status.detail && (
          <TextBlock label="Details" text={status.detail} className="max-h-32" />
        )}
        {test.running && (
          <p className="text-ink-2 text-sm" role="status">
            Testing… A second instance is tried; nothing is changed.
          </p>
        )}
        {test.report && <TestReportView report={test.report} />}
        {test.error !== undefined && (
          <ErrorNote error={test.error} title="The test did not finish." onRetry={test.start} />
        )}
      </header>
      <TabList className="px-5" aria-label={`About ${spec.name}`}>
        {tabs.map((t) => (
          <Tab key={t.id} value={t.id}>
            {t.label}
          </Tab>
        ))}
      </TabList>
      {tabs.map((t) => (
        <TabPanel
          key={t.id}
          value={t.id}
          className={
            t.ownScroll
              ? "overflow-hidden short:h-80 short:flex-none"
              : "overflow-y-auto p-5 short:flex-none short:overflow-visible"
          }
        >
          {t.panel}
        </TabPanel>
      ))}
      {dialog === "export" && <ExportDialog name={spec.name} onClose={() => setDialog(undefined)} />}
      {dialog === "processes" && <ProcessesDialog name={spec.name} onClose={() => setDialog(undefined)} />}
    </Tabs>
  );
}

function useTest(server: ServerView) {
  const [state, setState] = useState<{ running: boolean; report?: TestReport; error?: unknown }>({
    running: false,
  });
  const abort = useRef<AbortController>(null);
  const name = server.spec.name;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a report speaks of one server only
  useEffect(() => {
    setState({ running: false });
    return () => abort.current?.abort();
  }, [name]);
  return {
    ...state,
    cancel: () => abort.current?.abort(),
    start: () => {
      const mine = new AbortController();
      abort.current = mine;
      setState({ running: true });
      testServer(server.spec, name, mine.signal).then(
        (report) => !mine.signal.aborted && setState({ running: false, report }),
        (error: unknown) =>
          setState({
            running: false,
            error: error instanceof CallError && error.code === "canceled" ? undefined : error,
          }),
      );
    },
  };
}
