import { Fragment, memo } from "react";
import { cn } from "@/lib/cn";
import { CopyButton } from "./copy-button";

const token = /("(?:\\.|[^"\\])*")(\s*:)?|\b(true|false|null)\b|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/g;
const colourLimit = 60_000;

function coloured(text: string) {
  if (text.length > colourLimit) return text;
  const out = [];
  let at = 0;
  for (const m of text.matchAll(token)) {
    if (m.index > at) out.push(<Fragment key={at}>{text.slice(at, m.index)}</Fragment>);
    const kind = m[2] ? "text-accent" : m[1] ? "text-success" : "text-warning";
    out.push(
      <span key={`t${m.index}`} className={kind}>
        {m[2] ? m[1] : m[0]}
      </span>,
    );
    if (m[2]) out.push(<Fragment key={`c${m.index}`}>{m[2]}</Fragment>);
    at = m.index + m[0].length;
  }
  out.push(<Fragment key="rest">{text.slice(at)}</Fragment>);
  return out;
}

interface TextBlockProps {
  text: string;
  label: string;
  json?: boolean;
  copy?: boolean;
  className?: string;
}

/** Read-only text in mono, with a scroll of its own and a way to copy it. */
export const TextBlock = memo(function TextBlock({
  text,
  label,
  json,
  copy = true,
  className,
}: TextBlockProps) {
  return (
    <div className="group relative min-w-0">
      <section
        // A box that scrolls must be reachable by keyboard.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
        tabIndex={0}
        aria-label={label}
        className={cn(
          "max-h-80 overflow-auto whitespace-pre-wrap rounded-md border border-line bg-sunken px-3 py-2 pr-9 font-mono text-xs leading-normal [overflow-wrap:anywhere]",
          className,
        )}
      >
        {json ? coloured(text) : text}
      </section>
      {copy && (
        <CopyButton
          text={text}
          label={`Copy ${label.toLowerCase()}`}
          className="absolute top-1 right-1.5 bg-sunken opacity-70 hover:opacity-100 focus-visible:opacity-100"
        />
      )}
    </div>
  );
});
