import { lazy, Suspense } from "react";
import { FormBoundary } from "./form-boundary";

export interface SchemaFormProps {
  schema: Record<string, unknown>;
  value: Record<string, unknown>;
  onChange: (value: Record<string, unknown>) => void;
  disabled?: boolean;
  idPrefix?: string;
}

const Impl = lazy(() => import("./schema-form-impl"));

/** A form made from a JSON Schema. */
export function SchemaForm(props: SchemaFormProps) {
  return (
    <Suspense fallback={<p className="text-ink-3 text-sm">Reading the form…</p>}>
      <FormBoundary of={props.schema}>
        <Impl {...props} />
      </FormBoundary>
    </Suspense>
  );
}
