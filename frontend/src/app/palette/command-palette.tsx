import { Command } from "cmdk";
import { Dialog } from "radix-ui";
import type { ReactNode } from "react";
import { StatusIcon } from "@/components/status-icon";
import { Kbd } from "@/components/ui/badge";
import { conversationTitle, useConversations } from "@/features/chat";
import { useServers, useServersStore } from "@/features/servers";
import { useUpdateSettings } from "@/features/settings";
import { modName } from "@/lib/platform";
import { lookOf } from "@/lib/status";
import { useLayout } from "../shell/layout-store";
import { useNav } from "../use-nav";
import { type ActionId, keysOf } from "./shortcuts";

interface Action {
  label: string;
  run: () => void;
  shortcut?: ActionId;
}

export function CommandPalette() {
  const open = useLayout((s) => s.palette);
  const set = useLayout((s) => s.set);
  return (
    <Dialog.Root open={open} onOpenChange={(palette) => set({ palette })}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-ink/25 dark:bg-sunken/70" />
        <Dialog.Content
          aria-describedby={undefined}
          className="-translate-x-1/2 fixed top-[12vh] left-1/2 z-50 w-[min(560px,calc(100vw-32px))] animate-appear overflow-hidden rounded-lg border border-line bg-raised shadow-float"
        >
          <Dialog.Title className="sr-only">Commands</Dialog.Title>
          <Palette close={() => set({ palette: false })} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Palette({ close }: { close: () => void }) {
  const nav = useNav();
  const conversations = useConversations().data ?? [];
  const servers = useServers().data ?? [];
  const setServers = useServersStore((s) => s.set);
  const { mutate: settings } = useUpdateSettings();
  const layout = useLayout();

  const actions: Action[] = [
    { label: "New chat", run: nav.newChat, shortcut: "newChat" },
    { label: "Open Tools: MCP Tools", run: () => nav.openTools("mcp"), shortcut: "tools" },
    { label: "Open Tools: Custom Tools", run: () => nav.openTools("custom") },
    {
      label: "Add servers",
      run: () => {
        setServers({ adding: true });
        nav.openTools("mcp");
      },
    },
    { label: "Audit log", run: nav.toAudit },
    { label: "Settings: Models", run: () => nav.toSettings("models"), shortcut: "settings" },
    { label: "Settings: Agents", run: () => nav.toSettings("agents") },
    { label: "Settings: About", run: () => nav.toSettings("about") },
    { label: "Show or hide the rail", run: () => layout.set({ rail: !layout.rail }), shortcut: "rail" },
    { label: "Theme: like the system", run: () => settings({ theme: "system" }) },
    { label: "Theme: light", run: () => settings({ theme: "light" }) },
    { label: "Theme: dark", run: () => settings({ theme: "dark" }) },
  ];

  const pick = (run: () => void) => () => {
    close();
    run();
  };

  return (
    <Command label="Commands" loop>
      <Command.Input
        placeholder="Type a command, a conversation or a server"
        className="h-11 w-full border-line border-b bg-transparent px-4 text-base outline-none"
      />
      <Command.List className="max-h-[50vh] overflow-y-auto p-1.5">
        <Command.Empty className="p-3 text-ink-2 text-sm">Nothing matches.</Command.Empty>
        <Group heading="Actions">
          {actions.map((a) => (
            <Item key={a.label} value={a.label} onSelect={pick(a.run)}>
              <span className="flex-1">{a.label}</span>
              {a.shortcut && <Kbd>{keysOf(a.shortcut, modName)}</Kbd>}
            </Item>
          ))}
        </Group>
        {servers.length > 0 && (
          <Group heading="Servers">
            {servers.map((s) => (
              <Item
                key={s.spec.name}
                value={`server ${s.spec.name}`}
                onSelect={pick(() => nav.openTools("mcp", s.spec.name))}
              >
                <StatusIcon look={lookOf(s)} />
                <span className="truncate font-mono text-xs">{s.spec.name}</span>
              </Item>
            ))}
          </Group>
        )}
        {conversations.length > 0 && (
          <Group heading="Conversations">
            {conversations.slice(0, 50).map((c) => (
              <Item
                key={c.id}
                value={`${conversationTitle(c)} ${c.id}`}
                onSelect={pick(() => nav.toChat(c.id))}
              >
                <span className="truncate">{conversationTitle(c)}</span>
              </Item>
            ))}
          </Group>
        )}
      </Command.List>
    </Command>
  );
}

function Group({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-ink-3 [&_[cmdk-group-heading]]:text-xs"
    >
      {children}
    </Command.Group>
  );
}

function Item({ value, onSelect, children }: { value: string; onSelect: () => void; children: ReactNode }) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="flex h-8 items-center gap-2 rounded-md px-2 text-sm data-[selected=true]:bg-hover"
    >
      {children}
    </Command.Item>
  );
}
