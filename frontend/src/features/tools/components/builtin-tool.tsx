import type { ToolView } from "@/api/types";
import { ToolBadges } from "@/components/tool-badges";
import { TryIt } from "./try-it";

/** One of the product's own tools, and a place to try it. */
export function BuiltinTool({ view }: { view: ToolView }) {
  return (
    <article className="grid max-w-3xl grid-cols-1 gap-4" aria-label={`Built-in tool ${view.tool.ref.name}`}>
      <div className="grid gap-1">
        <h3 className="font-semibold text-lg">{view.tool.title}</h3>
        <p className="flex flex-wrap items-center gap-2">
          <span className="font-mono text-ink-2 text-xs">{view.alias}</span>
          <ToolBadges annotations={view.tool.annotations} />
        </p>
        <p className="text-sm">{view.tool.description}</p>
        <p className="text-ink-2 text-sm">
          {view.decision.effect === "allow" ? "Runs without asking. " : "You are asked before it runs. "}
          No agent has it until you choose it in the agent's settings. Folders are chosen in Settings, under
          Tools.
        </p>
      </div>
      <TryIt view={view} />
    </article>
  );
}
