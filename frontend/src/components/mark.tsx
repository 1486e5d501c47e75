/** Patchbay's mark: a jack and a cable. */
export function Mark({ className }: { className?: string }) {
  return (
    <svg viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="1.6" strokeLinecap="round" className={className} aria-hidden>
      <circle cx="4.5" cy="4.5" r="2.7" />
      <path d="M4.5 7.2v3.3a3.5 3.5 0 0 0 7 0V8" />
      <path d="M11.5 1.5v2" />
      <rect x="9.8" y="3.4" width="3.4" height="4.4" rx="1" fill="currentColor" />
    </svg>
  );
}
