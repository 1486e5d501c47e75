package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/backend/core"
)

// The names of the tools that a server's other features become.
const (
	resourcesTool = "resources"
	promptsTool   = "prompts"
)

// features says what the server declares beside tools.
func (l *link) features() []core.Feature {
	var out []core.Feature
	caps := l.session.InitializeResult().Capabilities
	if caps == nil {
		return nil
	}
	if caps.Resources != nil {
		out = append(out, core.FeatureResources)
		if caps.Resources.Subscribe {
			out = append(out, core.FeatureSubscribe)
		}
	}
	if caps.Prompts != nil {
		out = append(out, core.FeaturePrompts)
	}
	if caps.Completions != nil {
		out = append(out, core.FeatureCompletions)
	}
	return out
}

// featureTools makes the tools by which a server's resources and prompts are
// used through the gate, as its own tools are. What they say is ours alone.
func featureTools(server string, features []core.Feature) []core.Tool {
	var out []core.Tool
	add := func(name, title, description, schema string) {
		yes := true
		t := core.Tool{
			Ref: core.ToolRef{Kind: core.ToolFeature, Server: server, Name: name}, Title: title, Description: description,
			InputSchema: json.RawMessage(schema), Annotations: core.Annotations{ReadOnlyHint: &yes},
		}
		t.Ref.Digest = t.ComputeDigest()
		out = append(out, t)
	}
	if slices.Contains(features, core.FeatureResources) {
		add(resourcesTool, "Resources", fmt.Sprintf("Reads a resource of the MCP server %q by its URI. Without a URI it lists the resources and the templates of URIs that there are.", server),
			`{"type":"object","properties":{"uri":{"type":"string","description":"The URI of the resource to read, as listed or made from a template"}},"additionalProperties":false}`)
	}
	if slices.Contains(features, core.FeaturePrompts) {
		add(promptsTool, "Prompts", fmt.Sprintf("Gets a prompt that the MCP server %q prepares, by its name. Without a name it lists the prompts and their arguments.", server),
			`{"type":"object","properties":{"name":{"type":"string","description":"The name of the prompt, as listed"},"arguments":{"type":"object","additionalProperties":{"type":"string"},"description":"The arguments of the prompt; all are text"}},"additionalProperties":false}`)
	}
	return out
}

// callFeature runs a tool of [featureTools].
func (m *Manager) callFeature(ctx context.Context, ref core.ToolRef, args json.RawMessage) (core.ToolResult, error) {
	var in struct {
		URI       string            `json:"uri"`
		Name      string            `json:"name"`
		Arguments map[string]string `json:"arguments"`
	}
	if len(args) > 0 {
		if err := json.Unmarshal(args, &in); err != nil {
			return core.ToolResult{}, core.Errorf(core.CodeInvalid, "The arguments for %s cannot be read: %w. Correct them.", ref, err)
		}
	}
	switch {
	case ref.Name == resourcesTool && in.URI != "":
		return m.readResource(ctx, ref, in.URI)
	case ref.Name == resourcesTool:
		list, err := m.Resources(ctx, ref.Server)
		return listed(list, err)
	case ref.Name == promptsTool && in.Name != "":
		return m.getPrompt(ctx, ref, in.Name, in.Arguments)
	case ref.Name == promptsTool:
		list, err := m.Prompts(ctx, ref.Server)
		return listed(list, err)
	}
	return core.ToolResult{}, core.Errorf(core.CodeNotFound, "There is no tool %s.", ref)
}

func listed(v any, err error) (core.ToolResult, error) {
	if err != nil {
		return core.ToolResult{}, err
	}
	raw, err := json.Marshal(v)
	return core.ToolResult{Content: []core.Content{{Type: core.ContentText, Text: string(raw)}}, StructuredContent: raw, Bytes: int64(len(raw))}, err
}

func (m *Manager) readResource(ctx context.Context, ref core.ToolRef, uri string) (core.ToolResult, error) {
	raw, err := m.ask(ctx, ref.Server, "resources/read", map[string]any{"uri": uri})
	if err != nil {
		return core.ToolResult{}, err
	}
	var res struct {
		Contents []wireResource `json:"contents"`
	}
	if err := json.Unmarshal(raw, &res); err != nil {
		return core.ToolResult{}, core.Errorf(core.CodeUnavailable, "The server %s sent the resource %s in a form that cannot be read: %w. Tell its author.", ref.Server, uri, err)
	}
	out := core.ToolResult{Content: []core.Content{}, Bytes: int64(len(raw))}
	for i := range res.Contents {
		c, odd := content(&wireContent{Type: string(core.ContentResource), Resource: &res.Contents[i]})
		out.Content, out.Warning = append(out.Content, c), cmp.Or(out.Warning, odd)
	}
	return out, nil
}

