import {
  ArrowDown,
  Ban,
  CircleQuestionMark,
  Clock,
  FileDiff,
  Hand,
  KeyRound,
  Pencil,
  Power,
  RefreshCw,
  Shield,
  TriangleAlert,
} from "lucide-react";
import { cn } from "@/lib/cn";
import type { Shape, StateLook } from "@/lib/status";
import { toneText } from "./ui/badge";

const icons: Partial<Record<Shape, typeof Clock>> = {
  arrow: ArrowDown,
  key: KeyRound,
  pencil: Pencil,
  diff: FileDiff,
  power: Power,
  arrows: RefreshCw,
  triangle: TriangleAlert,
  shield: Shield,
  clock: Clock,
  hand: Hand,
  slash: Ban,
  question: CircleQuestionMark,
};

/** The lamp of a state: its shape tells it as well as its colour. */
export function StatusIcon({
  look,
  className,
  label,
}: {
  look: StateLook;
  className?: string;
  label?: string;
}) {
  return (
    <span
      className={cn(
        "inline-flex size-4 shrink-0 items-center justify-center",
        toneText[look.tone],
        className,
      )}
      {...(label ? { role: "img", "aria-label": label } : { "aria-hidden": true })}
    >
      <Glyph shape={look.shape} live={look.live} />
    </span>
  );
}

function Glyph({ shape, live }: { shape: Shape; live: boolean }) {
  const Icon = icons[shape];
  if (Icon) {
    const move = live && (shape === "arrows" ? "animate-spin" : "animate-pulse");
    return <Icon className={cn("size-full", move)} strokeWidth={2} />;
  }
  return (
    <svg viewBox="0 0 16 16" fill="none" className="size-full" aria-hidden="true">
      {shape === "filled" && <circle cx="8" cy="8" r="4.5" fill="currentColor" />}
      {shape === "hollow" && <circle cx="8" cy="8" r="4" stroke="currentColor" strokeWidth="1.6" />}
      {shape === "dotted" && (
        <circle cx="8" cy="8" r="4.5" stroke="currentColor" strokeWidth="1.8" strokeDasharray="1.8 1.74" />
      )}
      {shape === "half" && (
        <g>
          <circle cx="8" cy="8" r="4" stroke="currentColor" strokeWidth="1.6" />
          <path d="M8 4a4 4 0 0 0 0 8Z" fill="currentColor" />
        </g>
      )}
      {shape === "ring" && (
        <g className={live ? "origin-center animate-spin" : undefined}>
          <circle cx="8" cy="8" r="5" stroke="currentColor" strokeWidth="2" opacity="0.25" />
          <path d="M8 3a5 5 0 0 1 5 5" stroke="currentColor" strokeWidth="2" strokeLinecap="round" />
        </g>
      )}
      {shape === "triangle-x" && (
        <g stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round">
          <path d="M8 2 15 14H1Z" fill="currentColor" fillOpacity="0.15" />
          <path d="m6.3 8.3 3.4 3.4m0-3.4-3.4 3.4" />
        </g>
      )}
    </svg>
  );
}
