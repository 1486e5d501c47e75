import type { ComponentProps } from "react";
import { cn } from "@/lib/cn";

const field =
  "w-full rounded-md border border-line-strong/70 bg-raised text-ink text-sm placeholder:text-ink-3 focus-visible:outline-offset-0 disabled:opacity-60 aria-invalid:border-danger";

export function Input({ className, ...rest }: ComponentProps<"input">) {
  return (
    <input
      autoComplete="off"
      autoCorrect="off"
      autoCapitalize="off"
      spellCheck={false}
      className={cn(field, "h-8 px-2.5", className)}
      {...rest}
    />
  );
}

export function Textarea({ className, ...rest }: ComponentProps<"textarea">) {
  return <textarea className={cn(field, "min-h-16 px-2.5 py-1.5", className)} {...rest} />;
}

export function NativeSelect({ className, ...rest }: ComponentProps<"select">) {
  return <select className={cn(field, "h-8 px-2", className)} {...rest} />;
}
