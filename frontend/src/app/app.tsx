import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { useState } from "react";
import { useStore } from "zustand";
import { LiveRegion } from "@/components/live-region";
import { RunStoreProvider } from "@/components/run-context";
import { TipProvider } from "@/components/ui/tooltip";
import { LinkProvider } from "./link-context";
import { TokenPage } from "./pages/token-page";
import { makeRouter } from "./router";
import type { Runtime } from "./runtime";

/** The whole page, once there is a wire. */
export function App({ runtime, onToken }: { runtime: Runtime; onToken: (token: string) => void }) {
  const [router] = useState(makeRouter);
  const link = useStore(runtime.link, (s) => s.state);
  if (link === "unauthorized") return <TokenPage refused onToken={onToken} />;
  return (
    <QueryClientProvider client={runtime.client}>
      <RunStoreProvider value={runtime.runs}>
        <LinkProvider value={link}>
          <TipProvider delayDuration={400}>
            <RouterProvider router={router} />
            <LiveRegion />
          </TipProvider>
        </LinkProvider>
      </RunStoreProvider>
    </QueryClientProvider>
  );
}
