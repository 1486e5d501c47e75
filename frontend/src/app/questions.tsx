import { toastError } from "@/components/toast";
import { QuestionDialog, useAnswer, useQuestions } from "@/features/questions";

/** The oldest open question of a server, over whatever the person is doing. */
export function Questions() {
  const open = useQuestions().data ?? [];
  const answer = useAnswer();
  const first = open[0];
  if (!first) return null;
  return (
    <QuestionDialog
      key={first.id}
      question={first}
      more={open.length - 1}
      busy={answer.isPending}
      onAnswer={(action, content) =>
        answer.mutate({ id: first.id, action, content }, { onError: (err) => toastError(err) })
      }
    />
  );
}
