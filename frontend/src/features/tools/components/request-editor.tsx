import { useState } from "react";
import type { Connector, ConnectorAuth } from "@/api/types";
import { CodeEditor } from "@/components/code-editor";
import { Field } from "@/components/ui/field";
import { Input, NativeSelect } from "@/components/ui/input";
import { parseJson, pretty } from "@/lib/json";
import { secretName } from "../lib/reach";
import { Pairs } from "./pairs";
import { SecretField } from "./secret-field";

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/** The ways to sign in whose place has a name. */
const named: Partial<Record<ConnectorAuth["type"], { of: string; example: string }>> = {
  header: { of: "header", example: "X-Api-Key" },
  query: { of: "query parameter", example: "api_key" },
  cookie: { of: "cookie", example: "session" },
};

interface RequestEditorProps {
  value: Connector;
  /** The name of the secret to propose. */
  proposed: string;
  onChange: (value: Connector) => void;
  onBodyProblem: (problem: string) => void;
}

/** The request of a tool without code. */
export function RequestEditor({ value, proposed, onChange, onBodyProblem }: RequestEditorProps) {
  const set = (change: Partial<Connector>) => onChange({ ...value, ...change });
  const [body, setBody] = useState(() => (value.body === undefined ? "" : pretty(value.body)));
  const [bodyProblem, setBodyProblem] = useState("");
  const writeBody = (text: string) => {
    setBody(text);
    const parsed = text.trim() === "" ? { ok: true as const, value: undefined } : parseJson(text);
    const problem = parsed.ok
      ? ""
      : `Body: line ${parsed.problem.line}, column ${parsed.problem.column}: ${parsed.problem.message}`;
    setBodyProblem(problem);
    onBodyProblem(problem);
    if (parsed.ok) set({ body: parsed.value });
  };
  const { auth } = value;
  const setAuth = (change: Partial<ConnectorAuth>) => auth && set({ auth: { ...auth, ...change } });
  const hasBody = value.method !== "GET" && value.method !== "HEAD";
  return (
    <div className="grid grid-cols-1 gap-4">
      <div className="grid grid-cols-[110px_minmax(0,1fr)] gap-2">
        <Field label="Method">
          {(ids) => (
            <NativeSelect
              {...ids}
              value={value.method}
              onChange={(e) => {
                const method = e.target.value;
                if (method === "GET" || method === "HEAD") {
                  setBody("");
                  setBodyProblem("");
                  onBodyProblem("");
                  set({ method, body: undefined, bodyAs: undefined });
                } else set({ method });
              }}
            >
              {methods.map((m) => (
                <option key={m}>{m}</option>
              ))}
            </NativeSelect>
          )}
        </Field>
        <Field label="URL" hint="{{name}} stands for an argument, behind the host only.">
          {(ids) => (
            <Input
              {...ids}
              className="font-mono text-xs"
              placeholder="https://api.example.com/users/{{id}}"
              value={value.url}
              onChange={(e) => set({ url: e.target.value.trim() })}
            />
          )}
        </Field>
      </div>
      <Pairs label="Query" one="parameter" value={value.query} onChange={(query) => set({ query })} />
      <Pairs label="Headers" one="header" value={value.headers} onChange={(headers) => set({ headers })} />
      <Pairs label="Cookies" one="cookie" value={value.cookies} onChange={(cookies) => set({ cookies })} />
      {hasBody && (
        <div className="grid grid-cols-1 gap-1">
          <div className="flex items-center justify-between gap-2">
            <span className="font-medium text-sm">Body</span>
            <NativeSelect
              aria-label="Send the body as"
              className="w-32"
              value={value.bodyAs ?? "json"}
              onChange={(e) => {
                const as = e.target.value;
                set({
                  bodyAs: as === "json" ? undefined : as,
                  files: as === "multipart" ? value.files : undefined,
                });
              }}
            >
              <option value="json">JSON</option>
              <option value="form">Form</option>
              <option value="multipart">Form with files</option>
              <option value="text">Text</option>
            </NativeSelect>
          </div>
          <CodeEditor
            language="json"
            label="Body as JSON"
            className="h-28"
            invalid={bodyProblem !== ""}
            describedBy="body-about"
            value={body}
            onChange={writeBody}
          />
          <p id="body-about" className={bodyProblem ? "text-danger text-xs" : "text-ink-3 text-xs"}>
            {bodyProblem ||
              'A text that is one placeholder, such as "{{count}}", becomes the argument with its type; one that is not given is left out.'}
          </p>
          {value.bodyAs === "multipart" && (
            <FilesField value={value.files} onChange={(files) => set({ files })} />
          )}
        </div>
      )}
      <fieldset className="grid grid-cols-1 gap-2">
        <legend className="mb-1 font-medium text-sm">Signing in</legend>
        <NativeSelect
          aria-label="How to sign in"
          value={auth?.type ?? ""}
          onChange={(e) => {
            const type = e.target.value as ConnectorAuth["type"] | "";
            set({
              auth: type
                ? {
                    type,
                    secret: auth?.secret ?? `\${secret:${proposed}}`,
                    name: auth?.name,
                    user: auth?.user,
                  }
                : undefined,
            });
          }}
        >
          <option value="">Not at all</option>
          <option value="bearer">Bearer token</option>
          <option value="basic">User and password (basic)</option>
          <option value="header">Key in a header</option>
          <option value="query">Key in the query</option>
          <option value="cookie">Key in a cookie</option>
        </NativeSelect>
        {auth && (
          <>
            {named[auth.type] && (
              <Input
                aria-label={`Name of the ${named[auth.type]?.of}`}
                className="font-mono text-xs"
                placeholder={named[auth.type]?.example}
                value={auth.name ?? ""}
                onChange={(e) => setAuth({ name: e.target.value.trim() })}
              />
            )}
            {auth.type === "basic" && (
              <Input
                aria-label="User"
                autoComplete="off"
                value={auth.user ?? ""}
                onChange={(e) => setAuth({ user: e.target.value })}
              />
            )}
            <SecretField
              name={secretName(auth) ?? ""}
              onName={(name) => setAuth({ secret: `\${secret:${name}}` })}
            />
          </>
        )}
      </fieldset>
      <Field
        label="Keep of the answer"
        hint="A path into a JSON answer: items.0.name, or items.#.name for all. Empty keeps everything."
      >
        {(ids) => (
          <Input
            {...ids}
            className="font-mono text-xs"
            value={value.pick ?? ""}
            onChange={(e) => set({ pick: e.target.value.trim() || undefined })}
          />
        )}
      </Field>
      <label className="flex items-start gap-2 text-sm">
        <input
          type="checkbox"
          className="mt-0.5 accent-(--accent)"
          checked={value.allowPrivate ?? false}
          onChange={(e) => set({ allowPrivate: e.target.checked || undefined })}
        />
        The host may lead to this computer or a private network
      </label>
    </div>
  );
}

/** The fields of a form that are files. */
function FilesField({
  value,
  onChange,
}: {
  value: readonly string[] | undefined;
  onChange: (files: string[] | undefined) => void;
}) {
  // What is typed is kept beside the value: a comma at its end is no name yet.
  const [text, setText] = useState(() => (value ?? []).join(", "));
  return (
    <Field
      label="Fields that are files"
      hint="Their names, with commas between. Such an argument is a text, or an object with name, mediaType and text or base64."
    >
      {(ids) => (
        <Input
          {...ids}
          className="font-mono text-xs"
          placeholder="attachment"
          value={text}
          onChange={(e) => {
            setText(e.target.value);
            const names = e.target.value
              .split(",")
              .map((n) => n.trim())
              .filter(Boolean);
            onChange(names.length > 0 ? names : undefined);
          }}
        />
      )}
    </Field>
  );
}
