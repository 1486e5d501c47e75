import { ExternalLink } from "lucide-react";
import type { Content, ToolResult } from "@/api/types";
import { openOutside } from "@/lib/clipboard";
import { formatBytes } from "@/lib/format";
import { pretty, prettyText } from "@/lib/json";
import { TextBlock } from "./json-view";
import { Badge } from "./ui/badge";
import { Button } from "./ui/button";
import { Callout } from "./ui/callout";

const shownImages = /^image\/(png|jpeg|gif|webp|avif|bmp)$/;

function looksJson(text: string): boolean {
  const t = text.trim();
  return (t.startsWith("{") && t.endsWith("}")) || (t.startsWith("[") && t.endsWith("]"));
}

/** A tool's answer as a person reads it. Everything in it is hostile input. */
export function ResultContent({ result }: { result: ToolResult }) {
  const blocks = result.content ?? [];
  return (
    <div className="grid grid-cols-1 gap-2">
      {result.shortened && (
        <Callout tone="warning">
          The result was shortened. The whole was {formatBytes(result.bytes ?? 0)}.
        </Callout>
      )}
      {result.warning && <Callout tone="warning">{result.warning}</Callout>}
      {blocks.map((c, i) => (
        <Block key={i} content={c} />
      ))}
      {blocks.length === 0 && result.structuredContent !== undefined && (
        <TextBlock json label="Structured result" text={pretty(result.structuredContent)} />
      )}
      {blocks.length === 0 && result.structuredContent === undefined && (
        <p className="text-ink-3 text-sm">The tool returned nothing.</p>
      )}
    </div>
  );
}

function Block({ content: c }: { content: Content }) {
  switch (c.type) {
    case "text":
      return <TextOf text={c.text ?? ""} label="Result" />;
    case "image":
      return <Picture content={c} />;
    case "audio":
      return <Blob content={c} word="Audio" />;
    case "resource_link":
      return <Link content={c} />;
    case "resource":
      return (
        <div className="grid grid-cols-1 gap-1">
          <p className="flex items-center gap-2 text-ink-2 text-xs">
            <Badge>resource</Badge>
            <span className="min-w-0 truncate font-mono">{c.uri ?? c.name}</span>
          </p>
          {c.text !== undefined ? (
            <TextOf text={c.text} label="Resource" />
          ) : c.mimeType && shownImages.test(c.mimeType) ? (
            <Picture content={c} />
          ) : (
            <Blob content={c} word="Data" />
          )}
        </div>
      );
  }
}

function TextOf({ text, label }: { text: string; label: string }) {
  const json = looksJson(text);
  return <TextBlock text={json ? prettyText(text) : text} json={json} label={label} />;
}

function Picture({ content: c }: { content: Content }) {
  if (!c.data || !shownImages.test(c.mimeType ?? "")) return <Blob content={c} word="Image" />;
  return (
    <img
      src={`data:${c.mimeType};base64,${c.data}`}
      alt={c.name || "Result of the tool"}
      className="max-h-80 max-w-full justify-self-start rounded-md border border-line bg-sunken object-contain"
    />
  );
}

function Blob({ content: c, word }: { content: Content; word: string }) {
  const bytes = Math.floor(((c.data?.length ?? 0) * 3) / 4);
  return (
    <p className="text-ink-2 text-sm">
      {word}, <span className="font-mono text-xs">{c.mimeType || "unknown type"}</span>, {formatBytes(bytes)}
    </p>
  );
}

function Link({ content: c }: { content: Content }) {
  const uri = c.uri ?? "";
  const web = /^https?:/i.test(uri);
  return (
    <p className="flex min-w-0 items-center gap-2 text-sm">
      <Badge>link</Badge>
      <span className="min-w-0 truncate">
        {c.name && <span className="mr-2">{c.name}</span>}
        <span className="font-mono text-ink-2 text-xs">{uri}</span>
      </span>
      {web && (
        <Button size="sm" variant="ghost" onClick={() => openOutside(uri)}>
          <ExternalLink /> Open
        </Button>
      )}
    </p>
  );
}
