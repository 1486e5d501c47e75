package core

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// ToolKind says who runs a tool.
type ToolKind string

const (
	ToolMCP     ToolKind = "mcp"     // a tool of an MCP server
	ToolCustom  ToolKind = "custom"  // a tool of the person's own, from tools.json
	ToolBuiltin ToolKind = "builtin" // a tool of the product
	// ToolFeature makes a tool of what an MCP server offers beside tools: its
	// resources and its prompts.
	ToolFeature ToolKind = "feature"
)

// ToolRef is the identity of a tool. Display names and the names that models
// see are derived from it and never lead back to it except through the catalog.
type ToolRef struct {
	Kind ToolKind `json:"kind"`
	// Server is the name of the configured MCP server; "" unless Kind is
	// mcp or feature.
	Server string `json:"server,omitempty"`
	// Name is the tool's own name, exactly as its server spells it.
	Name string `json:"name"`
	// Digest identifies the definition (see [Tool.ComputeDigest]). "" in a
	// reference made by hand, which then means whatever definition is current.
	Digest string `json:"digest,omitempty"`
}

// Same reports whether a and b name the same tool, whatever its definition.
func (a ToolRef) Same(b ToolRef) bool {
	return a.Kind == b.Kind && a.Server == b.Server && a.Name == b.Name
}

// String is for messages and logs: "github: create_issue".
func (a ToolRef) String() string {
	if a.Server != "" {
		return a.Server + ": " + a.Name
	}
	return a.Name
}

// Annotations are what a server says about its tool (MCP 2025-11-25, Tools,
// ToolAnnotations). They are claims, not facts. nil means that it says nothing.
type Annotations struct {
	Title           string `json:"title,omitempty"`
	ReadOnlyHint    *bool  `json:"readOnlyHint,omitempty"`
	DestructiveHint *bool  `json:"destructiveHint,omitempty"`
	IdempotentHint  *bool  `json:"idempotentHint,omitempty"`
	OpenWorldHint   *bool  `json:"openWorldHint,omitempty"`
}

// Tool is one callable thing with its definition, unchanged from its source.
type Tool struct {
	Ref          ToolRef         `json:"ref"`
	Title        string          `json:"title"` // never empty, see [TitleOf]
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`            // the original JSON Schema; never empty
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"` // nil when the source gives none
	Annotations  Annotations     `json:"annotations"`
	// TimeoutMS is how long one call may be silent, in milliseconds: news of the
	// call resets it. 0 means the gate's default.
	TimeoutMS int64 `json:"timeoutMs,omitempty"`
	// MaxTotalMS limits one call in all, whatever its news, in milliseconds; 0
	// means the gate's default.
	MaxTotalMS int64 `json:"maxTotalMs,omitempty"`
	// Disabled says that a person turned the tool off in the settings of its
	// server: it is listed, but nobody may call it.
	Disabled bool `json:"disabled,omitempty"`
	// Broken is the reason why the tool can be shown but not called; "" if it can.
	Broken string `json:"broken,omitempty"`
}

// ComputeDigest returns the SHA-256 (hex, 64 characters) of the definition:
// everything but the digest itself, the reason in Broken, and what is ours and
// not the source's: the time limits, and whether the tool is turned off.
func (t Tool) ComputeDigest() string {
	t.Ref.Digest, t.Broken, t.TimeoutMS, t.MaxTotalMS, t.Disabled = "", "", 0, 0, false
	t.InputSchema, t.OutputSchema = canonical(t.InputSchema), canonical(t.OutputSchema)
	b, err := json.Marshal(t)
	if err != nil { // only a schema that is not JSON gets here, and it is still a definition
		b = []byte(t.Ref.Name + "\x00" + t.Description + "\x00" + string(t.InputSchema) + "\x00" + string(t.OutputSchema))
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// canonical re-encodes JSON so that key order and white space do not matter.
func canonical(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	var v any
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return raw
	}
	b, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return b
}

// TitleOf returns the name to show for a tool: title, else the annotation's
// title, else one made from the name ("get_file_contents" → "Get File Contents").
// The order is that of MCP 2025-11-25, BaseMetadata.
func TitleOf(title, annotationTitle, name string) string {
	if s := strings.TrimSpace(title); s != "" {
		return s
	}
	if s := strings.TrimSpace(annotationTitle); s != "" {
		return s
	}
	var words []string
	for _, w := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("_-./: ", r) }) {
		for _, part := range splitCamel(w) {
			r := []rune(part)
			words = append(words, strings.ToUpper(string(r[:1]))+string(r[1:]))
		}
	}
	if len(words) == 0 {
		return name
	}
	return strings.Join(words, " ")
}

