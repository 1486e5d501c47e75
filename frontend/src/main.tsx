import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { setWire } from "@/api/transport";
import { desktopWire, isDesktop } from "@/api/wire-desktop";
import { httpWire, saveToken, takeToken } from "@/api/wire-http";
import { App } from "@/app/app";
import { TokenPage } from "@/app/pages/token-page";
import { type Runtime, startRuntime } from "@/app/runtime";
import { applyLastTheme } from "@/lib/theme";
import "./styles.css";

applyLastTheme();

const root = createRoot(document.getElementById("root") as HTMLElement);
let runtime: Runtime | undefined;

function show(): void {
  runtime?.stop();
  runtime = startRuntime();
  root.render(
    <StrictMode>
      <App key={Math.random()} runtime={runtime} onToken={connectWith} />
    </StrictMode>,
  );
}

function connectWith(token: string): void {
  saveToken(token);
  setWire(httpWire(token));
  show();
}

async function start(): Promise<void> {
  const query = new URLSearchParams(location.search);
  if (import.meta.env.DEV && query.has("fake")) {
    const { fakeWire, stateFor } = await import("@/test/fake-wire");
    // The router takes a query for a part of the address behind the hash.
    history.replaceState(null, "", location.pathname + location.hash);
    setWire(fakeWire(stateFor(query)));
    show();
    return;
  }
  if (isDesktop()) {
    setWire(desktopWire);
    show();
    return;
  }
  const token = takeToken();
  if (token) connectWith(token);
  else
    root.render(
      <StrictMode>
        <TokenPage refused={false} onToken={connectWith} />
      </StrictMode>,
    );
}

void start();
