import { lazy, Suspense } from "react";
import { cn } from "@/lib/cn";

export interface CodeEditorProps {
  value: string;
  onChange?: (value: string) => void;
  language: "json" | "javascript" | "text";
  label: string;
  placeholder?: string;
  readOnly?: boolean;
  /** Marks JSON faults while typing. */
  lint?: boolean;
  describedBy?: string;
  invalid?: boolean;
  className?: string;
}

const Impl = lazy(() => import("./code-editor-impl"));

export function CodeEditor(props: CodeEditorProps) {
  return (
    <div
      className={cn(
        "min-h-24 overflow-auto rounded-md border border-line-strong/70 bg-raised focus-within:outline-2 focus-within:outline-accent",
        props.invalid && "border-danger",
        props.className,
      )}
    >
      <Suspense
        fallback={
          <pre aria-hidden className="p-2 pl-11 font-mono text-xs opacity-60">
            {props.value}
          </pre>
        }
      >
        <Impl {...props} />
      </Suspense>
    </div>
  );
}
