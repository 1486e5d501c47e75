import { autocompletion, type CompletionContext, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { json, jsonParseLinter } from "@codemirror/lang-json";
import { bracketMatching, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, linter, setDiagnostics } from "@codemirror/lint";
import { Compartment, EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  keymap,
  lineNumbers,
  placeholder as placeholderOf,
} from "@codemirror/view";
import { useEffect, useRef } from "react";
import type { CodeEditorProps, Hints } from "./code-editor";
import { codeColours, codeTheme } from "./code-theme";

/** Completes the word at the cursor from what may stand there. */
function complete(context: CompletionContext, hints: Hints) {
  const before = context.matchBefore(/[\w$.]*/);
  if (!before || (before.text === "" && !context.explicit)) return null;
  const dot = before.text.lastIndexOf(".") + 1;
  const options = hints[before.text.slice(0, dot)];
  return options ? { from: before.from + dot, options: [...options], validFor: /^[\w$]*$/ } : null;
}

export default function CodeEditorImpl(props: CodeEditorProps) {
  const {
    value,
    onChange,
    language,
    label,
    placeholder,
    readOnly,
    lint,
    describedBy,
    invalid,
    hints,
    problem,
  } = props;
  const offers = useRef(hints);
  offers.current = hints;
  const hinted = hints !== undefined;
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const attributes = useRef(new Compartment());
  const latest = useRef(onChange);
  latest.current = onChange;
  const initial = useRef(value);
  const known = useRef(value);
  known.current = value;

  useEffect(() => {
    if (!box.current) return;
    const editor = new EditorView({
      parent: box.current,
      state: EditorState.create({
        doc: initial.current,
        extensions: [
          history(),
          // Tab leaves the editor: a keyboard must not be caught in it.
          hinted
            ? [
                autocompletion({ override: [(c) => complete(c, offers.current ?? {})] }),
                keymap.of(completionKeymap),
              ]
            : [],
          keymap.of([...defaultKeymap.filter((k) => k.key !== "Mod-Enter"), ...historyKeymap]),
          lineNumbers(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          EditorView.lineWrapping,
          syntaxHighlighting(codeColours),
          codeTheme,
          language === "json" ? json() : language === "javascript" ? javascript() : [],
          language === "json" && lint ? linter(jsonParseLinter()) : [],
          placeholder ? placeholderOf(placeholder) : [],
          readOnly ? [EditorState.readOnly.of(true)] : [],
          attributes.current.of([]),
          EditorView.updateListener.of((u) => {
            if (!u.docChanged) return;
            const text = u.state.doc.toString();
            // A change that came from outside is no edit.
            if (text !== known.current) latest.current?.(text);
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [language, lint, placeholder, readOnly, hinted]);

  useEffect(() => {
    view.current?.dispatch({
      effects: attributes.current.reconfigure(
        EditorView.contentAttributes.of({
          "aria-label": label,
          tabindex: "0",
          spellcheck: "false",
          autocorrect: "off",
          autocapitalize: "off",
          ...(describedBy ? { "aria-describedby": describedBy } : {}),
          ...(invalid ? { "aria-invalid": "true" } : {}),
        }),
      ),
    });
  }, [label, describedBy, invalid]);

  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const now = editor.state.doc.toString();
    if (now !== value) editor.dispatch({ changes: { from: 0, to: now.length, insert: value } });
    initial.current = value;
  }, [value]);

  useEffect(() => {
    const editor = view.current;
    if (!editor || lint) return;
    const { doc } = editor.state;
    const marks: Diagnostic[] = [];
    if (problem?.line) {
      const line = doc.line(Math.min(problem.line, doc.lines));
      const from = Math.min(line.from + Math.max((problem.column ?? 1) - 1, 0), line.to);
      marks.push({ from, to: line.to, severity: "error", message: problem.message });
    }
    editor.dispatch(setDiagnostics(editor.state, marks));
  }, [problem, lint]);

  return <div ref={box} className="h-full min-h-0 [&_.cm-editor]:h-full" />;
}
