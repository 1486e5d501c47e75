import { Tabs as Primitive } from "radix-ui";
import type { ComponentProps } from "react";
import { cn } from "@/lib/cn";

export const Tabs = Primitive.Root;

export function TabList({ className, ...rest }: ComponentProps<typeof Primitive.List>) {
  return <Primitive.List className={cn("flex gap-1 border-line border-b", className)} {...rest} />;
}

export function Tab({ className, ...rest }: ComponentProps<typeof Primitive.Trigger>) {
  return (
    <Primitive.Trigger
      className={cn(
        "-mb-px h-9 select-none whitespace-nowrap border-transparent border-b-2 px-3 text-ink-2 text-sm hover:text-ink",
        "data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-ink",
        className,
      )}
      {...rest}
    />
  );
}

export function TabPanel({ className, ...rest }: ComponentProps<typeof Primitive.Content>) {
  return (
    <Primitive.Content
      className={cn("min-h-0 flex-1 focus-visible:-outline-offset-2", className)}
      {...rest}
    />
  );
}
