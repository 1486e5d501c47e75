import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { questions } from "@/api/generated/calls";
import { keys } from "@/api/keys";
import type { AnswerInput } from "@/api/types";

export function useQuestions() {
  return useQuery({ queryKey: keys.questions.all, queryFn: async () => (await questions.get()).questions });
}

export function useAnswer() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: AnswerInput) => questions.answer(input),
    onSettled: () => client.invalidateQueries({ queryKey: keys.questions.all }),
  });
}
