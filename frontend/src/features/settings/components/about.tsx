import { CopyButton } from "@/components/copy-button";
import { ErrorNote } from "@/components/error-note";
import { useInfo } from "../queries";

export function About() {
  const info = useInfo();
  if (info.error)
    return (
      <ErrorNote
        error={info.error}
        title="Patchbay could not tell about itself."
        onRetry={() => void info.refetch()}
      />
    );
  const i = info.data;
  if (!i) return null;
  const rows: [string, string, boolean][] = [
    ["Version", `${i.version} on ${i.platform}`, false],
    ["Servers and tools", i.configPath, true],
    ["Conversations and audit log", i.dataDir, true],
    ["Logs", i.logDir, true],
    ["Secrets", i.secretsIn, false],
  ];
  return (
    <dl className="grid divide-y divide-line rounded-lg border border-line bg-surface">
      {rows.map(([name, value, path]) => (
        <div key={name} className="flex min-h-11 flex-wrap items-center gap-x-4 gap-y-0.5 px-3 py-1.5">
          <dt className="w-52 shrink-0 text-ink-2 text-sm">{name}</dt>
          <dd
            className={
              path ? "min-w-0 flex-1 font-mono text-xs [overflow-wrap:anywhere]" : "min-w-0 flex-1 text-sm"
            }
          >
            {value}
          </dd>
          {path && (
            <dd>
              <CopyButton text={value} label={`Copy the path of ${name.toLowerCase()}`} />
            </dd>
          )}
        </div>
      ))}
    </dl>
  );
}
