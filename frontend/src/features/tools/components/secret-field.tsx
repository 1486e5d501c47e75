import { useState } from "react";
import { ErrorNote } from "@/components/error-note";
import { toastDone } from "@/components/toast";
import { Button } from "@/components/ui/button";
import { Field } from "@/components/ui/field";
import { Input } from "@/components/ui/input";
import { useSettled } from "@/components/use-settled";
import { useMissingSecrets, useSaveSecret } from "../queries";

/** A secret by its name, and a way to give it a value, which is never shown again. */
export function SecretField({ name, onName }: { name: string; onName?: (name: string) => void }) {
  const [value, setValue] = useState("");
  const settled = useSettled(name, 300);
  const missing = useMissingSecrets(settled ? [settled] : []).data;
  const save = useSaveSecret();
  const state =
    missing === undefined || settled !== name
      ? ""
      : missing.includes(name)
        ? "It has no value yet."
        : "It has a value. Saving another replaces it.";
  const keep = () => {
    if (value.trim() === "" || name === "") return;
    save.mutate(
      { name, value: value.trim() },
      {
        onSuccess: () => {
          setValue("");
          toastDone(`The secret ${name} is kept`);
        },
      },
    );
  };
  return (
    <div className="grid grid-cols-1 gap-2 rounded-md border border-line bg-sunken p-3">
      {onName && (
        <Field label="Secret" hint="Its name. tools.json holds the name only.">
          {(ids) => (
            <Input
              {...ids}
              className="font-mono text-xs"
              value={name}
              onChange={(e) => onName(e.target.value.replace(/[{}$\s]/g, ""))}
            />
          )}
        </Field>
      )}
      <Field label={onName ? "Value" : name} hint={state}>
        {(ids) => (
          <div className="flex gap-2">
            <Input
              {...ids}
              type="password"
              autoComplete="off"
              value={value}
              onChange={(e) => setValue(e.target.value)}
              onKeyDown={(e) => {
                if (e.key === "Enter") {
                  e.preventDefault();
                  keep();
                }
              }}
            />
            <Button disabled={value === "" || name === "" || save.isPending} onClick={keep}>
              Keep
            </Button>
          </div>
        )}
      </Field>
      {save.error && <ErrorNote error={save.error} title="The secret was not kept." />}
    </div>
  );
}
