package core

import (
	"unicode/utf8"
)

// Clip returns s, or what fits of it into limit bytes without cutting a
// character, followed by "…".
func Clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}

// MCP returns the result as MCP spells it (2025-11-25, CallToolResult), to be
// encoded as JSON.
func (r ToolResult) MCP() map[string]any {
	content := make([]map[string]any, 0, len(r.Content))
	for _, c := range r.Content {
		b := map[string]any{"type": c.Type}
		switch c.Type {
		case ContentText:
			b["text"] = c.Text
		case ContentImage, ContentAudio:
			b["data"], b["mimeType"] = c.Data, c.MIMEType
		case ContentResourceLink:
			b["uri"], b["name"] = c.URI, c.Name
			if c.MIMEType != "" {
				b["mimeType"] = c.MIMEType
			}
		case ContentResource:
			resource := map[string]any{"uri": c.URI}
			if c.MIMEType != "" {
				resource["mimeType"] = c.MIMEType
			}
			if len(c.Data) > 0 {
				resource["blob"] = c.Data
			} else {
				resource["text"] = c.Text
			}
			b["resource"] = resource
		}
		content = append(content, b)
	}
	out := map[string]any{"content": content, "isError": r.IsError}
	if len(r.StructuredContent) > 0 {
		out["structuredContent"] = r.StructuredContent
	}
	return out
}
