export { QuestionDialog } from "./components/question-dialog";
export { SamplingDialog } from "./components/sampling-dialog";
export { useAnswer, useQuestions } from "./queries";
