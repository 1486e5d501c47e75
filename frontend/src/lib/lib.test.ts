import { describe, expect, it } from "vitest";
import { server, spec } from "@/test/fixtures";
import { formatBytes, formatMillis } from "./format";
import { argumentRows, parseJson } from "./json";
import { problemSentence, validate } from "./schema";
import { arrange, freeName, writePlace } from "./servers";
import { commandLine } from "./shell-words";
import { callLooks, serverLooks, serverSentence } from "./status";

describe("status words", () => {
  it("gives every end of a call a word of its own", () => {
    const words = Object.values(callLooks).map((l) => l.word);
    expect(new Set(words).size).toBe(words.length);
  });

  it("never tells two server states by colour alone", () => {
    const seen = Object.values(serverLooks).map((l) => `${l.shape}/${l.word}`);
    expect(new Set(seen).size).toBe(seen.length);
  });

  it("counts down to the next attempt", () => {
    const now = Date.parse("2026-03-02T10:00:00Z");
    const s = server("s", "reconnecting", { retryAt: "2026-03-02T10:00:04Z", attempt: 2, message: "lost" });
    expect(serverSentence(s, now).replace(/\s/g, " ")).toBe("Reconnecting in 4 s (attempt 2)");
  });
});

describe("servers", () => {
  it("puts what needs a person first and keeps the order else", () => {
    const list = [
      server("a", "connected"),
      server("b", "failed"),
      server("c", "off", {}, { disabled: true }),
    ];
    expect(arrange(list, "all", "").map((s) => s.spec.name)).toEqual(["b", "a", "c"]);
    expect(arrange(list, "on", "").map((s) => s.spec.name)).toEqual(["b", "a"]);
    expect(arrange(list, "off", "C").map((s) => s.spec.name)).toEqual(["c"]);
  });

  it("sorts as asked", () => {
    const list = [server("b", "connected", { toolCount: 2 }), server("a", "connected", { toolCount: 9 })];
    expect(arrange(list, "all", "", "name").map((s) => s.spec.name)).toEqual(["a", "b"]);
    expect(arrange(list, "all", "").map((s) => s.spec.name)).toEqual(["b", "a"]);
    expect(arrange(list, "all", "", "tools").map((s) => s.spec.name)).toEqual(["a", "b"]);
  });

  it("fills in a place", () => {
    expect(writePlace(spec(), "env.A.B", "v").env).toEqual({ "A.B": "v" });
    expect(writePlace(spec({ args: ["a", "b"] }), "args.1", "v").args).toEqual(["a", "v"]);
  });

  it("finds a free name", () => expect(freeName("a", ["a", "a-2"])).toBe("a-3"));

  it("quotes only what needs it", () => {
    expect(commandLine("npx", ["-y", "a b", "", "$HOME", "@x/y"])).toBe('npx -y "a b" "" "\\$HOME" @x/y');
  });
});

describe("JSON", () => {
  it("says where it breaks", () => {
    const r = parseJson('{\n  "a": 1\n  "b": 2\n}');
    expect(r.ok).toBe(false);
    if (!r.ok) expect(r.problem.line).toBe(3);
  });

  it("breaks arguments into rows, and gives up on what is no object", () => {
    expect(argumentRows('{"a":1,"b":"x"}')?.map((r) => r.text)).toEqual(["1", "x"]);
    expect(argumentRows("")).toEqual([]);
    expect(argumentRows("[1]")).toBeUndefined();
    expect(argumentRows("{oops")).toBeUndefined();
  });
});

describe("schema problems", () => {
  const schema = {
    type: "object",
    properties: {
      path: { type: "string" },
      n: { type: "integer" },
      list: { type: "array", items: { type: "string" } },
    },
    required: ["path"],
  };
  it("names the missing value", () => {
    expect(validate(schema, {}).map(problemSentence)).toEqual(["path needs a value."]);
    expect(validate(schema, { path: undefined }).map(problemSentence)).toEqual(["path needs a value."]);
  });
  it("names the place within", () => {
    expect(validate(schema, { path: "a", list: ["x", 3] })[0]?.path).toEqual(["list", "1"]);
  });
  it("lets a schema pass that it cannot read: the daemon decides", () => {
    expect(validate({ $ref: "https://nowhere.example/x" }, {})).toEqual([]);
    expect(validate("nonsense", {})).toEqual([]);
  });
});

describe("numbers", () => {
  it("always carry their unit", () => {
    expect(
      [formatMillis(38), formatMillis(1240), formatMillis(65_000), formatBytes(3400)].map((s) =>
        s.replace(/\u202f/g, " "),
      ),
    ).toEqual(["38 ms", "1.2 s", "1 min 5 s", "3.3 KB"]);
  });
});
