import { cva, type VariantProps } from "class-variance-authority";
import { Slot } from "radix-ui";
import type { ComponentProps, ReactNode } from "react";
import { cn } from "@/lib/cn";
import { Tip } from "./tooltip";

const look = cva(
  "inline-flex shrink-0 select-none items-center justify-center gap-1.5 whitespace-nowrap rounded-md font-medium transition-colors duration-100 disabled:opacity-50 aria-disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0",
  {
    variants: {
      variant: {
        primary: "bg-accent text-on-accent enabled:hover:bg-accent-hover",
        secondary: "border border-line bg-raised text-ink enabled:hover:bg-hover",
        ghost: "text-ink-2 enabled:hover:bg-hover enabled:hover:text-ink aria-expanded:bg-hover",
        danger: "border border-line bg-raised text-danger enabled:hover:bg-danger-soft",
        link: "h-auto! px-0! text-accent underline-offset-2 hover:underline",
      },
      size: {
        md: "h-8 px-3 text-sm",
        sm: "h-7 px-2 text-xs [&_svg]:size-3.5",
        icon: "size-8",
        "icon-sm": "size-7 [&_svg]:size-3.5",
      },
    },
    defaultVariants: { variant: "secondary", size: "md" },
  },
);

export interface ButtonProps extends ComponentProps<"button">, VariantProps<typeof look> {
  asChild?: boolean;
}

export function Button({ className, variant, size, asChild, type = "button", ...rest }: ButtonProps) {
  const Comp = asChild ? Slot.Root : "button";
  return (
    <Comp type={asChild ? undefined : type} className={cn(look({ variant, size }), className)} {...rest} />
  );
}

interface IconButtonProps extends Omit<ButtonProps, "children" | "aria-label"> {
  label: string;
  shortcut?: string;
  children: ReactNode;
}

/** A button that shows only an icon; its name is the label, also as a tooltip. */
export function IconButton({ label, shortcut, variant = "ghost", size = "icon", ...rest }: IconButtonProps) {
  return (
    <Tip text={shortcut ? `${label} (${shortcut})` : label}>
      <Button variant={variant} size={size} aria-label={label} {...rest} />
    </Tip>
  );
}
