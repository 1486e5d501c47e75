import { create } from "zustand";
import { announce } from "@/lib/announce";
import { plural } from "@/lib/format";
import { rowsFrom } from "../lib/review";
import { uploadBundle } from "../queries";
import { useServersStore } from "../store";

const isBundle = (name: string) => /\.(mcpb|dxt|zip)$/i.test(name);
const longestText = 8 * 1024 * 1024;

interface Reading {
  busy: boolean;
  /** Why the last file could not be read; undefined for nothing. */
  error?: unknown;
}

const fresh: Reading = { busy: false, error: undefined };
const useReading = create<Reading>(() => fresh);

/** Reads a file that was dropped or chosen, a configuration or a bundle, into the add flow. */
export async function readFile(file: File): Promise<void> {
  const { set } = useServersStore.getState();
  useReading.setState({ busy: true, error: undefined });
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
    useReading.setState(fresh);
  } catch (error) {
    useReading.setState({ busy: false, error });
  }
}

/** What became of the file that was read last. */
export function useFiles() {
  const { busy, error } = useReading();
  return { busy, error, clear: () => useReading.setState(fresh) };
}
