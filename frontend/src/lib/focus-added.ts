/** Puts the focus into the row that a button below a list has just added, once it is there. */
export function focusAdded(button: Element): void {
  setTimeout(() => button.previousElementSibling?.querySelector("input")?.focus());
}
