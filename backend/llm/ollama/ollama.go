// Package ollama speaks Ollama's own API.
//
// It has a small client of its own rather than the vendor's module: that one
// asks for some ninety further modules, and its types drop parts of a tool's
// JSON Schema (nested required, pattern, oneOf and more) on the way to the wire.
package ollama

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"patchbay/backend/core"
	"patchbay/backend/llm"
)

const (
	maxLine   = 16 << 20 // of one line of a stream, in bytes
	maxBody   = 16 << 20 // of any other answer
	minWindow = 8192     // tokens; Ollama's own default is too small for tools
	showLimit = 3 * time.Second
)

// Provider is one Ollama. It is safe for concurrent use.
type Provider struct {
	endpoint llm.Endpoint
	base     string
	key      string
	client   *http.Client

	mu    sync.Mutex
	known map[string]details // by model
}

type details struct {
	tools, images *bool
	window        int
}

// New makes a provider for the Ollama at p.BaseURL. key is sent as a bearer
// token where it is not "", for an Ollama behind a proxy. Nothing is contacted.
func New(p core.Provider, key string) (llm.Provider, error) {
	u, err := url.Parse(strings.TrimSpace(p.BaseURL))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, core.Errorf(core.CodeInvalid, "The address %q of %s is not a web address. Use one such as http://localhost:11434.", p.BaseURL, p.Name)
	}
	base := strings.TrimSuffix(strings.TrimRight(u.String(), "/"), "/api")
	name := p.Name
	if name == "" {
		name = "Ollama"
	}
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, core.Errorf(core.CodeInternal, "The default HTTP transport was replaced.")
	}
	return &Provider{
		base: base, key: key, client: &http.Client{Transport: transport.Clone()}, known: map[string]details{},
		endpoint: llm.Endpoint{Name: name, BaseURL: base, Hint: "Start it with `ollama serve`, or change the address in Settings."},
	}, nil
}

// Caps says what is known of a model since Models listed it.
func (p *Provider) Caps(model string) llm.Caps {
	d := p.detailsOf(model)
	return llm.Caps{Tools: d.tools == nil || *d.tools, Images: d.images != nil && *d.images, ContextWindow: d.window}
}

func (p *Provider) detailsOf(model string) details {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known[model]
}

// do sends body (nil for a GET) and returns the answer if its status is 200.
func (p *Provider) do(ctx context.Context, path string, body any, model string) (*http.Response, error) {
	method, reader := http.MethodGet, io.Reader(nil)
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, &llm.Error{Kind: llm.ErrBadRequest, Message: "The request cannot be written as JSON.", Err: err}
		}
		method, reader = http.MethodPost, bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, p.base+path, reader)
	if err != nil {
		return nil, p.endpoint.Network(ctx, err)
	}
	req.Header.Set("Content-Type", "application/json")
	if p.key != "" {
		req.Header.Set("Authorization", "Bearer "+p.key)
	}
	res, err := p.client.Do(req)
	if err != nil {
		return nil, p.endpoint.Network(ctx, err)
	}
	if res.StatusCode == http.StatusOK {
		return res, nil
	}
	defer func() { _ = res.Body.Close() }()
	raw, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10)) // the status is the error; the text only explains it
	e := p.endpoint.Status(res.StatusCode, res.Header, errorText(raw), model)
	if res.StatusCode == http.StatusNotFound && strings.Contains(string(raw), "not found") && model != "" {
		e.Message = fmt.Sprintf("%s has no model %q. Get it with `ollama pull %s`, or choose another one.", p.endpoint, model, model)
	}
	return nil, e
}

func errorText(raw []byte) string {
	var body struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(raw, &body) == nil && len(body.Error) > 0 {
		var s string
		if json.Unmarshal(body.Error, &s) == nil {
			return s
		}
		return string(body.Error)
	}
	return string(raw)
}

func (p *Provider) ask(ctx context.Context, path string, body, out any, model string) error {
	res, err := p.do(ctx, path, body, model)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	if err != nil {
		return p.endpoint.Network(ctx, err)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return p.endpoint.Protocol("no JSON", err)
	}
	return nil
}

