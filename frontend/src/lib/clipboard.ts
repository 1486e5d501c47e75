interface HostRuntime {
  runtime?: { ClipboardSetText?(text: string): Promise<boolean>; BrowserOpenURL?(url: string): void };
}

function runtime(): HostRuntime["runtime"] {
  return (globalThis as unknown as HostRuntime).runtime;
}

/** Copies text, through the window where the web view may not. */
export async function copyText(text: string): Promise<boolean> {
  try {
    const host = runtime();
    if (host?.ClipboardSetText) return await host.ClipboardSetText(text);
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Opens a web address outside the page. Other schemes are refused. */
export function openOutside(url: string): void {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return;
  }
  if (parsed.protocol !== "https:" && parsed.protocol !== "http:" && parsed.protocol !== "mailto:") return;
  const host = runtime();
  if (host?.BrowserOpenURL) host.BrowserOpenURL(parsed.href);
  else window.open(parsed.href, "_blank", "noopener,noreferrer");
}
