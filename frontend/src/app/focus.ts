/** Moves to the question that waits, once it is on the screen. */
export function focusApproval(): void {
  setTimeout(() => document.querySelector<HTMLElement>('[data-testid="approval-bar"] h2')?.focus(), 80);
}

export function focusComposer(): void {
  document.querySelector<HTMLElement>("[data-composer]")?.focus();
}
