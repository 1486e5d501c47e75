import { toast } from "sonner";
import { copyText } from "@/lib/clipboard";
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
  const onClick = () => {
    // A toast that the focus leaves puts it back to where it was before: let that happen first,
    // so that it stays where the undoing moves it.
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    onUndo();
  };
  toast(message, { action: { label: "Undo", onClick }, duration: 12_000 });
}

export function toastOffer(message: string, label: string, onClick: () => void): void {
  toast(message, { action: { label, onClick }, duration: 60_000 });
}

export function toastDone(message: string): void {
  toast.success(message);
}

/** Copies text and says so; the toast is read to who cannot see it. */
export async function copyAndTell(text: string, said = "Copied"): Promise<void> {
  if (await copyText(text)) toastDone(said);
  else toastError(new Error("Copying was not possible. Select the text and copy it with the keyboard."));
}
