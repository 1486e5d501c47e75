import { DropdownMenu as Primitive } from "radix-ui";
import { type ComponentProps, useRef } from "react";
import { cn } from "@/lib/cn";

export const Menu = Primitive.Root;
export const MenuTrigger = Primitive.Trigger;
export const MenuRadioGroup = Primitive.RadioGroup;

export function MenuContent({ className, ...rest }: ComponentProps<typeof Primitive.Content>) {
  return (
    <Primitive.Portal>
      <Primitive.Content
        sideOffset={4}
        collisionPadding={8}
        className={cn(
          "z-50 max-h-(--radix-dropdown-menu-content-available-height) min-w-44 animate-appear overflow-y-auto rounded-lg border border-line bg-raised p-1 text-sm shadow-float",
          className,
        )}
        {...rest}
      />
    </Primitive.Portal>
  );
}

/**
 * Runs something when the menu is gone and its trigger has the focus again: a dialog that opens
 * while the menu still closes loses the focus to it, and its Escape.
 */
export function useAfterMenu() {
  const next = useRef<() => void>(undefined);
  return {
    later: (run: () => void) => {
      next.current = run;
    },
    onCloseAutoFocus: () => {
      const run = next.current;
      next.current = undefined;
      if (run) setTimeout(run);
    },
  };
}

const item =
  "flex min-h-8 select-none items-center gap-2 rounded-md px-2 py-1 outline-none data-[highlighted]:bg-hover data-[disabled]:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0";

export function MenuItem({ className, ...rest }: ComponentProps<typeof Primitive.Item>) {
  return <Primitive.Item className={cn(item, className)} {...rest} />;
}

export function MenuRadioItem({ className, children, ...rest }: ComponentProps<typeof Primitive.RadioItem>) {
  return (
    <Primitive.RadioItem
      className={cn(item, "pl-7 data-[state=checked]:font-medium", "relative", className)}
      {...rest}
    >
      <Primitive.ItemIndicator className="absolute left-2 text-accent">●</Primitive.ItemIndicator>
      {children}
    </Primitive.RadioItem>
  );
}

export function MenuLabel({ className, ...rest }: ComponentProps<typeof Primitive.Label>) {
  return (
    <Primitive.Label className={cn("px-2 pt-2 pb-1 font-medium text-ink-3 text-xs", className)} {...rest} />
  );
}

export function MenuSeparator() {
  return <Primitive.Separator className="my-1 h-px bg-line" />;
}
