package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"patchbay/backend/core"
)

// wireContent is one block of a result (MCP 2025-11-25, ContentBlock).
type wireContent struct {
	Type     string        `json:"type"`
	Text     string        `json:"text"`
	Data     string        `json:"data"`
	MIMEType string        `json:"mimeType"`
	URI      string        `json:"uri"`
	Name     string        `json:"name"`
	Title    string        `json:"title"`
	Resource *wireResource `json:"resource"`
}

// wireResource is what a resource holds (MCP 2025-11-25, ResourceContents).
type wireResource struct {
	URI      string `json:"uri"`
	MIMEType string `json:"mimeType"`
	Text     string `json:"text"`
	Blob     string `json:"blob"`
}

// decodeResult reads the result of tools/call. A block that cannot be read is
// shown as the text that it is; it does not cost the rest.
func decodeResult(raw []byte) (core.ToolResult, error) {
	var w struct {
		Content    []wireContent   `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
		Old        json.RawMessage `json:"toolResult"` // in the place of content (MCP 2024-10-07)
	}
	r := core.ToolResult{Bytes: int64(len(raw)), Content: []core.Content{}}
	if err := json.Unmarshal(raw, &w); err != nil || string(raw) == "null" {
		return decodeOddResult(raw)
	}
	r.IsError = w.IsError
	if s := bytes.TrimSpace(w.Structured); len(s) > 0 && string(s) != "null" {
		r.StructuredContent = s
	}
	if w.Content == nil && len(w.Old) > 0 && string(w.Old) != "null" {
		c := core.Content{Type: core.ContentText}
		if json.Unmarshal(w.Old, &c.Text) != nil {
			c.Text = string(w.Old)
		}
		r.Content = append(r.Content, c)
		return r, nil
	}
	var warn string
	r.Content = make([]core.Content, 0, len(w.Content))
	for i := range w.Content {
		c, odd := content(&w.Content[i])
		if odd != "" {
			warn = odd
			if !json.Valid([]byte(c.Text)) {
				c = rawContent(raw, i, c)
			}
		}
		r.Content = append(r.Content, c)
	}
	r.Warning = warn
	return r, nil
}

// rawContent shows block i of the result as it came.
func rawContent(raw []byte, i int, c core.Content) core.Content {
	var w struct {
		Content []json.RawMessage `json:"content"`
	}
	if json.Unmarshal(raw, &w) == nil && i < len(w.Content) {
		return core.Content{Type: core.ContentText, Text: string(w.Content[i])}
	}
	return c
}

// decodeOddResult reads a result that breaks the schema, as far as it goes.
func decodeOddResult(raw []byte) (core.ToolResult, error) {
	var f map[string]json.RawMessage
	if err := json.Unmarshal(raw, &f); err != nil && json.Valid(raw) {
		return core.ToolResult{}, core.Errorf(core.CodeUnavailable, "its answer is not an object: %s", core.Clip(string(raw), 100))
	} else if err != nil {
		return core.ToolResult{}, core.Errorf(core.CodeUnavailable, "its answer is not valid JSON: %w", err)
	}
	r := core.ToolResult{Bytes: int64(len(raw)), Content: []core.Content{}, Warning: "The server's result does not follow the protocol; it is shown as far as it could be read."}
	_ = json.Unmarshal(f["isError"], &r.IsError)
	if s := bytes.TrimSpace(f["structuredContent"]); len(s) > 0 && string(s) != "null" {
		r.StructuredContent = s
	}
	var blocks []json.RawMessage
	if v, ok := f["content"]; ok && json.Unmarshal(v, &blocks) != nil {
		blocks = []json.RawMessage{v}
	}
	for _, b := range blocks {
		c, _ := decodeBlock(b)
		r.Content = append(r.Content, c)
	}
	return r, nil
}

// decodeBlock reads one block that stands alone. One that cannot be read is the
// text that it is, and odd says why.
func decodeBlock(raw []byte) (c core.Content, odd string) {
	var w wireContent
	odd = "The server sent content that cannot be read; it is shown as text."
	if json.Unmarshal(raw, &w) == nil {
		c, odd = content(&w)
	}
	if odd != "" {
		c = core.Content{Type: core.ContentText, Text: string(raw)}
	}
	return c, odd
}

// content converts one block. A second value says what was odd about it.
func content(w *wireContent) (core.Content, string) {
	c := core.Content{Type: core.ContentKind(w.Type), Text: w.Text, MIMEType: w.MIMEType, URI: w.URI, Name: w.Name}
	var err error
	switch c.Type {
	case core.ContentText:
	case core.ContentImage, core.ContentAudio:
		c.Data, err = lenientBase64(w.Data)
	case core.ContentResourceLink:
		if w.Title != "" {
			c.Name = w.Title
		}
	case core.ContentResource:
		if w.Resource == nil {
			return c, "The server sent a resource without its content."
		}
		c.URI, c.MIMEType, c.Text = w.Resource.URI, w.Resource.MIMEType, w.Resource.Text
		c.Data, err = lenientBase64(w.Resource.Blob)
	default:
		return c, fmt.Sprintf("The server sent content of the unknown type %q; it is shown as text.", w.Type)
	}
	if err != nil {
		return c, "The server sent binary content that cannot be decoded; it is shown as text."
	}
	return c, ""
}

// lenientBase64 accepts what servers send besides standard base64: the URL
// alphabet, missing padding, and data: URLs.
func lenientBase64(s string) ([]byte, error) {
	if s == "" {
		return nil, nil
	}
	b, err := base64.StdEncoding.DecodeString(s)
	if err == nil {
		return b, nil
	}
	if strings.HasPrefix(s, "data:") {
		_, s, _ = strings.Cut(s, ",")
	}
	s = strings.NewReplacer("-", "+", "_", "/", "\n", "", "\r", "", " ", "").Replace(strings.TrimRight(s, "= \r\n"))
	return base64.RawStdEncoding.DecodeString(s)
}

// maxValidated bounds what is spent on checking a result against its schema.
const maxValidated = 1 << 20

// outputSchema is a compiled outputSchema; nil if it cannot be compiled, which
// is no fault of the result.
type outputSchema struct{ s *jsonschema.Resolved }

// check validates structured content against the tool's outputSchema (MCP
// 2025-11-25, Tools, Output Schema: clients SHOULD). It returns a warning, ""
// if all is well or the schema is of no use.
func (l *toolList) check(t core.Tool, r core.ToolResult) string {
	if t.OutputSchema == nil || r.IsError {
		return ""
	}
	if r.StructuredContent == nil {
		return "The tool declares structured output but sent none."
	}
	if len(r.StructuredContent) > maxValidated {
		return ""
	}
	v, ok := l.schemas.Load(t.Ref.Name)
	if !ok {
		v, _ = l.schemas.LoadOrStore(t.Ref.Name, compileSchema(t.OutputSchema))
	}
	schema := v.(*outputSchema).s
	if schema == nil {
		return ""
	}
	var val any
	if json.Unmarshal(r.StructuredContent, &val) != nil {
		return "The tool's structured output is not valid JSON."
	}
	if err := schema.Validate(val); err != nil {
		return "The tool's structured output does not match its own schema: " + core.Clip(err.Error(), 300)
	}
	return ""
}

func compileSchema(raw []byte) *outputSchema {
	if len(raw) > maxValidated {
		return &outputSchema{}
	}
	var s jsonschema.Schema
	if json.Unmarshal(raw, &s) != nil {
		return &outputSchema{}
	}
	// No loader: references to the network stay unresolved, and the schema unused.
	res, err := s.Resolve(nil)
	if err != nil {
		return &outputSchema{}
	}
	return &outputSchema{s: res}
}
