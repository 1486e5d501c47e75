/** The variables of a URI template (RFC 6570), in order, each once. */
export function variablesOf(template: string): string[] {
  const names: string[] = [];
  for (const [, expression] of template.matchAll(/\{([^{}]+)\}/g)) {
    for (const part of (expression ?? "").replace(/^[+#./;?&]/, "").split(",")) {
      const name = part.replace(/(\*|:\d+)$/, "").trim();
      if (name && !names.includes(name)) names.push(name);
    }
  }
  return names;
}

const operators: Record<string, { first: string; join: string; named: boolean; raw: boolean }> = {
  "": { first: "", join: ",", named: false, raw: false },
  "+": { first: "", join: ",", named: false, raw: true },
  "#": { first: "#", join: ",", named: false, raw: true },
  ".": { first: ".", join: ".", named: false, raw: false },
  "/": { first: "/", join: "/", named: false, raw: false },
  ";": { first: ";", join: ";", named: true, raw: false },
  "?": { first: "?", join: "&", named: true, raw: false },
  "&": { first: "&", join: "&", named: true, raw: false },
};

/** Fills a URI template with texts. A variable without a value is left out, as RFC 6570 says. */
export function expandTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{([+#./;?&]?)([^{}]+)\}/g, (_, op: string, list: string) => {
    const how = operators[op];
    if (!how) return "";
    const parts: string[] = [];
    for (const part of list.split(",")) {
      const [, name = "", cut] = /^([^:*]+)(?::(\d+))?\*?$/.exec(part.trim()) ?? [];
      const value = values[name];
      if (!name || value === undefined || value === "") continue;
      const text = cut ? [...value].slice(0, Number(cut)).join("") : value;
      const encoded = how.raw
        ? encodeURI(text)
        : encodeURIComponent(text).replaceAll(
            /[!'()*]/g,
            (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
          );
      parts.push(how.named ? `${name}=${encoded}` : encoded);
    }
    return parts.length > 0 ? how.first + parts.join(how.join) : "";
  });
}
