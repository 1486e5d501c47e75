import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// With a backend to talk to ("make dev"), its door is reached through the
// development server. The backend refuses other origins, so ours is replaced.
const backend = process.env.PATCHBAY_BACKEND;
const door = { target: backend, changeOrigin: true, headers: { origin: backend ?? "" } };

export default defineConfig({
  server: backend ? { proxy: { "/rpc": door, "/events": { ...door, ws: true, rewriteWsOrigin: true } } } : {},
  // Relative, so that the page works at any path and under any scheme.
  base: "./",
  plugins: [react(), tailwindcss()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    target: ["es2022", "safari16.4"],
    // The page's policy forbids data: URLs for fonts.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 900,
    reportCompressedSize: false,
  },
  test: {
    environment: "jsdom",
    setupFiles: ["src/test/setup.ts"],
    include: ["src/**/*.test.{ts,tsx}"],
    css: false,
  },
});
