import { useEffect } from "react";
import { applyTheme } from "@/lib/theme";
import { useSettings } from "../queries";

/** Keeps the page in the chosen theme, and follows the system where that is the choice. */
export function useTheme(): void {
  const theme = useSettings().data?.theme;
  useEffect(() => {
    if (theme === undefined) return;
    applyTheme(theme);
    const media = matchMedia("(prefers-color-scheme: dark)");
    const follow = () => applyTheme(theme);
    media.addEventListener("change", follow);
    return () => media.removeEventListener("change", follow);
  }, [theme]);
}
