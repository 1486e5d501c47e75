import { useEffect } from "react";
import { isDesktop } from "@/api/wire-desktop";
import { readFile } from "@/features/servers";

const navigates = (data: DataTransfer) =>
  data.types.includes("Files") || data.types.includes("text/uri-list");
const takesText = (target: EventTarget | null) =>
  target instanceof Element && target.closest("input, textarea, [contenteditable]") !== null;

/**
 * A file that is dropped anywhere begins adding the servers in it. Left alone, the
 * window would go to the file, or to an address that is dropped, and be no app any more.
 */
export function useFileDrop(onShow: () => void): void {
  useEffect(() => {
    const ours = (e: DragEvent): DataTransfer | undefined => {
      const data = e.dataTransfer;
      if (!data || !navigates(data) || (!data.types.includes("Files") && takesText(e.target))) return;
      e.preventDefault();
      return data;
    };
    const onDrop = (e: DragEvent) => {
      const file = ours(e)?.files[0];
      // The window hands the file over itself: its page may not see it.
      if (!file || isDesktop()) return;
      void readFile(file);
      onShow();
    };
    // WebKit asks with the first where the second did not come yet.
    window.addEventListener("dragenter", ours);
    window.addEventListener("dragover", ours);
    window.addEventListener("drop", onDrop);
    return () => {
      window.removeEventListener("dragenter", ours);
      window.removeEventListener("dragover", ours);
      window.removeEventListener("drop", onDrop);
    };
  }, [onShow]);
}
