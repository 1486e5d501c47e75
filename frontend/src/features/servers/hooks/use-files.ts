import { useState } from "react";
import { announce } from "@/lib/announce";
import { plural } from "@/lib/format";
import { rowsFrom } from "../lib/review";
import { uploadBundle } from "../queries";
import { useServersStore } from "../store";

const isBundle = (name: string) => /\.(mcpb|dxt|zip)$/i.test(name);
const longestText = 8 * 1024 * 1024;

/** Reads a file that was dropped or chosen: a configuration, or a bundle. */
export function useFiles() {
  const set = useServersStore((s) => s.set);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();

  const read = async (file: File) => {
    setError(undefined);
    setBusy(true);
    set({ adding: true, step: "paste" });
    try {
      if (isBundle(file.name)) {
        const found = await uploadBundle(file);
        set({ text: "", rowsOf: "", rows: rowsFrom(found), step: "review" });
        announce(`${file.name} holds ${plural(found.servers.length, "server")}`);
      } else if (file.size > longestText) {
        throw new Error(`${file.name} is larger than 8 MiB. Paste only the part with the servers.`);
      } else {
        set({ text: await file.text() });
      }
    } catch (err) {
      setError(err);
    } finally {
      setBusy(false);
    }
  };

  return { read, busy, error, clear: () => setError(undefined) };
}
