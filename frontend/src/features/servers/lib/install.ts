const pages: Record<string, string> = {
  npx: "https://nodejs.org/",
  node: "https://nodejs.org/",
  npm: "https://nodejs.org/",
  uvx: "https://docs.astral.sh/uv/getting-started/installation/",
  uv: "https://docs.astral.sh/uv/getting-started/installation/",
  docker: "https://docs.docker.com/get-started/get-docker/",
  python: "https://www.python.org/downloads/",
  python3: "https://www.python.org/downloads/",
  bun: "https://bun.sh/",
  bunx: "https://bun.sh/",
  deno: "https://deno.com/",
};

/** Where a runtime is got; undefined for a program that is none. */
export function installPage(command: string | undefined): string | undefined {
  return pages[(command ?? "").split(/[\\/]/).at(-1) ?? ""];
}
