import { describe, expect, it } from "vitest";
import { Mask } from "@/api/types";
import { spec } from "@/test/fixtures";
import {
  addInput,
  blockedBecause,
  rowFromCopy,
  rowsFrom,
  specToSave,
  stillMissing,
  willSave,
} from "./review";

const parsed = (name: string, over = {}) => ({
  spec: spec({ name }),
  exists: false,
  missing: [],
  inputs: [],
  ...over,
});

describe("review", () => {
  it("asks for a placeholder instead of saving it", () => {
    const [row] = rowsFrom({
      servers: [parsed("a", { spec: spec({ name: "a", env: { KEY: "<YOUR_KEY>" } }), missing: ["env.KEY"] })],
      rejected: [],
      warnings: [],
    });
    expect(row?.spec.env).toEqual({ KEY: "" });
    expect(row && stillMissing(row)).toEqual(["env.KEY"]);
    expect(row && specToSave(row).env).toEqual({ KEY: "${KEY}" });
    expect(row && specToSave({ ...row, spec: { ...row.spec, env: { KEY: "v" } } }).env).toEqual({ KEY: "v" });
  });

  it("does not overwrite a server without a choice", () => {
    const [row] = rowsFrom({ servers: [parsed("a", { exists: true })], rejected: [], warnings: [] });
    if (!row) throw new Error("no row");
    expect(blockedBecause(row, [row], ["a"])).toMatch(/exists already/);
    expect(blockedBecause({ ...row, conflict: "overwrite" }, [row], ["a"])).toBe("");
    expect(willSave({ ...row, conflict: "skip" })).toBe(false);
  });

  it("does not save two rows of one name", () => {
    const rows = rowsFrom({ servers: [parsed("a"), parsed("a")], rejected: [], warnings: [] });
    expect(rows[0] && blockedBecause(rows[0], rows, [])).toMatch(/Rename one/);
  });

  it("leaves the values behind masks to the backend when it copies", () => {
    const row = rowFromCopy(spec({ name: "demo", env: { KEY: Mask, PLAIN: "x" } }), ["demo"]);
    expect(row.spec.name).toBe("demo-copy");
    expect(addInput(row)).toMatchObject({ savedAs: "demo", server: { env: { KEY: Mask, PLAIN: "x" } } });
  });

  it("waits until a person agrees to what loads other code", () => {
    const [row] = rowsFrom({ servers: [parsed("a")], rejected: [], warnings: [] });
    if (!row) throw new Error("no row");
    const review = {
      name: "a",
      envNames: [],
      findings: [],
      secrets: [{ place: "env.TOKEN", what: "a token" }],
      missing: [],
      exists: false,
      loaders: ["env.NODE_OPTIONS"],
    };
    const seen = { ...row, review };
    expect(blockedBecause(seen, [seen], [])).toMatch(/NODE_OPTIONS/);
    const agreed = { ...seen, allowLoaders: ["env.NODE_OPTIONS"] };
    expect(blockedBecause(agreed, [agreed], [])).toBe("");
    expect(addInput(agreed).moveSecrets).toEqual(["env.TOKEN"]);
    expect(addInput({ ...agreed, moveSecrets: false }).moveSecrets).toEqual([]);
  });
});
