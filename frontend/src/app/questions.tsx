import type { QuestionAction } from "@/api/types";
import { toastError } from "@/components/toast";
import { QuestionDialog, SamplingDialog, useAnswer, useQuestions } from "@/features/questions";

/** The oldest open question of a server, over whatever the person is doing. */
export function Questions() {
  const open = useQuestions().data ?? [];
  const answer = useAnswer();
  const first = open[0];
  if (!first) return null;
  const props = {
    question: first,
    more: open.length - 1,
    busy: answer.isPending,
    onAnswer: (action: QuestionAction, content?: Record<string, unknown>) =>
      answer.mutate({ id: first.id, action, content }, { onError: (err) => toastError(err) }),
  };
  if (first.sampling) return <SamplingDialog key={first.id} sampling={first.sampling} {...props} />;
  return <QuestionDialog key={first.id} {...props} />;
}
