import { useId } from "react";
import type { Completion } from "@/api/types";
import { Input } from "@/components/ui/input";
import { useCompletion } from "../queries";

interface CompletedInputProps {
  ids: { id: string; "aria-describedby"?: string; "aria-invalid"?: true };
  server: string;
  /** Whether the server completes arguments at all. */
  completes: boolean;
  completion: Completion;
  required?: boolean;
  onChange: (value: string) => void;
}

/** A field for which the server proposes values while one types. */
export function CompletedInput({
  ids,
  server,
  completes,
  completion,
  required,
  onChange,
}: CompletedInputProps) {
  const list = useId();
  const proposals = useCompletion(server, completes, completion).data?.values ?? [];
  return (
    <>
      <Input
        {...ids}
        className="font-mono"
        value={completion.value}
        required={required}
        list={completes ? list : undefined}
        onChange={(e) => onChange(e.target.value)}
      />
      {completes && (
        <datalist id={list}>
          {proposals.map((v) => (
            <option key={v} value={v} />
          ))}
        </datalist>
      )}
    </>
  );
}
