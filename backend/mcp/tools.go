package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/backend/core"
)

// toolList is one immutable snapshot of a server's tools.
type toolList struct {
	tools    []core.Tool
	index    map[string]int
	schemas  sync.Map // tool name → *outputSchema, compiled on first use
	notes    []string // what was odd about the list
	at       time.Time
	ttl      time.Duration  // how long the server says that it is good; 0: it does not say
	scope    string         // for whom, in its words
	private  bool           // for the account that is signed in only
	unread   bool           // it could not be read
	features []core.Feature // what the server offers beside them
}

func newToolList(tools []core.Tool, notes []string) *toolList {
	if tools == nil {
		tools = []core.Tool{} // none, which is not the same as off
	}
	l := &toolList{tools: tools, index: make(map[string]int, len(tools)), notes: notes, at: time.Now()}
	for i, t := range tools {
		l.index[t.Ref.Name] = i
	}
	return l
}

func (l *toolList) get(name string) (core.Tool, bool) {
	if l == nil {
		return core.Tool{}, false
	}
	i, ok := l.index[name]
	if !ok {
		return core.Tool{}, false
	}
	return l.tools[i], true
}

// maxListTTL is the longest time, in milliseconds, for which a server's word that
// its list is good counts.
const maxListTTL = 24 * 60 * 60 * 1000

// listTools reads all pages of tools/list, within the limits. One illegal tool
// does not cost the others.
func listTools(ctx context.Context, c rpc, server string, lim Limits) (l *toolList, err error) {
	ctx, cancel := context.WithTimeout(ctx, lim.List)
	defer cancel()
	var tools []core.Tool
	var notes []string
	var ttl int64
	var scope string
	defer func() {
		if l != nil {
			l.ttl, l.scope = time.Duration(ttl)*time.Millisecond, scope
		}
	}()
	names, cursors := map[string]bool{}, map[string]bool{}
	cursor := ""
	for page := 1; ; page++ {
		raw, err := func() ([]byte, error) {
			pctx, cancel := context.WithTimeout(ctx, lim.ListPage)
			defer cancel()
			return c.listTools(pctx, cursor)
		}()
		if errors.Is(err, context.DeadlineExceeded) {
			late := core.Errorf(core.CodeTimeout, "it did not answer within %s.", seconds(lim.ListPage))
			late.Err = err
			return nil, late
		} else if err != nil {
			return nil, err
		}
		var res struct {
			Tools json.RawMessage `json:"tools"`
			Next  json.RawMessage `json:"nextCursor"`
			TTL   json.RawMessage `json:"ttlMs"`
			Scope json.RawMessage `json:"cacheScope"`
		}
		var list []json.RawMessage
		if !json.Valid(raw) {
			return nil, errors.New("its answer is not valid JSON. Tell the author of the server")
		} else if json.Unmarshal(raw, &res) != nil || len(res.Tools) > 0 && json.Unmarshal(res.Tools, &list) != nil {
			return nil, errors.New("its answer has no array named tools. Tell the author of the server")
		}
		var next *string
		if len(res.Next) > 0 && json.Unmarshal(res.Next, &next) != nil {
			notes = append(notes, "The server's name for the next page is no text; the list was ended there.")
		}
		if page == 1 { // neither is worth losing a list for
			_ = json.Unmarshal(res.Scope, &scope)
			if json.Unmarshal(res.TTL, &ttl) != nil || ttl < 0 || ttl > maxListTTL {
				ttl = 0
			}
		}
		for _, r := range list {
			t := decodeTool(r, server, len(tools)+1)
			if t.Broken == "" && c.mirrors() {
				if p := mirrorProblem(t.InputSchema); p != "" {
					t.Broken = p + " Tell the author of the server."
				}
			}
			if names[t.Ref.Name] {
				notes = append(notes, fmt.Sprintf("Tool %q is listed twice; the first one counts.", t.Ref.Name))
				continue
			}
			names[t.Ref.Name] = true
			if t.Broken != "" {
				notes = append(notes, fmt.Sprintf("Tool %q: %s", t.Ref.Name, t.Broken))
			}
			if tools = append(tools, t); len(tools) >= lim.Tools {
				return newToolList(tools, append(notes, fmt.Sprintf("The list was cut at %d tools.", lim.Tools))), nil
			}
		}
		// An empty cursor is a cursor (MCP 2026-07-28, Pagination), but not the one we came with.
		switch {
		case next == nil, *next == "" && cursor == "":
			return newToolList(tools, notes), nil
		case cursors[*next]:
			return newToolList(tools, append(notes, "The server repeats a page; the list was ended there.")), nil
		case page >= lim.Pages:
			return newToolList(tools, append(notes, fmt.Sprintf("The list was cut after %d pages.", lim.Pages))), nil
		}
		cursor = *next
		cursors[cursor] = true
	}
}

