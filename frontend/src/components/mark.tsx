/** Patchbay's mark: a jack and a cable. */
export function Mark({ className }: { className?: string }) {
  return (
    <svg
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.75"
      strokeLinecap="round"
      className={className}
      aria-hidden="true"
    >
      <circle cx="4.25" cy="4.75" r="2.9" />
      <path d="M4.25 7.65v2.6a3.6 3.6 0 0 0 7.2 0V9.5" />
      <rect x="9.3" y="4.6" width="4.3" height="4.9" rx="1.1" fill="currentColor" stroke="none" />
      <path d="M11.45 1.9v2.4" />
    </svg>
  );
}
