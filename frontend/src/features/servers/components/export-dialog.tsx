import { useEffect, useState } from "react";
import { ErrorNote } from "@/components/error-note";
import { TextBlock } from "@/components/json-view";
import { Dialog } from "@/components/ui/dialog";
import { Field } from "@/components/ui/field";
import { NativeSelect } from "@/components/ui/input";
import { exportServer, useExportFormats } from "../queries";

/** A server as another program keeps it. Secrets are placeholders. */
export function ExportDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const formats = useExportFormats();
  const [format, setFormat] = useState("claude-code");
  const [out, setOut] = useState<{ text?: string; error?: unknown }>({});
  const chosen = formats.data?.find((f) => f.id === format);

  useEffect(() => {
    let gone = false;
    exportServer(name, format).then(
      (got) => gone || setOut({ text: got.text }),
      (error: unknown) => gone || setOut({ error }),
    );
    return () => {
      gone = true;
    };
  }, [name, format]);

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Export ${name}`}
      description="Secrets are replaced by names such as ${API_KEY}; fill them in there."
      className="w-[min(640px,calc(100vw-32px))]"
    >
      <div
        className="grid min-h-0 grid-cols-1 gap-3 overflow-y-auto px-4 pt-1 pb-4"
        data-testid="export-dialog"
      >
        <Field label="For" hint={chosen && `Belongs into ${chosen.where}.`}>
          {(ids) => (
            <NativeSelect {...ids} value={format} onChange={(e) => setFormat(e.target.value)}>
              {(formats.data ?? []).map((f) => (
                <option key={f.id} value={f.id}>
                  {f.name}
                </option>
              ))}
            </NativeSelect>
          )}
        </Field>
        {out.error !== undefined && <ErrorNote error={out.error} title={`${name} was not exported.`} />}
        {out.text !== undefined && <TextBlock label="Configuration" text={out.text} className="max-h-80" />}
      </div>
    </Dialog>
  );
}
