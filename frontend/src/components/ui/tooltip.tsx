import { Tooltip } from "radix-ui";
import { cloneElement, type HTMLAttributes, type ReactElement, type ReactNode, useState } from "react";

export const TipProvider = Tooltip.Provider;

export function Tip({
  text,
  children,
  side,
}: {
  text: ReactNode;
  children: ReactNode;
  side?: "top" | "bottom" | "left" | "right";
}) {
  if (!text) return children;
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className="z-50 max-w-80 animate-appear rounded-md bg-ink px-2 py-1 text-canvas text-xs shadow-float"
        >
          {text}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}

/**
 * The tip of something that cannot have the focus, such as a badge in a row of a long list: it costs
 * nothing until the pointer comes.
 */
export function HoverTip({
  text,
  children,
}: {
  text: ReactNode;
  children: ReactElement<HTMLAttributes<HTMLElement>>;
}) {
  const [near, setNear] = useState(false);
  if (near) return <Tip text={text}>{children}</Tip>;
  return cloneElement(children, { onPointerEnter: () => setNear(true) });
}
