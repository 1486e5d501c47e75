import type { ReactNode } from "react";
import { CallError } from "@/api/types";
import { Button } from "./ui/button";
import { Callout } from "./ui/callout";

export function messageOf(err: unknown): string {
  return err instanceof Error ? err.message : String(err);
}

/** "line 3, column 14", "" when no place is known. */
export function placeOf(err: unknown): string {
  if (!(err instanceof CallError)) return "";
  const { line, column, path } = err.place;
  if (line) return column ? `line ${line}, column ${column}` : `line ${line}`;
  return path ?? "";
}

interface ErrorNoteProps {
  error: unknown;
  title?: ReactNode;
  onRetry?: () => void;
  actions?: ReactNode;
  className?: string;
}

/** A failure with the thing to do about it. */
export function ErrorNote({ error, title, onRetry, actions, className }: ErrorNoteProps) {
  const place = placeOf(error);
  const message = messageOf(error);
  const named = place && message.includes(place);
  return (
    <Callout
      role="alert"
      tone="danger"
      title={title ?? message}
      className={className}
      actions={
        <>
          {actions}
          {onRetry && (
            <Button size="sm" onClick={onRetry}>
              Retry
            </Button>
          )}
        </>
      }
    >
      {title ? message : undefined}
      {place && !named ? <span className="block text-ink-2">At {place}.</span> : undefined}
    </Callout>
  );
}
