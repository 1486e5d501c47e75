import type { TestReport } from "@/api/types";
import { TextBlock } from "@/components/json-view";
import { StatusIcon } from "@/components/status-icon";
import { cn } from "@/lib/cn";
import { formatMillis, plural } from "@/lib/format";
import type { StateLook } from "@/lib/status";

const looks: Record<TestReport["steps"][number]["status"], StateLook> = {
  ok: { word: "OK", shape: "filled", tone: "success", live: false },
  warning: { word: "Warning", shape: "triangle", tone: "warning", live: false },
  failed: { word: "Failed", shape: "triangle-x", tone: "danger", live: false },
};

/** What a test of a configuration found, step by step. */
export function TestReportView({ report }: { report: TestReport }) {
  return (
    <section
      aria-label="Test"
      className="grid grid-cols-1 gap-2 rounded-md border border-line bg-surface p-3"
      data-testid="test-report"
    >
      <p
        className={cn(
          "flex items-start gap-2 font-medium text-sm",
          report.ok ? "text-success" : "text-danger",
        )}
        role="status"
      >
        <StatusIcon look={report.ok ? looks.ok : looks.failed} className="mt-px" />
        <span className="min-w-0 [overflow-wrap:anywhere]">{report.message}</span>
      </p>
      <ol className="grid grid-cols-1 gap-1">
        {report.steps.map((s, i) => (
          <li key={i} className="flex items-start gap-2 text-xs">
            <StatusIcon look={looks[s.status]} label={looks[s.status].word} className="size-3.5" />
            <span className="w-28 shrink-0 font-medium">{s.name}</span>
            <span className="min-w-0 flex-1 text-ink-2 [overflow-wrap:anywhere]">
              {s.message === report.message ? looks[s.status].word : s.message}
            </span>
            <span className="nums shrink-0 text-ink-3">{formatMillis(s.millis)}</span>
          </li>
        ))}
      </ol>
      {report.tools.length > 0 && (
        <p className="text-ink-2 text-xs">
          {plural(report.tools.length, "tool")}:{" "}
          <span className="font-mono">
            {report.tools
              .slice(0, 12)
              .map((t) => t.ref.name)
              .join(", ")}
            {report.tools.length > 12 && ", …"}
          </span>
        </p>
      )}
      {!report.ok && report.detail && <TextBlock label="Details" text={report.detail} className="max-h-40" />}
    </section>
  );
}
