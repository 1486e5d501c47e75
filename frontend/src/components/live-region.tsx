import { useStore } from "zustand";
import { announcements } from "@/lib/announce";

/** The two places where a screen reader hears of changes. */
export function LiveRegion() {
  const { polite, assertive } = useStore(announcements);
  return (
    <>
      <div className="sr-only" role="status" aria-live="polite" data-testid="live-polite">
        {polite}
      </div>
      <div className="sr-only" role="alert" aria-live="assertive" data-testid="live-assertive">
        {assertive}
      </div>
    </>
  );
}
