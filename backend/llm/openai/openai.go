// Package openai speaks the Chat Completions API of OpenAI and of the many
// servers that follow it. It is the only importer of go-openai.
package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	wire "github.com/sashabaranov/go-openai"

	"patchbay/backend/core"
	"patchbay/backend/llm"
)

// maxKeepAlives is how many lines without data may follow each other in a
// stream: routers send comments for minutes while a model starts.
const maxKeepAlives = 1 << 20

// Provider is one endpoint. It is safe for concurrent use.
type Provider struct {
	endpoint llm.Endpoint
	client   *wire.Client
	official bool
	// noUsage is set once the endpoint has refused stream_options.
	noUsage atomic.Bool
}

// New makes a provider for the endpoint at p.BaseURL, with or without /v1. key
// is "" where none is needed. Nothing is contacted.
func New(p core.Provider, key string) (llm.Provider, error) {
	out, _, err := newProvider(p, key)
	if err != nil {
		return nil, err
	}
	return out, nil
}

func newProvider(p core.Provider, key string) (*Provider, *doer, error) {
	base, err := tidy(p.BaseURL)
	if err != nil {
		return nil, nil, core.Errorf(core.CodeInvalid, "The address %q of %s is not a web address. Use one such as http://localhost:1234/v1.", p.BaseURL, p.Name)
	}
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, nil, core.Errorf(core.CodeInternal, "The default HTTP transport was replaced.")
	}
	config := wire.DefaultConfig(key)
	config.BaseURL = base.String()
	config.EmptyMessagesLimit = maxKeepAlives
	d := &doer{client: &http.Client{Transport: transport.Clone()}, keyless: key == ""}
	config.HTTPClient = d
	out := &Provider{client: wire.NewClientWithConfig(config), official: base.Hostname() == "api.openai.com",
		endpoint: llm.Endpoint{Name: p.Name, BaseURL: base.String()}}
	if out.endpoint.Name == "" {
		out.endpoint.Name = "The model server"
	}
	if host := base.Hostname(); host == "localhost" || strings.HasPrefix(host, "127.") {
		out.endpoint.Hint = "Start the model server there, or change the address in Settings."
	}
	return out, d, nil
}

// tidy brings an address into the form that the wire wants: people paste it
// with and without /v1, or with the whole path of the API.
func tidy(s string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil {
		return nil, err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("not a web address")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.Path = strings.TrimRight(strings.TrimSuffix(u.Path, "/chat/completions"), "/")
	if u.Path == "" {
		u.Path = "/v1"
	}
	u.RawQuery, u.Fragment = "", ""
	return u, nil
}

// doer keeps what go-openai does not hand on: the headers and the whole body of
// an answer that is an error.
type doer struct {
	client  *http.Client
	keyless bool
}

// answer is an answer that is an error by itself.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a *answer) Error() string { return http.StatusText(a.status) }

func (d *doer) Do(req *http.Request) (*http.Response, error) {
	if d.keyless {
		req.Header.Del("Authorization") // else it would be "Bearer " and nothing
	}
	res, err := d.client.Do(req)
	if err != nil || res.StatusCode/100 == 2 {
		return res, err
	}
	defer func() { _ = res.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10)) // the status is the error; the text only explains it
	return nil, &answer{res.StatusCode, res.Header, body}
}

// explain makes an error of ours from one of the client's.
func (p *Provider) explain(ctx context.Context, err error, model string) error {
	var a *answer
	if errors.As(err, &a) {
		return p.endpoint.Status(a.status, a.header, errorText(a.body), model)
	}
	var api *wire.APIError
	if errors.As(err, &api) {
		return p.endpoint.Status(api.HTTPStatusCode, nil, api.Message, model)
	}
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	if errors.As(err, &syntax) || errors.As(err, &typ) {
		return p.endpoint.Protocol("no JSON", err)
	}
	return p.endpoint.Network(ctx, err)
}

