import { ErrorNote } from "@/components/error-note";
import { ResultContent } from "@/components/tool-result";
import type { Run } from "../queries";

interface FeatureOutcomeProps {
  run: Run;
  title: string;
  onRetry: () => void;
}

/** What reading a resource or getting a prompt came to. */
export function FeatureOutcome({ run, title, onRetry }: FeatureOutcomeProps) {
  if (run.running)
    return (
      <p className="text-ink-2 text-sm" role="status">
        Waiting for the server…
      </p>
    );
  const failed = run.error ?? (run.output?.error ? new Error(run.output.error) : undefined);
  if (failed !== undefined) return <ErrorNote error={failed} title={title} onRetry={onRetry} />;
  if (!run.output) return null;
  return <ResultContent result={run.output.result} />;
}
