import { useId } from "react";
import type { Capabilities } from "@/api/types";
import { Field } from "@/components/ui/field";
import { Textarea } from "@/components/ui/input";

interface AccessEditorProps {
  value: Capabilities;
  onChange: (change: Partial<Capabilities>) => void;
}

const lists = [
  { key: "hosts", label: "Hosts", hint: "For fetch, one a line.", example: "api.example.com\n*.example.org" },
  { key: "secrets", label: "Secrets", hint: "For secrets.get, by name.", example: "example/token" },
  { key: "folders", label: "Folders to read", hint: "For files.read and files.list.", example: "~/notes" },
  {
    key: "writeFolders",
    label: "Folders to read and write",
    hint: "For files.write as well.",
    example: "~/notes/out",
  },
] as const;

/** What a tool may reach. What is not listed cannot be reached. */
export function AccessEditor({ value, onChange }: AccessEditorProps) {
  const name = useId();
  return (
    <div className="grid grid-cols-1 gap-4">
      <p className="text-ink-2 text-sm">
        The code runs in a process of its own that reaches nothing by itself. What it needs stands here.
      </p>
      <div className="grid grid-cols-1 gap-4 @lg:grid-cols-2">
        {lists.map((l) => (
          <Lines
            key={l.key}
            label={l.label}
            hint={l.hint}
            example={l.example}
            value={value[l.key] ?? []}
            onChange={(list) => onChange({ [l.key]: list.length > 0 ? list : undefined })}
          />
        ))}
      </div>
      <fieldset className="grid gap-2">
        <legend className="mb-1 font-medium text-sm">Other tools</legend>
        <label className="flex items-start gap-2 text-sm">
          <input
            type="radio"
            name={name}
            className="mt-0.5 accent-(--accent)"
            checked={value.tools === undefined}
            onChange={() => onChange({ tools: undefined })}
          />
          Every tool that you allow when asked
        </label>
        <label className="flex items-start gap-2 text-sm">
          <input
            type="radio"
            name={name}
            className="mt-0.5 accent-(--accent)"
            checked={value.tools !== undefined}
            onChange={() => onChange({ tools: [] })}
          />
          Only these; with none listed, no tool
        </label>
        {value.tools && (
          <Lines
            label="Tools"
            hint="For tools.call, as models name them."
            example="server__tool"
            value={value.tools}
            onChange={(tools) => onChange({ tools })}
          />
        )}
      </fieldset>
    </div>
  );
}

interface LinesProps {
  label: string;
  hint: string;
  example: string;
  value: readonly string[];
  onChange: (list: string[]) => void;
}

function Lines({ label, hint, example, value, onChange }: LinesProps) {
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <Textarea
          {...ids}
          rows={2}
          className="font-mono text-xs"
          placeholder={example}
          defaultValue={value.join("\n")}
          onChange={(e) =>
            onChange(
              e.target.value
                .split("\n")
                .map((l) => l.trim())
                .filter(Boolean),
            )
          }
        />
      )}
    </Field>
  );
}
