import { expect, test } from "vitest";
import { forForm, labelOf } from "./form-schema";

test("a choice of several from a list is one that the form can show", () => {
  const titled = { anyOf: [{ const: "fish-1", title: "Tuna" }] };
  expect(forForm({ properties: { fish: { type: "array", items: titled } } })).toEqual({
    properties: { fish: { type: "array", uniqueItems: true, items: { type: "string", ...titled } } },
  });
  const free = { type: "array", items: { type: "string" } };
  expect(forForm(free)).toEqual(free);
  const mixed = { type: "array", items: { anyOf: [{ const: "a" }, { type: "number" }] } };
  expect(forForm(mixed)).toEqual(mixed);
});

test("older servers' names of choices are shown; what is a value stays one", () => {
  expect(forForm({ type: "string", enum: ["a", "b"], enumNames: ["Ant", "Bee"] })).toEqual({
    type: "string",
    oneOf: [
      { const: "a", title: "Ant" },
      { const: "b", title: "Bee" },
    ],
  });
  const odd = { default: { enum: ["a"], enumNames: ["A"] }, properties: { enum: { type: "string" } } };
  expect(forForm(odd)).toEqual(odd);
});

test("a problem is told by the label of its field", () => {
  const schema = {
    properties: { who: { title: "Customer", properties: { name: {} } }, list: { type: "array", items: {} } },
  };
  expect(labelOf(schema, ["who", "name"])).toBe("Customer › name");
  expect(labelOf(schema, ["list", "0"])).toBe("list › 1");
  expect(labelOf(undefined, ["a", "b"])).toBe("a › b");
});