// errorText finds the message in the shapes in which endpoints put it.
func errorText(body []byte) string {
	var e struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &e) != nil {
		return string(body)
	}
	var inner struct {
		Message string `json:"message"`
	}
	var text string
	switch {
	case json.Unmarshal(e.Error, &text) == nil && text != "":
		return text
	case json.Unmarshal(e.Error, &inner) == nil && inner.Message != "":
		return inner.Message
	case e.Message != "":
		return e.Message
	case json.Unmarshal(e.Detail, &text) == nil && text != "":
		return text
	}
	return string(body)
}

// Caps says what a model can do; the wire does not tell, so tools and images
// are taken as given.
func (p *Provider) Caps(string) llm.Caps { return llm.Caps{Tools: true, Images: true} }

// Models lists what the endpoint offers, sorted by id.
func (p *Provider) Models(ctx context.Context) ([]core.Model, error) {
	list, err := p.client.ListModels(ctx)
	if err != nil {
		return nil, p.explain(ctx, err, "")
	}
	out := make([]core.Model, 0, len(list.Models))
	for _, m := range list.Models {
		out = append(out, core.Model{ID: m.ID, Name: m.ID})
	}
	slices.SortFunc(out, func(a, b core.Model) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

func (p *Provider) request(r *llm.Request) wire.ChatCompletionRequest {
	out := wire.ChatCompletionRequest{Model: r.Model, Stream: true}
	if r.System != "" {
		out.Messages = append(out.Messages, wire.ChatCompletionMessage{Role: "system", Content: r.System})
	}
	for _, m := range llm.Turns(r.Messages) {
		out.Messages = append(out.Messages, messages(m, r.Model)...)
	}
	offered, _ := llm.WireTools(r.Tools) // why one is left out is told where tools are listed
	for _, t := range offered {
		out.Tools = append(out.Tools, wire.Tool{Type: wire.ToolTypeFunction, Function: &wire.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: t.Schema}})
	}
	if r.MaxTokens > 0 && p.official {
		out.MaxCompletionTokens = r.MaxTokens
	} else {
		//lint:ignore SA1019 most servers but OpenAI's know only the older field
		out.MaxTokens = r.MaxTokens
	}
	if r.Temperature != nil {
		// The client leaves a zero out, which would mean the endpoint's default.
		out.Temperature = max(float32(*r.Temperature), math.SmallestNonzeroFloat32)
	}
	return out
}

func messages(m core.Message, model string) []wire.ChatCompletionMessage {
	switch m.Role {
	case core.RoleTool:
		var out []wire.ChatCompletionMessage
		var images []wire.ChatMessagePart
		for _, part := range m.Parts {
			out = append(out, wire.ChatCompletionMessage{Role: "tool", ToolCallID: part.CallID, Content: llm.ResultText(part)})
			for _, img := range llm.ResultImages(part) {
				images = append(images, image(img.MIMEType, img.Data))
			}
		}
		if images != nil { // a tool's message holds text only
			head := wire.ChatMessagePart{Type: wire.ChatMessagePartTypeText, Text: "The images that the tools returned:"}
			out = append(out, wire.ChatCompletionMessage{Role: "user", MultiContent: append([]wire.ChatMessagePart{head}, images...)})
		}
		return out
	case core.RoleAssistant:
		out := wire.ChatCompletionMessage{Role: "assistant", Content: m.Text()}
		for _, part := range m.Parts {
			switch part.Kind {
			case core.PartReasoning:
				if m.Origin.Model == model { // some models refuse to go on without it
					out.ReasoningContent += part.Text
				}
			case core.PartToolCall:
				out.ToolCalls = append(out.ToolCalls, wire.ToolCall{ID: part.CallID, Type: wire.ToolTypeFunction, Function: wire.FunctionCall{Name: part.Alias, Arguments: arguments(part.Arguments)}})
			}
		}
		return []wire.ChatCompletionMessage{out}
	}
	out := wire.ChatCompletionMessage{Role: "user", Content: m.Text()}
	var parts []wire.ChatMessagePart
	for _, part := range m.Parts {
		if part.Kind == core.PartImage {
			parts = append(parts, image(part.MIMEType, part.Data))
		}
	}
	if parts != nil {
		if out.Content != "" {
			parts = append([]wire.ChatMessagePart{{Type: wire.ChatMessagePartTypeText, Text: out.Content}}, parts...)
		}
		out.Content, out.MultiContent = "", parts
	}
	return []wire.ChatCompletionMessage{out}
}

// arguments must be JSON for the chat templates of many servers; what is none
// was refused by the gate, and its result says why.
func arguments(s string) string {
	if !json.Valid([]byte(s)) {
		return "{}"
	}
	return s
}

func image(mime string, data []byte) wire.ChatMessagePart {
	return wire.ChatMessagePart{Type: wire.ChatMessagePartTypeImageURL, ImageURL: &wire.ChatMessageImageURL{URL: "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(data)}}
}

// Stream asks for one turn; see [llm.Provider].
func (p *Provider) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Event, error] {
	body := p.request(r)
	return llm.Retry(ctx, func(ctx context.Context) iter.Seq2[llm.Event, error] {
		return func(yield func(llm.Event, error) bool) { p.stream(ctx, body, yield) }
	})
}

func (p *Provider) open(ctx context.Context, body wire.ChatCompletionRequest) (*wire.ChatCompletionStream, error) {
	if !p.noUsage.Load() {
		body.StreamOptions = &wire.StreamOptions{IncludeUsage: true}
	}
	s, err := p.client.CreateChatCompletionStream(ctx, body)
	var a *answer
	if body.StreamOptions != nil && errors.As(err, &a) && (a.status == 400 || a.status == 422) &&
		(bytes.Contains(a.body, []byte("stream_options")) || bytes.Contains(a.body, []byte("include_usage"))) {
		p.noUsage.Store(true) // older servers do not know it; the count of tokens is then missing
		body.StreamOptions = nil
		return p.client.CreateChatCompletionStream(ctx, body)
	}
	return s, err
}

func (p *Provider) stream(ctx context.Context, body wire.ChatCompletionRequest, yield func(llm.Event, error) bool) {
	s, err := p.open(ctx, body)
	if err != nil {
		yield(llm.Event{}, p.explain(ctx, err, body.Model))
		return
	}
	defer func() { _ = s.Close() }()
	t := turn{yield: yield}
	for {
		raw, err := s.RecvRaw()
		if err == nil {
			err = t.take(raw)
		}
		if t.gone {
			return
		}
		if err == nil {
			continue
		}
		switch {
		case ctx.Err() != nil:
			err = ctx.Err()
		case t.finish != "" && !errors.Is(err, errBad): // all was said; only the count of tokens may be missing
			yield(t.b.End(stop(t.finish), t.usage), nil)
			return
		case t.failure != "":
			err = p.endpoint.Status(t.status, nil, t.failure, body.Model)
		case errors.Is(err, io.EOF) && !t.begun:
			err = p.endpoint.Protocol("no stream of a chat completion", nil)
		case errors.Is(err, errBad):
			err = p.endpoint.Protocol("a piece of a stream that is no chat completion", err)
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			err = p.endpoint.Truncated(err)
		default:
			var api *wire.APIError
			if t.begun && !errors.As(err, &api) {
				err = p.endpoint.Truncated(err)
			} else {
				err = p.explain(ctx, err, body.Model)
			}
		}
		yield(llm.Event{}, err)
		return
	}
}

func stop(reason string) llm.Stop {
	switch reason {
	case "stop", "tool_calls", "function_call", "eos", "end_turn":
		return llm.StopEnd
	case "length", "max_tokens":
		return llm.StopLength
	case "content_filter":
		return llm.StopFiltered
	}
	return llm.StopOther
}