// Models lists the models that are installed, with what Ollama tells of each.
func (p *Provider) Models(ctx context.Context) ([]core.Model, error) {
	var list struct {
		Models []struct {
			Name  string `json:"name"`
			Model string `json:"model"`
		} `json:"models"`
	}
	if err := p.ask(ctx, "/api/tags", nil, &list, ""); err != nil {
		return nil, err
	}
	out := make([]core.Model, len(list.Models))
	var g errgroup.Group
	g.SetLimit(4)
	for i, m := range list.Models {
		id := m.Name
		if id == "" {
			id = m.Model
		}
		out[i] = core.Model{ID: id, Name: id}
		g.Go(func() error {
			d := p.show(ctx, id)
			out[i].Tools, out[i].ContextWindow = d.tools, d.window
			return nil
		})
	}
	_ = g.Wait() // what show cannot tell is left open
	return out, ctx.Err()
}

// show asks for the details of a model, once. What is not told stays unknown.
func (p *Provider) show(ctx context.Context, model string) details {
	if d := p.detailsOf(model); d.tools != nil || d.window != 0 {
		return d
	}
	ctx, cancel := context.WithTimeout(ctx, showLimit)
	defer cancel()
	var info struct {
		Capabilities []string                   `json:"capabilities"`
		ModelInfo    map[string]json.RawMessage `json:"model_info"`
	}
	var d details
	if p.ask(ctx, "/api/show", map[string]string{"model": model}, &info, model) != nil {
		return d
	}
	if info.Capabilities != nil {
		var tools, images bool
		for _, c := range info.Capabilities {
			tools = tools || c == "tools"
			images = images || c == "vision"
		}
		d.tools, d.images = &tools, &images
	}
	for k, v := range info.ModelInfo {
		if strings.HasSuffix(k, ".context_length") {
			_ = json.Unmarshal(v, &d.window) // stays 0: unknown
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[model] = d
	return d
}

// The wire of /api/chat.
type (
	message struct {
		Role      string   `json:"role"`
		Content   string   `json:"content"`
		Thinking  string   `json:"thinking,omitempty"`
		Images    [][]byte `json:"images,omitempty"`
		ToolCalls []call   `json:"tool_calls,omitempty"`
		ToolName  string   `json:"tool_name,omitempty"`
	}
	call struct {
		ID       string   `json:"id,omitempty"`
		Function function `json:"function"`
	}
	function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	tool struct {
		Type     string  `json:"type"`
		Function toolDef `json:"function"`
	}
	toolDef struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	request struct {
		Model    string         `json:"model"`
		Messages []message      `json:"messages"`
		Tools    []tool         `json:"tools,omitempty"`
		Stream   bool           `json:"stream"`
		Options  map[string]any `json:"options,omitempty"`
	}
	chunk struct {
		Message    *message        `json:"message"`
		Done       *bool           `json:"done"`
		DoneReason string          `json:"done_reason"`
		Input      int64           `json:"prompt_eval_count"`
		Output     int64           `json:"eval_count"`
		Error      json.RawMessage `json:"error"`
	}
)

func (p *Provider) request(r *llm.Request) request {
	out := request{Model: r.Model, Stream: true, Options: map[string]any{}}
	if r.System != "" {
		out.Messages = append(out.Messages, message{Role: "system", Content: r.System})
	}
	for _, m := range llm.Turns(r.Messages) {
		out.Messages = append(out.Messages, messages(m, r.Model)...)
	}
	offered, _ := llm.WireTools(r.Tools) // why one is left out is told where tools are listed
	for _, t := range offered {
		out.Tools = append(out.Tools, tool{Type: "function", Function: toolDef{Name: t.Name, Description: t.Description, Parameters: t.Schema}})
	}
	if r.MaxTokens > 0 {
		out.Options["num_predict"] = r.MaxTokens
	}
	if r.Temperature != nil {
		out.Options["temperature"] = *r.Temperature
	}
	if raw, err := json.Marshal(out); err == nil {
		out.Options["num_ctx"] = p.window(r.Model, len(raw))
	}
	return out
}

// window chooses the context for a prompt of that many bytes. Ollama cuts what
// does not fit without a word, so there must be room; it grows in doubles,
// because each change makes Ollama load the model anew.
func (p *Provider) window(model string, bytes int) int {
	need := bytes/3 + 2048
	size := minWindow
	for size < need {
		size *= 2
	}
	if limit := p.detailsOf(model).window; limit > 0 && size > limit {
		size = limit
	}
	return size
}

func messages(m core.Message, model string) []message {
	switch m.Role {
	case core.RoleTool:
		var out []message
		var images [][]byte
		for _, part := range m.Parts {
			out = append(out, message{Role: "tool", ToolName: part.Alias, Content: llm.ResultText(part)})
			for _, img := range llm.ResultImages(part) {
				images = append(images, img.Data)
			}
		}
		if images != nil { // a tool's message cannot hold them
			out = append(out, message{Role: "user", Content: "The images that the tools returned:", Images: images})
		}
		return out
	case core.RoleAssistant:
		out := message{Role: "assistant", Content: m.Text()}
		for _, part := range m.Parts {
			switch part.Kind {
			case core.PartReasoning:
				if m.Origin.Model == model {
					out.Thinking += part.Text
				}
			case core.PartToolCall:
				out.ToolCalls = append(out.ToolCalls, call{Function: function{Name: part.Alias, Arguments: object(part.Arguments)}})
			}
		}
		return []message{out}
	}
	out := message{Role: "user", Content: m.Text()}
	for _, part := range m.Parts {
		if part.Kind == core.PartImage {
			out.Images = append(out.Images, part.Data)
		}
	}
	return []message{out}
}

// object returns arguments as an object, which this wire wants; what is none
// was refused by the gate, and its result says why.
func object(arguments string) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &m) != nil || m == nil {
		return json.RawMessage("{}")
	}
	return json.RawMessage(arguments)
}