type wireAnnotations struct {
	Title           string `json:"title"`
	ReadOnlyHint    *bool  `json:"readOnlyHint"`
	DestructiveHint *bool  `json:"destructiveHint"`
	IdempotentHint  *bool  `json:"idempotentHint"`
	OpenWorldHint   *bool  `json:"openWorldHint"`
}

// decodeTool reads one entry of a tool list (MCP 2025-11-25, Tools, Tool) and
// always returns something to show. n numbers the tools without a usable name.
func decodeTool(raw []byte, server string, n int) core.Tool {
	var f map[string]json.RawMessage
	t := core.Tool{Ref: core.ToolRef{Kind: core.ToolMCP, Server: server}}
	if json.Unmarshal(raw, &f) != nil {
		t.Broken = "Its entry in the server's list is not an object. Tell the author of the server."
	}
	str := func(key string) (s string, ok bool) {
		v, present := f[key]
		return s, !present || json.Unmarshal(v, &s) == nil
	}
	var ok bool
	if t.Ref.Name, ok = str("name"); (!ok || t.Ref.Name == "") && t.Broken == "" {
		t.Broken = "It has no usable name. Tell the author of the server."
	}
	if t.Ref.Name == "" {
		t.Ref.Name = fmt.Sprintf("(unnamed tool %d)", n)
	}
	t.Description, _ = str("description")
	title, _ := str("title")
	if v, present := f["annotations"]; present {
		t.Annotations = decodeAnnotations(v)
	}
	t.Title = core.TitleOf(title, t.Annotations.Title, t.Ref.Name)
	t.InputSchema = object(f["inputSchema"])
	if t.InputSchema == nil {
		t.InputSchema = json.RawMessage(`{"type":"object"}`)
	}
	if v := bytes.TrimSpace(f["outputSchema"]); len(v) > 0 && string(v) != "null" {
		t.OutputSchema = json.RawMessage(v)
	}
	var ex struct {
		TaskSupport string `json:"taskSupport"`
	}
	if v, present := f["execution"]; present && json.Unmarshal(v, &ex) == nil && ex.TaskSupport == "required" && t.Broken == "" {
		t.Broken = "It runs only as a background task, which Patchbay does not support yet."
	}
	t.Ref.Digest = t.ComputeDigest()
	return t
}

// decodeAnnotations keeps the hints that are legal and drops the others: a hint
// that cannot be read says nothing.
func decodeAnnotations(raw []byte) core.Annotations {
	var w wireAnnotations
	if json.Unmarshal(raw, &w) != nil {
		w = wireAnnotations{}
		var f map[string]json.RawMessage
		if json.Unmarshal(raw, &f) != nil {
			return core.Annotations{}
		}
		hint := func(key string) *bool {
			var b *bool
			if json.Unmarshal(f[key], &b) != nil {
				return nil
			}
			return b
		}
		_ = json.Unmarshal(f["title"], &w.Title)
		w.ReadOnlyHint, w.DestructiveHint = hint("readOnlyHint"), hint("destructiveHint")
		w.IdempotentHint, w.OpenWorldHint = hint("idempotentHint"), hint("openWorldHint")
	}
	return core.Annotations(w)
}

// object returns raw if it is a JSON object, else nil.
func object(raw []byte) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	return json.RawMessage(raw)
}

// legalTools is the list with only those tools that the SDK can decode.
func legalTools(result []byte) json.RawMessage {
	var f map[string]json.RawMessage
	var tools, legal []json.RawMessage
	if json.Unmarshal(result, &f) != nil || json.Unmarshal(f["tools"], &tools) != nil {
		return json.RawMessage(`{"tools":[]}`)
	}
	legal = []json.RawMessage{}
	for _, raw := range tools {
		var t sdk.Tool
		if json.Unmarshal(raw, &t) == nil && t.Name != "" {
			legal = append(legal, raw)
		}
	}
	f["tools"], _ = json.Marshal(legal)
	if next := f["nextCursor"]; len(next) > 0 && next[0] != '"' {
		delete(f, "nextCursor")
	}
	out, err := json.Marshal(f)
	if err != nil {
		return json.RawMessage(`{"tools":[]}`)
	}
	return out
}