func splitCamel(s string) []string {
	var out []string
	runes := []rune(s)
	start := 0
	for i := 1; i < len(runes); i++ {
		if isUpper(runes[i]) && !isUpper(runes[i-1]) {
			out = append(out, string(runes[start:i]))
			start = i
		}
	}
	return append(out, string(runes[start:]))
}

func isUpper(r rune) bool { return r >= 'A' && r <= 'Z' }

// ToolCall asks for one run of one tool.
type ToolCall struct {
	// ID is unique for ever and is also the progress token of the call. The
	// gate makes one when it is empty.
	ID string `json:"id"`
	// ParentID is the call on whose behalf this one is made; "" for none.
	ParentID string  `json:"parentId,omitempty"`
	Ref      ToolRef `json:"ref"`
	// Alias is the name that a model used. The gate resolves it when Ref.Name is "".
	Alias string `json:"alias,omitempty"`
	// Arguments is a JSON object; empty means {}.
	Arguments json.RawMessage `json:"arguments"`
}

// ContentKind names a block of a result (MCP 2025-11-25, ContentBlock).
type ContentKind string

const (
	ContentText         ContentKind = "text"
	ContentImage        ContentKind = "image"
	ContentAudio        ContentKind = "audio"
	ContentResourceLink ContentKind = "resource_link"
	ContentResource     ContentKind = "resource"
)

// Content is one block of a result. Which fields are set follows from Type.
type Content struct {
	Type     ContentKind `json:"type"`
	Text     string      `json:"text,omitempty"`
	MIMEType string      `json:"mimeType,omitempty"`
	Data     []byte      `json:"data,omitempty"` // image, audio, blob; base64 in JSON
	URI      string      `json:"uri,omitempty"`
	Name     string      `json:"name,omitempty"`
}

// ToolResult is the answer of a tool. A tool that fails is a result with
// IsError; a call that fails is a Go error instead.
type ToolResult struct {
	Content           []Content       `json:"content"`
	StructuredContent json.RawMessage `json:"structuredContent,omitempty"` // any JSON value; nil for none
	IsError           bool            `json:"isError,omitempty"`
	// Bytes is the size of the result before it was shortened.
	Bytes int64 `json:"bytes,omitempty"`
	// Shortened says that the size cap cut the content.
	Shortened bool `json:"shortened,omitempty"`
	// Warning is a fault that did not cost the result, such as structured
	// content that breaks the output schema; "" for none.
	Warning string `json:"warning,omitempty"`
}

// Text joins the text blocks, one a line.
func (r ToolResult) Text() string {
	var parts []string
	for _, c := range r.Content {
		if c.Text != "" {
			parts = append(parts, c.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// ChunkKind names what a [Chunk] carries.
type ChunkKind string

const (
	ChunkProgress ChunkKind = "progress"
	ChunkLog      ChunkKind = "log"
	ChunkStatus   ChunkKind = "status"
	ChunkInput    ChunkKind = "input" // the server waits for a person
)

// Chunk is news about a call that is running. It is never a piece of the
// result: MCP has no partial results in any revision.
type Chunk struct {
	CallID string    `json:"callId"`
	Seq    int       `json:"seq"` // 1, 2, 3 … within the call
	At     string    `json:"at"`  // RFC 3339
	Kind   ChunkKind `json:"kind"`
	// Message may be "" when the server sends numbers only.
	Message  string   `json:"message,omitempty"`
	Progress *float64 `json:"progress,omitempty"`
	Total    *float64 `json:"total,omitempty"` // nil: unknown
	Level    string   `json:"level,omitempty"` // of a log
}

// ChunkFunc receives the chunks of one call, in order, from one goroutine at a
// time. It must not block. Seq and At are set by the receiver.
type ChunkFunc func(Chunk)
