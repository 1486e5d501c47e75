import { useStore } from "zustand";
import { announcements } from "@/lib/announce";

/** The two places where a screen reader hears of changes: only what is added is read. */
export function LiveRegion() {
  const { polite, assertive } = useStore(announcements);
  return (
    <>
      <div
        className="sr-only"
        role="status"
        aria-live="polite"
        aria-atomic="false"
        aria-relevant="additions"
        data-testid="live-polite"
      >
        {polite.map((a) => (
          <p key={a.id}>{a.text}</p>
        ))}
      </div>
      <div
        className="sr-only"
        role="alert"
        aria-live="assertive"
        aria-atomic="false"
        aria-relevant="additions"
        data-testid="live-assertive"
      >
        {assertive.map((a) => (
          <p key={a.id}>{a.text}</p>
        ))}
      </div>
    </>
  );
}