func (m *Manager) getPrompt(ctx context.Context, ref core.ToolRef, name string, args map[string]string) (core.ToolResult, error) {
	raw, err := m.ask(ctx, ref.Server, "prompts/get", map[string]any{"name": name, "arguments": args})
	if err != nil {
		return core.ToolResult{}, err
	}
	var res struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(raw, &res); err != nil {
		return core.ToolResult{}, core.Errorf(core.CodeUnavailable, "The server %s sent the prompt %s in a form that cannot be read: %w. Tell its author.", ref.Server, name, err)
	}
	out := core.ToolResult{Content: []core.Content{}, Bytes: int64(len(raw)), StructuredContent: raw}
	for _, msg := range res.Messages {
		c, odd := decodeBlock(msg.Content)
		out.Warning = cmp.Or(out.Warning, odd)
		if c.Type == core.ContentText {
			c.Text = msg.Role + ": " + c.Text
		}
		out.Content = append(out.Content, c)
	}
	return out, nil
}

// ask makes a request with parameters that are ours.
func (m *Manager) ask(ctx context.Context, server, method string, params map[string]any) (json.RawMessage, error) {
	for k, v := range params {
		if s, ok := v.(map[string]string); ok && s == nil {
			delete(params, k)
		}
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	return m.Request(ctx, server, method, raw)
}

// Resources lists a server's resources and templates, as far as Limits allow.
// A server without resources has none. Errors are those of [Manager.Request].
func (m *Manager) Resources(ctx context.Context, server string) (core.Resources, error) {
	var out core.Resources
	ctx, cancel := context.WithTimeout(ctx, m.o.Limits.List)
	defer cancel()
	err := pages(ctx, m, server, "resources/list", "resources", &out.Resources, &out.Notes)
	if err != nil {
		return out, err
	}
	if terr := pages(ctx, m, server, "resources/templates/list", "resourceTemplates", &out.Templates, &out.Notes); terr != nil {
		out.Notes = append(out.Notes, terr.Error()) // many servers have no templates and say so by an error
	}
	return out, nil
}

// Prompts lists a server's prompts, as far as Limits allow. Errors are those of
// [Manager.Request].
func (m *Manager) Prompts(ctx context.Context, server string) (core.Prompts, error) {
	var out core.Prompts
	ctx, cancel := context.WithTimeout(ctx, m.o.Limits.List)
	defer cancel()
	return out, pages(ctx, m, server, "prompts/list", "prompts", &out.Prompts, &out.Notes)
}

// pages reads a list to its end, or to where it becomes absurd. One illegal
// entry does not cost the others.
func pages[T any](ctx context.Context, m *Manager, server, method, field string, into *[]T, notes *[]string) error {
	cursor, seen := "", map[string]bool{}
	for page := 1; ; page++ {
		pctx, cancel := context.WithTimeout(ctx, m.o.Limits.ListPage)
		params := map[string]any{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		raw, err := m.ask(pctx, server, method, params)
		cancel()
		if err != nil {
			return err
		}
		var res map[string]json.RawMessage
		var items []json.RawMessage
		if json.Unmarshal(raw, &res) != nil || len(res[field]) > 0 && json.Unmarshal(res[field], &items) != nil {
			return core.Errorf(core.CodeUnavailable, "The server %s answered %s in a form that cannot be read. Tell its author.", server, method)
		}
		for _, item := range items {
			var v T
			if err := json.Unmarshal(item, &v); err != nil {
				*notes = append(*notes, fmt.Sprintf("An entry of %s was left out: %v.", method, err))
				continue
			}
			if len(*into) >= m.o.Limits.Tools {
				*notes = append(*notes, fmt.Sprintf("The list was cut at %d entries.", m.o.Limits.Tools))
				return nil
			}
			*into = append(*into, v)
		}
		next := ""
		if json.Unmarshal(res["nextCursor"], &next) != nil || next == "" {
			return nil
		}
		if seen[next] || page >= m.o.Limits.Pages {
			*notes = append(*notes, fmt.Sprintf("The list was ended after %d pages.", page))
			return nil
		}
		seen[next], cursor = true, next
	}
}

// Complete asks a server what an argument could be. It is CodeInvalid unless
// exactly one of Prompt and URITemplate is set; other errors are those of
// [Manager.Request].
func (m *Manager) Complete(ctx context.Context, server string, c core.Completion) (core.Completed, error) {
	var out core.Completed
	ref := map[string]any{"type": "ref/prompt", "name": c.Prompt}
	if c.URITemplate != "" {
		ref = map[string]any{"type": "ref/resource", "uri": c.URITemplate}
	}
	if (c.Prompt == "") == (c.URITemplate == "") {
		return out, core.Errorf(core.CodeInvalid, "Name either a prompt or a URI template to complete.")
	}
	params := map[string]any{"ref": ref, "argument": map[string]string{"name": c.Argument, "value": c.Value}}
	if len(c.Context) > 0 {
		params["context"] = map[string]any{"arguments": c.Context}
	}
	raw, err := m.ask(ctx, server, "completion/complete", params)
	if err != nil {
		return out, err
	}
	var res struct {
		Completion struct {
			Values  []string `json:"values"`
			HasMore bool     `json:"hasMore"`
		} `json:"completion"`
	}
	if err := json.Unmarshal(raw, &res); err != nil {
		return out, core.Errorf(core.CodeUnavailable, "The server %s answered completion/complete in a form that cannot be read: %w.", server, err)
	}
	// MCP 2025-11-25, Completion: at most 100 values.
	return core.Completed{Values: res.Completion.Values[:min(len(res.Completion.Values), 100)], More: res.Completion.HasMore}, nil
}

// Subscribe makes a server tell when a resource changes, by
// event.ResourcesChanged, until Unsubscribe; a reconnect does not end it. Errors
// are those of [Manager.Request], and CodeInvalid for a server that does not tell.
func (m *Manager) Subscribe(ctx context.Context, server, uri string) error {
	s, err := m.find(server)
	if err != nil {
		return err
	}
	defer s.use()()
	l, err := s.ready(ctx, "The resource "+uri+" cannot be watched", "the wish to watch "+uri, nil, time.Time{})
	if err != nil {
		return err
	}
	if !slices.Contains(s.status.Load().Features, core.FeatureSubscribe) {
		return core.Errorf(core.CodeInvalid, "The server %s does not tell when a resource changes. Read it again to see.", server)
	}
	s.mu.Lock()
	again := s.watched[uri]
	if s.watched == nil {
		s.watched = map[string]bool{}
	}
	s.watched[uri] = true
	s.mu.Unlock()
	if again {
		return nil
	}
	if err := l.subscribe(ctx, uri); err != nil {
		s.mu.Lock()
		delete(s.watched, uri)
		s.mu.Unlock()
		return core.Errorf(core.CodeUnavailable, "The server %s refused to watch %s: %s", server, uri, sentence(err.Error()))
	}
	return nil
}

// Unsubscribe ends a subscription; one that does not exist is no error.
func (m *Manager) Unsubscribe(ctx context.Context, server, uri string) error {
	s, err := m.find(server)
	if err != nil {
		return err
	}
	s.mu.Lock()
	had := s.watched[uri]
	delete(s.watched, uri)
	s.mu.Unlock()
	l := s.link.Load()
	if !had || l == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, m.o.Limits.ListPage)
	defer cancel()
	if err := l.session.Unsubscribe(ctx, &sdk.UnsubscribeParams{URI: uri}); err != nil && l.ctx.Err() == nil {
		s.log.add("· ", "the server refused to stop watching "+uri+": "+err.Error())
	}
	return nil
}

func (l *link) subscribe(ctx context.Context, uri string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.ctx, cancel)()
	return l.session.Subscribe(ctx, &sdk.SubscribeParams{URI: uri})
}

// watchAgain renews the subscriptions on a fresh link.
func (s *server) watchAgain(l *link) {
	s.mu.Lock()
	uris := make([]string, 0, len(s.watched))
	for uri := range s.watched {
		uris = append(uris, uri)
	}
	s.mu.Unlock()
	for _, uri := range uris {
		ctx, cancel := context.WithTimeout(l.ctx, s.m.o.Limits.ListPage)
		err := l.subscribe(ctx, uri)
		cancel()
		if err != nil && l.ctx.Err() == nil {
			s.log.add("· ", "the server refused to watch "+uri+" again: "+strings.TrimSpace(err.Error()))
		}
	}
}
