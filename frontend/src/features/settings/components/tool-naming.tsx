import { toastError } from "@/components/toast";
import { useSettings, useUpdateSettings } from "../queries";

const namings = [
  { value: "", example: "github__create_issue", about: "Server and tool" },
  { value: "mcp__server__tool", example: "mcp__github__create_issue", about: "As Claude Code writes them" },
  { value: "mcp_server_tool", example: "mcp_github_create_issue", about: "With single underscores" },
];

/** How models see the names of tools. */
export function ToolNaming() {
  const naming = useSettings().data?.toolNaming ?? "";
  const update = useUpdateSettings();
  return (
    <fieldset className="grid grid-cols-1 gap-2">
      <legend className="mb-2 font-medium text-sm">How models see the names of tools</legend>
      {namings.map(({ value, example, about }) => (
        <label
          key={value}
          className="flex min-h-9 items-center gap-3 rounded-md border border-line bg-surface px-3 py-1.5 text-sm has-checked:border-accent has-checked:bg-accent-soft hover:bg-hover"
        >
          <input
            type="radio"
            name="tool-naming"
            className="accent-accent"
            checked={naming === value}
            onChange={() => update.mutate({ toolNaming: value }, { onError: (e) => toastError(e) })}
          />
          <span className="font-mono text-xs">{example}</span>
          <span className="text-ink-2">{about}</span>
        </label>
      ))}
      <p className="text-ink-2 text-sm">
        Names that are longer than 64 characters, or that could be mistaken for another tool's, end with a few
        letters of their own. The page always shows the real name.
      </p>
    </fieldset>
  );
}
