import { describe, expect, it } from "vitest";
import { Mask } from "@/api/types";
import { spec } from "@/test/fixtures";
import { blockedBecause, rowFromCopy, rowsFrom, specToSave, stillMissing, willSave } from "./review";

const parsed = (name: string, over = {}) => ({ spec: spec({ name }), exists: false, missing: [], ...over });

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

  it("never copies a mask as a value", () => {
    const row = rowFromCopy(spec({ env: { KEY: Mask, PLAIN: "x" } }), ["demo"]);
    expect(row.spec.env).toEqual({ KEY: "", PLAIN: "x" });
    expect(row.missing).toEqual(["env.KEY"]);
    expect(row.spec.name).toBe("demo-copy");
  });
});
