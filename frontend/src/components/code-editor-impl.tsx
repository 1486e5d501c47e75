import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { json, jsonParseLinter } from "@codemirror/lang-json";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { linter } from "@codemirror/lint";
import { Compartment, EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  keymap,
  lineNumbers,
  placeholder as placeholderOf,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";
import type { CodeEditorProps } from "./code-editor";

const theme = EditorView.theme({
  "&": { fontSize: "12.5px", color: "var(--ink)", backgroundColor: "transparent", height: "100%" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--ink)", padding: "8px 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--ink-3)", border: "none" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 8px 0 10px", minWidth: "28px" },
  ".cm-placeholder": { color: "var(--ink-3)" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": {
    backgroundColor: "color-mix(in oklab, var(--accent) 25%, transparent) !important",
  },
  ".cm-matchingBracket": { backgroundColor: "var(--accent-soft)", outline: "none" },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    color: "var(--ink)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
  },
  ".cm-badLine": { backgroundColor: "var(--danger-soft)" },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--success)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--warning)" },
  { tag: [tags.keyword, tags.operatorKeyword], color: "var(--info)" },
  { tag: tags.comment, color: "var(--ink-3)", fontStyle: "italic" },
  { tag: tags.invalid, color: "var(--danger)" },
]);

export default function CodeEditorImpl(props: CodeEditorProps) {
  const { value, onChange, language, label, placeholder, readOnly, lint, describedBy, invalid } = props;
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
          keymap.of([...defaultKeymap.filter((k) => k.key !== "Mod-Enter"), ...historyKeymap]),
          lineNumbers(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          EditorView.lineWrapping,
          syntaxHighlighting(colours),
          theme,
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
  }, [language, lint, placeholder, readOnly]);

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

  return <div ref={box} className="h-full min-h-0 [&_.cm-editor]:h-full" />;
}
