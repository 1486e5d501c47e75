import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** The look of code, in the tokens of the page. */
export const codeTheme = EditorView.theme({
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
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent)",
    color: "var(--on-accent)",
  },
  ".cm-completionDetail": { color: "inherit", opacity: "0.8" },
  ".cm-completionInfo": { maxWidth: "320px", padding: "6px 8px" },
  ".cm-changedLine": { backgroundColor: "var(--success-soft) !important" },
  // A line below, not a stronger ground: the colours of the code must stay readable on it.
  ".cm-changedText": {
    background: "none !important",
    boxShadow: "inset 0 -2px color-mix(in oklab, var(--success) 60%, transparent)",
  },
  ".cm-deletedChunk": { backgroundColor: "var(--danger-soft) !important", paddingLeft: "6px" },
  ".cm-deletedText": {
    background: "none !important",
    boxShadow: "inset 0 -2px color-mix(in oklab, var(--danger) 60%, transparent)",
  },
  // Never by colour alone.
  ".cm-changedLine::before": { content: '"+ "', color: "var(--success)" },
  ".cm-deletedLine::before": { content: '"− "', color: "var(--danger)" },
  ".cm-collapsedLines": {
    background: "var(--sunken) !important",
    color: "var(--ink-2)",
  },
  ".cm-badLine": { backgroundColor: "var(--danger-soft)" },
});

export const codeColours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--success)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--warning)" },
  { tag: [tags.keyword, tags.operatorKeyword], color: "var(--info)" },
  { tag: tags.comment, color: "var(--ink-3)", fontStyle: "italic" },
  { tag: tags.invalid, color: "var(--danger)" },
]);
