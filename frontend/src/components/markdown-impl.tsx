import { Image as ImageIcon } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";
import { type Components, Streamdown } from "streamdown";
import { openOutside } from "@/lib/clipboard";

function Anchor({ href, children }: { href?: string; children?: ReactNode }) {
  if (!href || !/^(https?:|mailto:)/i.test(href)) return <span>{children}</span>;
  return (
    <a
      href={href}
      title={href}
      rel="noopener noreferrer"
      onClick={(e) => {
        e.preventDefault();
        openOutside(href);
      }}
    >
      {children}
    </a>
  );
}

// A picture from elsewhere would tell its host what is read here.
function NoImage({ alt }: { alt?: string }) {
  return (
    <span className="inline-flex items-center gap-1 rounded-sm bg-sunken px-1.5 text-ink-2 text-xs">
      <ImageIcon className="size-3" aria-hidden /> {alt || "Image"}, not loaded
    </span>
  );
}

type Plain<T extends keyof React.JSX.IntrinsicElements> = ComponentProps<T> & { node?: unknown };

function plain<T extends keyof React.JSX.IntrinsicElements>(tag: T) {
  const Tag = tag as "div";
  return function PlainElement({ node: _node, className: _class, style: _style, ...rest }: Plain<T>) {
    return <Tag {...(rest as ComponentProps<"div">)} />;
  };
}

function Pre({ node: _node, className: _class, ...rest }: Plain<"pre">) {
  // A box that scrolls must be reachable by keyboard.
  // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
  return <pre tabIndex={0} {...rest} />;
}

const components = {
  a: Anchor,
  img: NoImage,
  pre: Pre,
  ...Object.fromEntries(
    (
      [
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "p",
        "ul",
        "ol",
        "li",
        "code",
        "blockquote",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "hr",
        "strong",
        "em",
        "inlineCode",
      ] as const
    ).map((t) => [t, plain(t === "inlineCode" ? "code" : t)]),
  ),
} as unknown as Components;

export default function MarkdownImpl({ text, streaming }: { text: string; streaming?: boolean }) {
  return (
    <Streamdown
      className="prose-chat"
      mode={streaming ? "streaming" : "static"}
      isAnimating={streaming}
      controls={false}
      components={components}
      linkSafety={{ enabled: false }}
    >
      {text}
    </Streamdown>
  );
}
