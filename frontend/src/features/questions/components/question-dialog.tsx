import { useState } from "react";
import type { Question, QuestionAction } from "@/api/types";
import { SchemaForm } from "@/components/schema-form";
import { Button } from "@/components/ui/button";
import { Callout } from "@/components/ui/callout";
import { Dialog } from "@/components/ui/dialog";
import { openOutside } from "@/lib/clipboard";
import { problemSentence, validate } from "@/lib/schema";

type Values = Record<string, unknown>;

interface Props {
  question: Question;
  more: number;
  busy: boolean;
  onAnswer: (action: QuestionAction, content?: Values) => void;
}

/** What a server asks in the middle of a call. Closing it answers nothing. */
export function QuestionDialog({ question, more, busy, onAnswer }: Props) {
  const [values, setValues] = useState<Values>(() => ({
    ...((question.defaults as Values | undefined) ?? {}),
  }));
  const [opened, setOpened] = useState(false);
  const schema = question.schema as Values | undefined;
  const problem = schema && question.kind === "form" ? validate(schema, values)[0] : undefined;

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onAnswer("cancel")}
      title={
        <>
          <span className="font-mono">{question.server}</span> asks
        </>
      }
      description={question.message}
    >
      <div className="min-h-0 overflow-y-auto px-4 pb-3" data-testid="question">
        {question.problem && <Callout tone="warning">{question.problem}</Callout>}
        {question.kind === "form" && schema && (
          <SchemaForm
            schema={schema}
            value={values}
            onChange={setValues}
            disabled={busy}
            idPrefix="question"
          />
        )}
        {question.kind === "visit" && (
          <div className="grid grid-cols-1 gap-2 text-sm">
            <p>
              It wants you to go to <strong className="font-mono">{question.host}</strong>:
            </p>
            <p className="rounded-md bg-sunken px-2.5 py-1.5 font-mono text-xs [overflow-wrap:anywhere]">
              {question.url}
            </p>
          </div>
        )}
      </div>
      <div className="flex flex-wrap items-center gap-2 border-line border-t px-4 py-3">
        <span className="min-w-0 flex-1 text-ink-3 text-xs">
          {problem ? problemSentence(problem, schema) : more > 0 ? `${more} more waiting` : ""}
        </span>
        <Button disabled={busy} onClick={() => onAnswer("decline")}>
          Decline
        </Button>
        {question.kind === "visit" && (!question.wait || !opened) && (
          <Button
            variant="primary"
            disabled={busy}
            onClick={() => {
              openOutside(question.url ?? "");
              setOpened(true);
              if (!question.wait) onAnswer("accept");
            }}
          >
            Open in browser
          </Button>
        )}
        {question.kind === "visit" && question.wait && opened && (
          <Button variant="primary" disabled={busy} onClick={() => onAnswer("accept")}>
            I am done there
          </Button>
        )}
        {question.kind === "form" && (
          <Button
            variant="primary"
            disabled={busy || problem !== undefined}
            onClick={() => onAnswer("accept", values)}
          >
            Send
          </Button>
        )}
      </div>
    </Dialog>
  );
}
