import { cleanup } from "@testing-library/react";
import { afterEach, beforeEach, vi } from "vitest";

class NoResizeObserver implements ResizeObserver {
  observe() {}
  unobserve() {}
  disconnect() {}
}

globalThis.ResizeObserver ??= NoResizeObserver;
window.matchMedia ??= ((query: string) => ({
  matches: false,
  media: query,
  addEventListener() {},
  removeEventListener() {},
})) as unknown as typeof window.matchMedia;
window.scrollTo = () => {};
Element.prototype.scrollIntoView ??= () => {};

let errors: unknown[][] = [];

// An unexpected console error is a failure that nobody would see.
beforeEach(() => {
  errors = [];
  vi.spyOn(console, "error").mockImplementation((...args) => {
    errors.push(args);
  });
});

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  vi.useRealTimers();
  if (errors.length > 0)
    throw new Error(`console.error: ${errors.map((e) => e.map(String).join(" ")).join("\n")}`);
});
