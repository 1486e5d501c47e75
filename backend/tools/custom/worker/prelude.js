// What a script finds beside the language. It runs once in every fresh VM,
// before the script; what leaves the VM leaves it through host alone, and there
// the program that started the worker checks it.
(() => {
  "use strict";
  const host = globalThis.__host;
  delete globalThis.__host;
  const { parse, stringify } = JSON;
  const ErrorType = Error;
  const text = String;

  // What runs is what stands in the code that a person can read: no code from text.
  const noCode = () => {
    throw new EvalError("Code cannot be made from text here.");
  };
  const kinds = [function () {}, async function () {}, function* () {}, async function* () {}];
  for (const f of kinds) {
    const proto = Object.getPrototypeOf(f);
    const stub = function Function() {
      noCode();
    };
    Object.defineProperty(stub, "prototype", { value: proto });
    Object.defineProperty(proto, "constructor", { value: stub, configurable: false, writable: false });
    if (f === kinds[0]) Object.defineProperty(globalThis, "Function", { value: stub, configurable: true, writable: true });
  }
  delete globalThis.eval;

  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true, enumerable: false });

  // Questions.
  let last = 0;
  const open = new Map();
  const ask = (op, body) => {
    const trace = new ErrorType(); // made here, so that it knows the line of the caller
    return new Promise((resolve, reject) => {
      if (open.size >= 4000) throw new ErrorType("Too much at once: more than 4,000 requests are open.");
      const id = ++last;
      open.set(id, { resolve, reject, trace });
      host("ask", id, op, stringify(body));
    });
  };
  const settle = (id, json, problem) => {
    const q = open.get(id);
    if (!q) return;
    open.delete(id);
    if (!problem) {
      q.resolve(json === "" ? undefined : parse(json));
      return;
    }
    const p = parse(problem);
    q.trace.message = p.message;
    if (p.name) q.trace.name = p.name;
    if (p.code) q.trace.code = p.code;
    q.reject(q.trace);
  };

  // Timers.
  let lastTimer = 0;
  const timers = new Map();
  const addTimer = (fn, ms, args, again) => {
    if (typeof fn !== "function") throw new TypeError("A timer needs a function.");
    if (timers.size >= 10000) throw new ErrorType("Too many timers.");
    const id = ++lastTimer;
    const wait = Math.min(Math.max(Number(ms) || 0, again ? 1 : 0), 2 ** 31 - 1);
    timers.set(id, { fn, args, wait, again });
    host("timer", id, wait);
    return id;
  };
  const fire = (id) => {
    const t = timers.get(id);
    if (!t) return;
    if (t.again) host("timer", id, t.wait);
    else timers.delete(id);
    t.fn(...t.args);
  };
  const live = () => timers.size;
  define("setTimeout", (fn, ms, ...args) => addTimer(fn, ms, args, false));
  define("setInterval", (fn, ms, ...args) => addTimer(fn, ms, args, true));
  define("clearTimeout", (id) => void timers.delete(id));
  define("clearInterval", (id) => void timers.delete(id));
  define("queueMicrotask", (fn) => void Promise.resolve().then(fn));

  // Console.
  const show = (v) => {
    if (typeof v === "string") return v;
    if (v instanceof ErrorType) return v.stack ? `${v.name}: ${v.message}` : text(v);
    if (typeof v === "object" && v !== null) {
      try {
        return stringify(v, (_k, x) => (typeof x === "bigint" ? `${x}n` : x instanceof Map || x instanceof Set ? [...x] : x));
      } catch {
        return Object.prototype.toString.call(v);
      }
    }
    return typeof v === "bigint" ? `${v}n` : text(v);
  };
  const line = (level) => (...values) => {
    host("log", level, values.map(show).join(" "));
  };
  define("console", { log: line("info"), info: line("info"), debug: line("debug"), trace: line("debug"), warn: line("warning"), error: line("error") });

  define("progress", (first, second, third) => {
    const step = {};
    const number = (v) => (typeof v === "number" && Number.isFinite(v) ? v : undefined);
    if (typeof first === "object" && first !== null) {
      step.progress = number(first.progress);
      step.total = number(first.total);
      if (first.message !== undefined) step.message = text(first.message);
    } else if (typeof first === "string") {
      step.message = first;
    } else {
      step.progress = number(first);
      step.total = number(second);
      const message = third ?? (typeof second === "string" ? second : undefined);
      if (message !== undefined) step.message = text(message);
    }
    host("progress", stringify(step));
  });

  define("tools", Object.freeze({
    call: (name, args = {}) => ask("tool", { name: text(name), arguments: args }),
  }));
  define("secrets", Object.freeze({ get: (name) => ask("secret", { name: text(name) }) }));
  define("files", Object.freeze({
    read: (path) => ask("read", { path: text(path) }),
    write: (path, content) => ask("write", { path: text(path), content: text(content) }),
    list: (path) => ask("list", { path: text(path) }),
  }));

  // Text and bytes.
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const btoa = (s) => {
    s = text(s);
    let out = "";
    for (let i = 0; i < s.length; i += 3) {
      const [a, b, c] = [s.charCodeAt(i), s.charCodeAt(i + 1), s.charCodeAt(i + 2)];
      if (a > 255 || b > 255 || c > 255) throw new RangeError("btoa takes characters up to U+00FF only.");
      const n = (a << 16) | ((b || 0) << 8) | (c || 0);
      out += letters[n >> 18] + letters[(n >> 12) & 63] + (i + 1 < s.length ? letters[(n >> 6) & 63] : "=") + (i + 2 < s.length ? letters[n & 63] : "=");
    }
    return out;
  };
  const bytesOf = (s) => {
    s = text(s).replace(/[\t\n\f\r ]/g, "").replace(/={1,2}$/, "");
    const out = new Uint8Array(Math.floor((s.length * 3) / 4));
    let n = 0;
    let bits = 0;
    let at = 0;
    for (const ch of s) {
      const v = letters.indexOf(ch);
      if (v < 0) throw new TypeError("This is not base64.");
      n = (n << 6) | v;
      bits += 6;
      if (bits >= 8) {
        bits -= 8;
        out[at++] = (n >> bits) & 255;
      }
    }
    return out;
  };
  define("btoa", btoa);
  define("atob", (s) => {
    let out = "";
    for (const b of bytesOf(s)) out += String.fromCharCode(b);
    return out;
  });
  define("TextEncoder", class TextEncoder {
    encode(s = "") {
      const escaped = unescape(encodeURIComponent(text(s).toWellFormed()));
      const out = new Uint8Array(escaped.length);
      for (let i = 0; i < escaped.length; i++) out[i] = escaped.charCodeAt(i);
      return out;
    }
  });
  define("TextDecoder", class TextDecoder {
    decode(bytes = new Uint8Array()) {
      const b = new Uint8Array(bytes.buffer ?? bytes, bytes.byteOffset ?? 0, bytes.byteLength);
      let raw = "";
      for (let i = 0; i < b.length; i += 8192) raw += String.fromCharCode(...b.subarray(i, i + 8192));
      try {
        return decodeURIComponent(escape(raw));
      } catch {
        throw new TypeError("These bytes are not UTF-8.");
      }
    }
  });
  const plus = (s) => encodeURIComponent(s).replace(/%20/g, "+");
  define("URLSearchParams", class URLSearchParams {
    #list = [];
    constructor(init = "") {
      if (typeof init === "string") {
        for (const part of init.replace(/^\?/, "").split("&")) {
          if (!part) continue;
          const [k, ...v] = part.split("=");
          this.append(decodeURIComponent(k.replace(/\+/g, " ")), decodeURIComponent(v.join("=").replace(/\+/g, " ")));
        }
      } else for (const [k, v] of Symbol.iterator in init ? init : Object.entries(init)) this.append(k, v);
    }
    append(k, v) {
      this.#list.push([text(k), text(v)]);
    }
    set(k, v) {
      this.delete(k);
      this.append(k, v);
    }
    delete(k) {
      this.#list = this.#list.filter(([n]) => n !== text(k));
    }
    get(k) {
      return this.#list.find(([n]) => n === text(k))?.[1] ?? null;
    }
    getAll(k) {
      return this.#list.filter(([n]) => n === text(k)).map(([, v]) => v);
    }
    has(k) {
      return this.get(k) !== null;
    }
    [Symbol.iterator]() {
      return this.#list[Symbol.iterator]();
    }
    toString() {
      return this.#list.map(([k, v]) => `${plus(k)}=${plus(v)}`).join("&");
    }
  });

  // fetch.
  class Headers {
    #map = new Map();
    constructor(init = []) {
      for (const [k, v] of Symbol.iterator in init ? init : Object.entries(init)) this.append(k, v);
    }
    append(k, v) {
      const key = text(k).toLowerCase();
      this.#map.set(key, this.#map.has(key) ? `${this.#map.get(key)}, ${text(v)}` : text(v));
    }
    set(k, v) {
      this.#map.set(text(k).toLowerCase(), text(v));
    }
    get(k) {
      return this.#map.get(text(k).toLowerCase()) ?? null;
    }
    has(k) {
      return this.#map.has(text(k).toLowerCase());
    }
    delete(k) {
      this.#map.delete(text(k).toLowerCase());
    }
    forEach(fn) {
      for (const [k, v] of this.#map) fn(v, k, this);
    }
    entries() {
      return this.#map.entries();
    }
    [Symbol.iterator]() {
      return this.#map.entries();
    }
  }
  class Response {
    #body;
    constructor(answer) {
      this.status = answer.status;
      this.statusText = answer.statusText;
      this.ok = answer.status >= 200 && answer.status < 300;
      this.url = answer.url;
      this.redirected = answer.redirected;
      this.headers = new Headers(answer.headers);
      this.#body = answer;
    }
    async text() {
      if (this.#body.text !== undefined) return this.#body.text;
      return new TextDecoder().decode(bytesOf(this.#body.base64));
    }
    async json() {
      return parse(await this.text());
    }
    async arrayBuffer() {
      if (this.#body.base64 !== undefined) return bytesOf(this.#body.base64).buffer;
      return new TextEncoder().encode(this.#body.text).buffer;
    }
  }
  define("Headers", Headers);
  define("Response", Response);
  define("fetch", async (url, init = {}) => {
    const headers = [...new Headers(init.headers ?? [])];
    let body;
    if (init.body !== undefined && init.body !== null) {
      if (init.body instanceof Uint8Array || init.body instanceof ArrayBuffer) {
        let raw = "";
        for (const b of new Uint8Array(init.body)) raw += String.fromCharCode(b);
        body = { base64: btoa(raw) };
      } else {
        body = { text: text(init.body) };
        if (init.body instanceof URLSearchParams && !headers.some(([k]) => k === "content-type")) {
          headers.push(["content-type", "application/x-www-form-urlencoded;charset=UTF-8"]);
        }
      }
    }
    return new Response(await ask("fetch", { url: text(url), method: text(init.method ?? "GET"), redirect: text(init.redirect ?? "follow"), headers, ...body }));
  });

  const describe = (e) => {
    const out = { name: "", message: "", stack: "" };
    try {
      if (e instanceof ErrorType) {
        out.name = text(e.name);
        out.message = text(e.message);
        out.stack = text(e.stack);
      } else {
        out.message = typeof e === "string" ? e : (stringify(e) ?? text(e));
      }
    } catch {
      out.message = "It threw something that cannot be shown.";
    }
    return stringify(out);
  };
  const run = (fn, args) => {
    fn(parse(args)).then(
      (v) => {
        let json;
        try {
          json = stringify(v);
        } catch (e) {
          const why = e === null ? "the memory ran out" : e.message;
          host("fail", stringify({ name: "TypeError", message: `What the tool returned cannot be written as JSON: ${why}`, stack: "" }));
          return;
        }
        host("done", json ?? "");
      },
      (e) => host("fail", describe(e)),
    );
  };
  return { run, settle, fire, live };
})();
