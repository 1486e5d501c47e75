/** Layout that outlives the window. Never data of the person's, never a secret. */
export function readLayout<T>(key: string, fallback: T): T {
  try {
    const raw = localStorage.getItem(`patchbay.${key}`);
    return raw === null ? fallback : (JSON.parse(raw) as T);
  } catch {
    return fallback;
  }
}

export function writeLayout(key: string, value: unknown): void {
  try {
    localStorage.setItem(`patchbay.${key}`, JSON.stringify(value));
  } catch {
    // A window without storage keeps its layout until it closes.
  }
}
