import { lazy, memo, Suspense } from "react";

const Impl = lazy(() => import("./markdown-impl"));

/** Text of a model. It is hostile input: no HTML, no remote images, links open outside. */
export const Markdown = memo(function Markdown({ text, streaming }: { text: string; streaming?: boolean }) {
  return (
    <Suspense fallback={<div className="prose-chat whitespace-pre-wrap">{text}</div>}>
      <Impl text={text} streaming={streaming} />
    </Suspense>
  );
});
