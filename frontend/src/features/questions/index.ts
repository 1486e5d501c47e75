export { QuestionDialog } from "./components/question-dialog";
export { useAnswer, useQuestions } from "./queries";
