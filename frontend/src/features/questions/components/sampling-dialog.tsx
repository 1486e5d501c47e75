import { useState } from "react";
import type { Question, QuestionAction, Sampling } from "@/api/types";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Field } from "@/components/ui/field";
import { Input, Textarea } from "@/components/ui/input";

interface SamplingDialogProps {
  question: Question;
  sampling: Sampling;
  more: number;
  busy: boolean;
  onAnswer: (action: QuestionAction, content?: Record<string, unknown>) => void;
}

/** What a server wants to ask a model, or what it would get back. A person may change either. */
export function SamplingDialog({ question, sampling, more, busy, onAnswer }: SamplingDialogProps) {
  const asking = question.kind === "sampling";
  const messages = sampling.messages ?? [];
  const [system, setSystem] = useState(sampling.systemPrompt ?? "");
  const [texts, setTexts] = useState(() => messages.map((m) => m.text ?? ""));
  const [maxTokens, setMaxTokens] = useState(sampling.maxTokens);
  const [answer, setAnswer] = useState(sampling.answer ?? "");
  const tokensWrong = !(Number.isInteger(maxTokens) && maxTokens >= 1 && maxTokens <= sampling.maxTokens);
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onAnswer("cancel")}
      title={
        <>
          <span className="font-mono">{question.server}</span>{" "}
          {asking ? "wants to ask a model" : "would get this answer"}
        </>
      }
      description={question.message}
    >
      <div className="grid min-h-0 grid-cols-1 gap-3 overflow-y-auto px-4 pb-3" data-testid="question">
        <p className="text-ink-2 text-sm">
          {asking ? "It would be answered by " : "Written by "}
          <span className="font-mono text-ink">{sampling.model}</span>
          {asking && sampling.hints && sampling.hints.length > 0 && (
            <>
              . The server would like <span className="font-mono">{sampling.hints.join(", ")}</span>
            </>
          )}
          .
        </p>
        {asking ? (
          <>
            <Field label="System prompt">
              {(ids) => (
                <Textarea
                  {...ids}
                  rows={2}
                  value={system}
                  disabled={busy}
                  onChange={(e) => setSystem(e.target.value)}
                />
              )}
            </Field>
            {messages.map((m, i) =>
              m.data ? (
                <p key={i} className="text-sm">
                  Message {i + 1}, {m.role}: an image ({m.mimeType})
                </p>
              ) : (
                <Field key={i} label={`Message ${i + 1}, ${m.role}`}>
                  {(ids) => (
                    <Textarea
                      {...ids}
                      rows={Math.min(8, Math.max(2, (texts[i] ?? "").split("\n").length))}
                      value={texts[i] ?? ""}
                      disabled={busy}
                      onChange={(e) => setTexts((all) => all.map((t, j) => (j === i ? e.target.value : t)))}
                    />
                  )}
                </Field>
              ),
            )}
            <Field
              label="Longest answer, in tokens"
              error={tokensWrong ? `A whole number from 1 to ${sampling.maxTokens}` : undefined}
            >
              {(ids) => (
                <Input
                  {...ids}
                  type="number"
                  min={1}
                  max={sampling.maxTokens}
                  className="w-32"
                  value={Number.isNaN(maxTokens) ? "" : maxTokens}
                  disabled={busy}
                  onChange={(e) => setMaxTokens(e.target.valueAsNumber)}
                />
              )}
            </Field>
          </>
        ) : (
          <Field label="The answer">
            {(ids) => (
              <Textarea
                {...ids}
                rows={10}
                value={answer}
                disabled={busy}
                onChange={(e) => setAnswer(e.target.value)}
              />
            )}
          </Field>
        )}
      </div>
      <div className="flex flex-wrap items-center gap-2 border-line border-t px-4 py-3">
        <span className="min-w-0 flex-1 text-ink-3 text-xs">{more > 0 ? `${more} more waiting` : ""}</span>
        <Button disabled={busy} onClick={() => onAnswer("decline")}>
          Decline
        </Button>
        <Button
          variant="primary"
          disabled={busy || (asking && tokensWrong)}
          onClick={() => onAnswer("accept", asking ? { systemPrompt: system, texts, maxTokens } : { answer })}
        >
          {asking ? "Ask the model" : "Give it to the server"}
        </Button>
      </div>
    </Dialog>
  );
}
