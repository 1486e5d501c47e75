import { lazy, Suspense } from "react";

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
      <Impl {...props} />
    </Suspense>
  );
}
