import { useEffect, useState } from "react";

/** The time, anew every period while active. */
export function useNow(active: boolean, periodMs = 1000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!active) return;
    setNow(Date.now());
    const t = setInterval(() => setNow(Date.now()), periodMs);
    return () => clearInterval(t);
  }, [active, periodMs]);
  return now;
}
