import { CopyButton } from "@/components/copy-button";
import { Callout } from "@/components/ui/callout";
import { useInfo } from "../queries";

/** Says what is wrong in tools.json, and where. The last good state keeps running. */
export function ConfigBanner({ className }: { className?: string }) {
  const info = useInfo().data;
  if (!info) return null;
  const { configError: error, configPath } = info;
  const warnings = info.configWarnings ?? [];
  if (!error && warnings.length === 0) return null;
  const place = error?.line ? `line ${error.line}${error.column ? `, column ${error.column}` : ""}` : "";
  return (
    <div className={className} data-testid="config-banner">
      {error ? (
        <Callout
          role="alert"
          tone="danger"
          title={`tools.json cannot be read${place ? `: ${place}` : ""}`}
          actions={<CopyButton wide text={configPath} label="Copy path" />}
        >
          {error.message}{" "}
          <span className="text-ink-2">
            The last good state keeps running. Mend the file and it is read again:
          </span>{" "}
          <span className="font-mono text-xs">{configPath}</span>
        </Callout>
      ) : (
        <Callout
          tone="warning"
          title="tools.json has something to look at"
          actions={<CopyButton wide text={configPath} label="Copy path" />}
        >
          <ul>
            {warnings.map((w) => (
              <li key={w}>{w}</li>
            ))}
          </ul>
          <span className="font-mono text-ink-2 text-xs">{configPath}</span>
        </Callout>
      )}
    </div>
  );
}
