import { type ReactNode, useId } from "react";
import { cn } from "@/lib/cn";

interface FieldProps {
  label: ReactNode;
  hint?: ReactNode;
  error?: ReactNode;
  className?: string;
  /** What leads to the field from elsewhere, such as "url". */
  place?: string;
  children: (ids: { id: string; "aria-describedby"?: string; "aria-invalid"?: true }) => ReactNode;
}

/** A labelled field with its hint and its problem, joined for screen readers. */
export function Field({ label, hint, error, className, place, children }: FieldProps) {
  const id = useId();
  const about = [hint ? `${id}-hint` : "", error ? `${id}-error` : ""].filter(Boolean).join(" ");
  return (
    <div className={cn("grid content-start gap-1", className)} data-place={place}>
      <label htmlFor={id} className="font-medium text-sm">
        {label}
      </label>
      {children({ id, "aria-describedby": about || undefined, "aria-invalid": error ? true : undefined })}
      {hint && (
        <p id={`${id}-hint`} className="text-ink-3 text-xs">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} className="text-danger text-xs">
          {error}
        </p>
      )}
    </div>
  );
}
