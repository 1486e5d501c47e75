import { describe, expect, it } from "vitest";
import { expandTemplate, variablesOf } from "./template";

describe("URI templates", () => {
  // From RFC 6570, section 1.2 and 3.2.
  const values = { var: "value", hello: "Hello World!", path: "/foo/bar", x: "1024", y: "768", empty: "" };
  it.each([
    ["{var}", "value"],
    ["{hello}", "Hello%20World%21"],
    ["{+path}/here", "/foo/bar/here"],
    ["here?ref={+path}", "here?ref=/foo/bar"],
    ["X{#hello}", "X#Hello%20World!"],
    ["map?{x,y}", "map?1024,768"],
    ["X{.x,y}", "X.1024.768"],
    ["{/var,x}/here", "/value/1024/here"],
    ["{;x,y}", ";x=1024;y=768"],
    ["{?x,y}", "?x=1024&y=768"],
    ["?fixed=yes{&x}", "?fixed=yes&x=1024"],
    ["{var:3}", "val"],
    ["{?x,missing}", "?x=1024"],
    ["{missing}", ""],
  ])("%s", (template, want) => expect(expandTemplate(template, values)).toBe(want));

  it("names the variables once, in order", () => {
    expect(variablesOf("file:///{+folder}/{name:3}{?q,folder*}")).toEqual(["folder", "name", "q"]);
  });
});
