import { expect, test } from "vitest";
import { canonical } from "@/lib/json";
import { resultValue } from "./results";

const done = (result: object) => ({ status: "done", millis: 1, modelText: "", result }) as never;

test("a result is one value, however it was sent", () => {
  expect(resultValue(done({ structuredContent: { a: 1 }, content: [] }))).toEqual({ a: 1 });
  expect(resultValue(done({ content: [{ type: "text", text: '{"a":1}' }] }))).toEqual({ a: 1 });
  expect(resultValue(done({ content: [{ type: "text", text: "plain" }] }))).toBe("plain");
  expect(resultValue(done({ content: [{ type: "image", data: "x" }] }))).toEqual([
    { type: "image", data: "x" },
  ]);
  expect(resultValue({ status: "failed", millis: 1, modelText: "" } as never)).toBeUndefined();
  expect(resultValue(undefined)).toBeUndefined();
});

test("the order of keys makes no difference, that of a list does", () => {
  expect(canonical({ b: [1, 2], a: { d: 1, c: 2 } })).toBe(canonical({ a: { c: 2, d: 1 }, b: [1, 2] }));
  expect(canonical([1, 2])).not.toBe(canonical([2, 1]));
  expect(canonical(undefined)).toBe("null");
});
