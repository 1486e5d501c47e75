import { FolderOpen, Plus, X } from "lucide-react";
import type { ReactNode } from "react";
import type { ServerSpec, Transport } from "@/api/types";
import { toastError } from "@/components/toast";
import { Button, IconButton } from "@/components/ui/button";
import { Field } from "@/components/ui/field";
import { Input, NativeSelect } from "@/components/ui/input";
import { canChoose, chooseFile, chooseFolder } from "@/lib/choose";
import { focusAdded } from "@/lib/focus-added";
import { AuthEditor } from "./auth-editor";
import { KeyRows } from "./key-rows";
import { LimitsEditor } from "./limits-editor";
import { RootsEditor } from "./roots-editor";

interface SpecEditorProps {
  spec: ServerSpec;
  onChange: (spec: ServerSpec) => void;
  /** Leaves out the name, where it is edited elsewhere. */
  noName?: boolean;
}

/** Every setting of a server, as tools.json keeps it. */
export function SpecEditor({ spec, onChange, noName }: SpecEditorProps) {
  const set = (change: Partial<ServerSpec>) => onChange({ ...spec, ...change });
  const stdio = spec.transport === "stdio";
  return (
    <div className="grid grid-cols-1 gap-4">
      <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
        {!noName && (
          <Field label="Name" hint="Models see it in the names of its tools.">
            {(ids) => (
              <Input
                {...ids}
                className="font-mono text-xs"
                value={spec.name}
                onChange={(e) => set({ name: e.target.value })}
              />
            )}
          </Field>
        )}
        <Field label="Transport">
          {(ids) => (
            <NativeSelect
              {...ids}
              value={spec.transport}
              onChange={(e) => set({ transport: e.target.value as Transport })}
            >
              <option value="stdio">stdio (a program on this computer)</option>
              <option value="streamable-http">Streamable HTTP</option>
              <option value="sse">HTTP+SSE (older servers)</option>
            </NativeSelect>
          )}
        </Field>
      </div>
      {stdio ? (
        <>
          <Field place="command" label="Command">
            {(ids) => (
              <Chosen
                label="Choose the program…"
                choose={() => chooseFile("The program of the server")}
                onChoose={(command) => set({ command })}
              >
                <Input
                  {...ids}
                  className="min-w-0 flex-1 font-mono text-xs"
                  value={spec.command ?? ""}
                  onChange={(e) => set({ command: e.target.value })}
                />
              </Chosen>
            )}
          </Field>
          <ArgRows args={spec.args ?? []} onChange={(args) => set({ args })} />
          <KeyRows
            label="Environment"
            place="env"
            noun="variable"
            values={spec.env ?? {}}
            onChange={(env) => set({ env })}
          />
          <Field place="cwd" label="Working folder" hint="Empty means your home folder.">
            {(ids) => (
              <Chosen
                label="Choose the working folder…"
                choose={() => chooseFolder("The working folder of the server")}
                onChoose={(cwd) => set({ cwd })}
              >
                <Input
                  {...ids}
                  className="min-w-0 flex-1 font-mono text-xs"
                  value={spec.cwd ?? ""}
                  onChange={(e) => set({ cwd: e.target.value })}
                />
              </Chosen>
            )}
          </Field>
        </>
      ) : (
        <>
          <Field place="url" label="URL">
            {(ids) => (
              <Input
                {...ids}
                type="url"
                className="font-mono text-xs"
                value={spec.url ?? ""}
                onChange={(e) => set({ url: e.target.value })}
              />
            )}
          </Field>
          <KeyRows
            label="Headers"
            place="headers"
            noun="header"
            values={spec.headers ?? {}}
            onChange={(headers) => set({ headers })}
          />
        </>
      )}
      <LimitsEditor spec={spec} onChange={onChange} />
      <RootsEditor roots={spec.roots ?? []} onChange={(roots) => set({ roots })} />
      {!stdio && <AuthEditor auth={spec.auth} onChange={(auth) => set({ auth })} />}
    </div>
  );
}

interface ChosenProps {
  label: string;
  choose: () => Promise<string>;
  onChoose: (path: string) => void;
  children: ReactNode;
}

/** A field for a path, with the system's dialog beside it where there is one. */
function Chosen({ label, choose, onChoose, children }: ChosenProps) {
  if (!canChoose()) return children;
  const ask = () => choose().then((path) => path && onChoose(path), toastError);
  return (
    <div className="flex items-center gap-1.5">
      {children}
      <IconButton label={label} size="icon-sm" onClick={() => void ask()}>
        <FolderOpen />
      </IconButton>
    </div>
  );
}

function ArgRows({ args, onChange }: { args: readonly string[]; onChange: (args: string[]) => void }) {
  return (
    <fieldset className="grid grid-cols-1 gap-1.5">
      <legend className="mb-1 font-medium text-sm">Arguments</legend>
      {args.map((a, i) => (
        <div key={i} className="flex items-center gap-1.5" data-place={`args.${i}`}>
          <span className="nums w-5 text-right text-ink-3 text-xs">{i + 1}</span>
          <Input
            aria-label={`Argument ${i + 1}`}
            className="min-w-0 flex-1 font-mono text-xs"
            value={a}
            onChange={(e) => onChange(args.map((x, j) => (j === i ? e.target.value : x)))}
          />
          <IconButton
            label={`Remove argument ${i + 1}`}
            size="icon-sm"
            onClick={() => onChange(args.filter((_, j) => j !== i))}
          >
            <X />
          </IconButton>
        </div>
      ))}
      <Button
        size="sm"
        className="justify-self-start"
        onClick={(e) => {
          onChange([...args, ""]);
          focusAdded(e.currentTarget);
        }}
      >
        <Plus /> Add argument
      </Button>
    </fieldset>
  );
}
