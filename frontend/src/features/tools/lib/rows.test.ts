import { describe, expect, it } from "vitest";
import { readRows, toCsv } from "./rows";

const schema = {
  type: "object",
  properties: {
    text: { type: "string" },
    n: { type: "integer" },
    on: { type: "boolean" },
    list: { type: "array", items: { type: "string" } },
  },
  required: ["text"],
};

describe("rows of arguments", () => {
  it("come from CSV with the types that the schema wants", () => {
    expect(readRows('text,n,on,list\n"a, b",1,TRUE,"[""x""]"\n007,,,\n', schema)).toEqual({
      rows: [{ text: "a, b", n: 1, on: true, list: ["x"] }, { text: "007" }],
      problem: "",
    });
    expect(readRows("text\tn\nx\t2", schema).rows).toEqual([{ text: "x", n: 2 }]);
  });

  it("come from JSON, as a list or one a line", () => {
    expect(readRows('[{"text":"a"},{"text":"b"}]', schema).rows).toHaveLength(2);
    expect(readRows('{"text":"a"}\n\n{"text":"b"}', schema).rows).toHaveLength(2);
    expect(readRows("  ", schema)).toEqual({ rows: [], problem: "" });
  });

  it("name the row that is wrong", () => {
    expect(readRows('[{"text":"a"},1]', schema).problem).toBe("Row 2 is not an object.");
    expect(readRows('[{"text":"a"},{"n":1}]', schema).problem).toMatch(/^Row 2: text/);
    expect(readRows("text,n\na,many", schema).problem).toMatch(/^Row 1: n/);
    expect(readRows('{"text":"a"}\nnonsense', schema).problem).toBe("Line 2 is not a JSON object.");
    expect(readRows('[{"text":', schema).problem).toMatch(/^Line 1, column/);
    expect(readRows(`text\n${"a\n".repeat(1001)}`, schema).problem).toMatch(/1001 rows/);
  });

  it("go back to CSV without formulas", () => {
    expect(toCsv([{ a: '=HYPERLINK("x")', b: { c: 1 } }])).toBe(`a,b\r\n"'=HYPERLINK(""x"")","{""c"":1}"`);
  });
});
