import { lazy, Suspense } from "react";

export interface CodeDiffProps {
  /** The text of then, whose lines are shown as removed. */
  before: string;
  /** The text of now. */
  after: string;
  language: "json" | "javascript";
  label: string;
}

const Impl = lazy(() => import("./code-diff-impl"));

/** What is different between two texts, line by line. */
export function CodeDiff(props: CodeDiffProps) {
  return (
    <section
      aria-label={props.label}
      className="max-h-96 overflow-auto rounded-md border border-line bg-raised"
    >
      <Suspense fallback={<p className="p-3 text-ink-3 text-sm">Comparing…</p>}>
        <Impl {...props} />
      </Suspense>
    </section>
  );
}
