import { RotateCw } from "lucide-react";
import { CopyButton } from "@/components/copy-button";
import { ErrorNote } from "@/components/error-note";
import { TextBlock } from "@/components/json-view";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { useServerLog } from "../queries";

/** The file about a server: what it printed and what happened to it, also in earlier runs of the app. */
export function LogDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const { data, error, refetch } = useServerLog(name);
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Log of ${name}`}
      description="What the server printed and what happened to it, also in earlier runs. Known secrets are blanked out."
      className="w-[min(820px,calc(100vw-32px))]"
    >
      <div className="grid min-h-0 grid-cols-1 gap-3 overflow-y-auto px-4 pt-1 pb-4" data-testid="log-dialog">
        <div className="flex items-center gap-2 text-ink-2 text-xs">
          <span className="min-w-0 flex-1 font-mono [overflow-wrap:anywhere]">{data?.path}</span>
          {data && <CopyButton text={data.path} label="Copy the path of the log" />}
          <Button size="sm" onClick={() => void refetch()}>
            <RotateCw /> Refresh
          </Button>
        </div>
        {error && <ErrorNote error={error} title="The log could not be read." />}
        {data?.lines.length === 0 && (
          <p className="text-ink-2 text-sm">
            Nothing was written yet. The log begins when the server is started.
          </p>
        )}
        {data && data.lines.length > 0 && (
          <TextBlock label="Log" text={data.lines.join("\n")} className="max-h-[60vh]" />
        )}
      </div>
    </Dialog>
  );
}
