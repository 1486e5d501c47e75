import { ChevronDown, Cpu, Settings } from "lucide-react";
import { useState } from "react";
import type { Provider } from "@/api/types";
import { messageOf } from "@/components/error-note";
import { Button } from "@/components/ui/button";
import { Input } from "@/components/ui/input";
import { Popover, PopoverContent, PopoverTrigger } from "@/components/ui/popover";
import { cn } from "@/lib/cn";
import { modelLabel } from "../lib";
import { useModels } from "../queries";

interface ModelPickerProps {
  providers: readonly Provider[];
  provider?: Provider;
  model: string;
  onPick: (providerId: string, model: string) => void;
  onSettings: () => void;
}

/** Who answers: a provider's model. */
export function ModelPicker({ providers, provider, model, onPick, onSettings }: ModelPickerProps) {
  const [open, setOpen] = useState(false);
  return (
    <Popover open={open} onOpenChange={setOpen}>
      <PopoverTrigger asChild>
        <Button
          variant="ghost"
          className="max-w-48 px-2 font-normal max-lg:max-w-44"
          aria-label={`Model: ${modelLabel(provider, model)}`}
        >
          <Cpu /> <span className="truncate">{modelLabel(provider, model)}</span>{" "}
          <ChevronDown className="size-3.5! text-ink-3" />
        </Button>
      </PopoverTrigger>
      <PopoverContent
        align="start"
        className="max-h-[60vh] overflow-y-auto p-1.5"
        aria-label="Choose a model"
      >
        {providers.map((p) => (
          <ProviderModels
            key={p.id}
            provider={p}
            open={open}
            current={p.id === provider?.id ? model : undefined}
            onPick={(m) => {
              onPick(p.id, m);
              setOpen(false);
            }}
            onSettings={() => {
              setOpen(false);
              onSettings();
            }}
          />
        ))}
        <Button
          variant="ghost"
          className="mt-1 w-full justify-start px-2"
          onClick={() => {
            setOpen(false);
            onSettings();
          }}
        >
          <Settings /> Providers and models…
        </Button>
      </PopoverContent>
    </Popover>
  );
}

interface ProviderModelsProps {
  provider: Provider;
  open: boolean;
  current?: string;
  onPick: (model: string) => void;
  onSettings: () => void;
}

const searchFrom = 12;

function ProviderModels({ provider, open, current, onPick, onSettings }: ProviderModelsProps) {
  const models = useModels(provider.id, open);
  const [search, setSearch] = useState("");
  const all = models.data ?? [];
  const shown = all.filter((m) => `${m.id} ${m.name}`.toLowerCase().includes(search.toLowerCase()));
  return (
    <section aria-label={provider.name} className="mb-1">
      <p className="px-2 pt-1.5 pb-1 font-medium text-ink-3 text-xs">{provider.name}</p>
      {models.isPending && <p className="px-2 text-ink-3 text-xs">Asking {provider.name}…</p>}
      {models.error && (
        <div className="grid justify-items-start gap-1 px-2 pb-1">
          <p className="text-danger text-xs [overflow-wrap:anywhere]">{messageOf(models.error)}</p>
          <Button size="sm" onClick={onSettings}>
            Check settings
          </Button>
        </div>
      )}
      {all.length >= searchFrom && (
        <Input
          aria-label={`Search models of ${provider.name}`}
          placeholder="Search models"
          className="mb-1 h-7"
          value={search}
          onChange={(e) => setSearch(e.target.value)}
        />
      )}
      {shown.map((m) => (
        <button
          key={m.id}
          type="button"
          aria-pressed={m.id === current}
          onClick={() => onPick(m.id)}
          className={cn(
            "flex min-h-8 w-full items-center gap-2 rounded-md px-2 text-left hover:bg-hover",
            m.id === current && "bg-accent-soft",
          )}
        >
          <span className="min-w-0 flex-1 truncate text-sm">{m.name || m.id}</span>
          {m.tools === false && <span className="text-warning text-xs">no tools</span>}
          {m.contextWindow ? (
            <span className="nums text-ink-3 text-xs">{Math.round(m.contextWindow / 1000)}k</span>
          ) : null}
        </button>
      ))}
    </section>
  );
}
