import { toast } from "sonner";
import { messageOf, placeOf } from "./error-note";

interface Action {
  label: string;
  onClick: () => void;
}

/** Tells of a failure that has no place of its own on the screen. */
export function toastError(err: unknown, action?: Action): void {
  const place = placeOf(err);
  toast.error(messageOf(err), { description: place ? `At ${place}.` : undefined, action, duration: 10_000 });
}

export function toastUndo(message: string, onUndo: () => void): void {
  toast(message, { action: { label: "Undo", onClick: onUndo }, duration: 12_000 });
}

export function toastOffer(message: string, label: string, onClick: () => void): void {
  toast(message, { action: { label, onClick }, duration: 60_000 });
}

export function toastDone(message: string): void {
  toast.success(message);
}