// Stream asks for one turn; see [llm.Provider].
func (p *Provider) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Event, error] {
	body := p.request(r)
	return llm.Retry(ctx, func(ctx context.Context) iter.Seq2[llm.Event, error] {
		return func(yield func(llm.Event, error) bool) { p.stream(ctx, body, yield) }
	})
}

func (p *Provider) stream(ctx context.Context, body request, yield func(llm.Event, error) bool) {
	res, err := p.do(ctx, "/api/chat", body, body.Model)
	if err != nil {
		yield(llm.Event{}, err)
		return
	}
	defer func() { _ = res.Body.Close() }()
	p.read(ctx, res.Body, body.Model, yield)
}

// read delivers a stream of lines.
func (p *Provider) read(ctx context.Context, r io.Reader, model string, yield func(llm.Event, error) bool) {
	fail := func(err error) { yield(llm.Event{}, err) }
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	var b llm.Builder
	first := true
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		var c chunk
		if err := json.Unmarshal(line, &c); err != nil || c.Message == nil && c.Done == nil && c.Error == nil {
			if !first { // the last line may be cut
				fail(p.endpoint.Truncated(err))
				return
			}
			fail(p.endpoint.Protocol("a line that is no message of Ollama's", err))
			return
		}
		first = false
		if len(c.Error) > 0 && string(c.Error) != "null" {
			fail(p.endpoint.Status(0, nil, errorText(line), model))
			return
		}
		if c.Message != nil && !deliver(&b, c.Message, yield) {
			return
		}
		if c.Done != nil && *c.Done {
			yield(b.End(stop(c.DoneReason), core.Usage{Input: c.Input, Output: c.Output}), nil)
			return
		}
	}
	err := lines.Err()
	switch {
	case ctx.Err() != nil:
		fail(ctx.Err())
	case errors.Is(err, bufio.ErrTooLong):
		fail(p.endpoint.Protocol("a line of more than 16 MiB", err))
	case first && err == nil:
		fail(p.endpoint.Protocol("an empty answer", nil))
	case first:
		fail(p.endpoint.Network(ctx, err))
	default:
		fail(p.endpoint.Truncated(err))
	}
}

// deliver hands on what a chunk brings. It reports false when nobody listens any more.
func deliver(b *llm.Builder, m *message, yield func(llm.Event, error) bool) bool {
	if m.Thinking != "" && !yield(b.Reasoning(m.Thinking), nil) {
		return false
	}
	if m.Content != "" && !yield(b.Text(m.Content), nil) {
		return false
	}
	for _, c := range m.ToolCalls {
		start := b.Call(c.ID, c.Function.Name)
		if !yield(start, nil) {
			return false
		}
		args := string(c.Function.Arguments)
		var quoted string // some proxies send the arguments as text
		if json.Unmarshal(c.Function.Arguments, &quoted) == nil {
			args = quoted
		}
		if !yield(b.Args(start.Index, args), nil) {
			return false
		}
	}
	return true
}

func stop(reason string) llm.Stop {
	switch reason {
	case "stop", "":
		return llm.StopEnd
	case "length":
		return llm.StopLength
	}
	return llm.StopOther
}
