import { type ClassValue, clsx } from "clsx";
import { extendTailwindMerge } from "tailwind-merge";

const merge = extendTailwindMerge({
  extend: { classGroups: { "font-size": [{ text: ["2xs", "xs", "sm", "base", "lg", "xl"] }] } },
});

export function cn(...parts: ClassValue[]): string {
  return merge(clsx(parts));
}
