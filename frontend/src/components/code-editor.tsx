import { lazy, Suspense } from "react";
import { cn } from "@/lib/cn";

/** One thing that can be written at a place. */
export interface Hint {
  label: string;
  type: "function" | "variable" | "property" | "namespace";
  detail?: string;
  info?: string;
}

/** What can be written after a text such as "args."; "" is the beginning of an expression. */
export type Hints = Readonly<Record<string, readonly Hint[]>>;

/** A fault in the text. Line and column count from 1; without a line it is not marked. */
export interface CodeProblem {
  line?: number;
  column?: number;
  message: string;
}

export interface CodeEditorProps {
  value: string;
  onChange?: (value: string) => void;
  language: "json" | "javascript" | "text";
  label: string;
  placeholder?: string;
  readOnly?: boolean;
  /** Marks JSON faults while typing. */
  lint?: boolean;
  /** Offered while typing, and with Ctrl+Space. Must not appear or disappear later. */
  hints?: Hints;
  problem?: CodeProblem;
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
