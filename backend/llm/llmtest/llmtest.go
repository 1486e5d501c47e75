// Package llmtest is the one suite that every provider with a wire must pass.
package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/backend/llm"
	"patchbay/internal/testllm"
)

// New makes the provider under test for the server at base.
type New func(t *testing.T, base, key string) llm.Provider

// Turn is what came of one stream.
type Turn struct {
	Text, Reasoning string
	Events          int
	End             *llm.End
	Err             error
}

// Collect reads a stream to its end and checks its order: events have no error
// beside them, nothing follows an end or an error, and the deltas add up to the message.
func Collect(t *testing.T, p llm.Provider, r *llm.Request) Turn {
	t.Helper()
	return CollectContext(t.Context(), t, p, r, nil)
}

// CollectContext is [Collect] with a context, and a function that is called
// with each event.
func CollectContext(ctx context.Context, t *testing.T, p llm.Provider, r *llm.Request, each func(llm.Event)) Turn {
	t.Helper()
	var out Turn
	var args []string
	for ev, err := range p.Stream(ctx, r) {
		require.Nil(t, out.End, "nothing follows the end")
		require.NoError(t, out.Err, "nothing follows an error")
		if err != nil {
			out.Err = err
			continue
		}
		out.Events++
		switch ev.Kind {
		case llm.EventText:
			out.Text += ev.Delta
		case llm.EventReasoning:
			out.Reasoning += ev.Delta
		case llm.EventCallStart:
			require.Equal(t, len(args), ev.Index)
			args = append(args, "")
		case llm.EventCallArgs:
			args[ev.Index] += ev.Delta
		case llm.EventEnd:
			out.End = ev.End
		}
		if each != nil {
			each(ev)
		}
	}
	require.True(t, (out.End == nil) == (out.Err != nil), "a stream ends with an end or an error")
	if out.End == nil {
		return out
	}
	text, reasoning, ids := "", "", map[string]bool{}
	for _, part := range out.End.Message.Parts {
		switch part.Kind {
		case core.PartText:
			text += part.Text
		case core.PartReasoning:
			reasoning += part.Text
		case core.PartToolCall:
			require.NotEmpty(t, part.CallID)
			require.False(t, ids[part.CallID], "ids are unique in a turn")
			if want := args[len(ids)]; strings.TrimSpace(want) == "" {
				require.Equal(t, "{}", part.Arguments)
			} else {
				require.Equal(t, want, part.Arguments)
			}
			ids[part.CallID] = true
		}
	}
	require.Equal(t, out.Text, text)
	require.Equal(t, out.Reasoning, reasoning)
	return out
}

// Ask is a request with one message.
func Ask(text string) *llm.Request {
	return &llm.Request{Model: "test-model", System: "Be brief.", Messages: []core.Message{User(text)}}
}

// User is a message of a person.
func User(text string) core.Message {
	return core.Message{Role: core.RoleUser, Parts: []core.Part{{Kind: core.PartText, Text: text}}}
}

// Tools is a set with the schemas that make trouble: references, booleans, a
// union at the root, nested constraints.
func Tools() []llm.ToolDef {
	return []llm.ToolDef{
		{Name: "get_weather", Description: "Weather of a city", Schema: json.RawMessage(`{"$schema":"http://json-schema.org/draft-07/schema#","$id":"x","type":"object","properties":{"city":{"type":"string","minLength":1},"where":{"$ref":"#/$defs/Point"},"any":true},"required":["city"],"$defs":{"Point":{"type":"object","properties":{"lat":{"type":"number"}},"required":["lat"]}},"additionalProperties":false}`)},
		{Name: "nothing", Schema: json.RawMessage(`{"type":"object"}`)},
		{Name: "either", Description: "A union", Schema: json.RawMessage(`{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"$ref":"#/definitions/B"}],"definitions":{"B":{"type":"object","properties":{"b":{"items":true,"type":"array"}}}}}`)},
		{Name: "broken", Description: "Left out", Schema: json.RawMessage(`{"type":"string"}`)},
	}
}

func serve(t *testing.T, s testllm.Script) (*testllm.Server, *httptest.Server) {
	srv, h := testllm.Start(s)
	t.Cleanup(h.Close)
	return srv, h
}

func accepted(t *testing.T, srv *testllm.Server) {
	t.Helper()
	for _, r := range srv.Requests() {
		assert.Empty(t, r.Refused, "%s", r.Body)
	}
}

// Run runs the suite.
func Run(t *testing.T, fresh New) {
	yes, no := true, false
	t.Run("text", func(t *testing.T) {
		long := strings.Repeat("Ä line of text. ", 500)
		srv, h := serve(t, testllm.Script{Rules: []testllm.Rule{{Text: long, Reasoning: "Let me think.", Usage: testllm.Usage{Input: 11, Output: 7}}}})
		out := Collect(t, fresh(t, h.URL, ""), Ask("hi"))
		require.NoError(t, out.Err)
		assert.Equal(t, long, out.Text)
		assert.Equal(t, "Let me think.", out.Reasoning)
		assert.Equal(t, llm.StopEnd, out.End.Stop)
		assert.EqualValues(t, 11, out.End.Usage.Input)
		assert.EqualValues(t, 7, out.End.Usage.Output)
		assert.Greater(t, out.Events, 100, "it streams")
		accepted(t, srv)
	})
	t.Run("length", func(t *testing.T) {
		_, h := serve(t, testllm.Script{Rules: []testllm.Rule{{Text: "cut off", Finish: "length"}}})
		out := Collect(t, fresh(t, h.URL, ""), Ask("hi"))
		require.NoError(t, out.Err)
		assert.Equal(t, llm.StopLength, out.End.Stop)
	})
	t.Run("parallel tools and their results", func(t *testing.T) {
		srv, h := serve(t, testllm.Script{Rules: []testllm.Rule{
			{HasToolResult: &no, Text: "Two calls.", Reasoning: "hm", Finish: "stop", ToolCalls: []testllm.Call{{Name: "get_weather", Arguments: json.RawMessage(`{"city":"Paris, the \"city\""}`)}, {Name: "get_weather", Arguments: json.RawMessage(`{"city":"Rome"}`)}, {Name: "nothing", Arguments: json.RawMessage(`{}`)}}},
			{HasToolResult: &yes, ToolResult: "22 degrees", Text: "Both are sunny."},
		}})
		p := fresh(t, h.URL, "")
		r := Ask("weather?")
		r.Tools = Tools()
		out := Collect(t, p, r)
		require.NoError(t, out.Err)
		assert.Equal(t, llm.StopTools, out.End.Stop, "derived from the calls, not from the word")
		var calls []core.Part
		for _, part := range out.End.Message.Parts {
			if part.Kind == core.PartToolCall {
				calls = append(calls, part)
			}
		}
		require.Len(t, calls, 3)
		assert.JSONEq(t, `{"city":"Paris, the \"city\""}`, calls[0].Arguments)
		assert.Equal(t, "Rome", func() string {
			var v struct{ City string }
			require.NoError(t, json.Unmarshal([]byte(calls[1].Arguments), &v))
			return v.City
		}())

		reply := out.End.Message
		reply.Origin = core.Origin{Provider: "x", Model: "test-model"}
		results := core.Message{Role: core.RoleTool}
		for i, c := range calls[:2] { // the third was lost: the history must still be valid
			part := core.Part{Kind: core.PartToolResult, CallID: c.CallID, Alias: c.Alias, Text: "22 degrees", Status: core.CallDone}
			if i == 0 {
				part.Text = ""
				part.Result = &core.ToolResult{Content: []core.Content{{Type: core.ContentImage, MIMEType: "image/png", Data: []byte("png")}}}
			}
			results.Parts = append([]core.Part{part}, results.Parts...) // and in another order
		}
		r.Messages = append(r.Messages, reply, results)
		out = Collect(t, p, r)
		require.NoError(t, out.Err)
		assert.Equal(t, "Both are sunny.", out.Text)
		accepted(t, srv)
		last := srv.Requests()[len(srv.Requests())-1].Body
		assert.Contains(t, string(last), "cG5n", "the image went along")
	})
	t.Run("a history with holes", func(t *testing.T) {
		srv, h := serve(t, testllm.Script{Rules: []testllm.Rule{{Text: "ok"}}})
		r := Ask("one")
		r.Messages = append(r.Messages,
			core.Message{Role: core.RoleAssistant, Stopped: true}, // nothing was written
			core.Message{Role: core.RoleTool, Parts: []core.Part{{Kind: core.PartToolResult, CallID: "orphan", Text: "x"}}},
			User("two"),
			core.Message{Role: core.RoleAssistant, Parts: []core.Part{{Kind: core.PartToolCall, CallID: "c", Alias: "nothing", Arguments: `{"half":`}}},
			User("three"))
		out := Collect(t, fresh(t, h.URL, ""), r)
		require.NoError(t, out.Err)
		accepted(t, srv)
	})
	t.Run("cancel in mid-stream", func(t *testing.T) {
		_, h := serve(t, testllm.Script{Rules: []testllm.Rule{{Text: strings.Repeat("x", 100), HangAfter: 3}}})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		began := time.Now()
		out := CollectContext(ctx, t, fresh(t, h.URL, ""), Ask("hi"), func(llm.Event) { cancel() })
		assert.ErrorIs(t, out.Err, context.Canceled)
		assert.Less(t, time.Since(began), 5*time.Second)
	})
	t.Run("the caller stops listening", func(t *testing.T) {
		_, h := serve(t, testllm.Script{Rules: []testllm.Rule{{Text: strings.Repeat("x", 100), HangAfter: 3}}})
		for range fresh(t, h.URL, "").Stream(t.Context(), Ask("hi")) {
			break
		}
	})
	t.Run("broken off", func(t *testing.T) {
		for name, rule := range map[string]testllm.Rule{
			"connection cut":       {Text: strings.Repeat("x", 100), CutAfter: 3},
			"ended without an end": {Text: strings.Repeat("x", 100), EndAfter: 3},
			"calls cut":            {ToolCalls: []testllm.Call{{Name: "a", Arguments: json.RawMessage(`{}`)}, {Name: "b", Arguments: json.RawMessage(`{}`)}}, EndAfter: 1},
		} {
			t.Run(name, func(t *testing.T) {
				srv, h := serve(t, testllm.Script{Rules: []testllm.Rule{rule}})
				out := Collect(t, fresh(t, h.URL, ""), Ask("hi"))
				e := failed(t, out, llm.ErrTruncated)
				assert.True(t, e.Sent)
				assert.Len(t, srv.Requests(), 1, "what was delivered is not asked for again")
			})
		}
	})
	t.Run("failed in mid-stream", func(t *testing.T) {
		srv, h := serve(t, testllm.Script{Rules: []testllm.Rule{{Text: strings.Repeat("x", 100), FailAfter: 2, Error: "CUDA is out of memory"}}})
		e := failed(t, Collect(t, fresh(t, h.URL, ""), Ask("hi")), llm.ErrServer)
		assert.Contains(t, e.Message, "CUDA is out of memory")
		assert.Len(t, srv.Requests(), 1)
	})
	t.Run("wrong key", func(t *testing.T) {
		srv, h := serve(t, testllm.Script{Key: "right", Rules: []testllm.Rule{{Text: "ok"}}})
		e := failed(t, Collect(t, fresh(t, h.URL, "wrong"), Ask("hi")), llm.ErrAuth)
		assert.Equal(t, core.CodeNeedsAuth, core.CodeOf(e))
		assert.Contains(t, e.Message, h.URL)
		assert.Len(t, srv.Requests(), 1)
		_, err := fresh(t, h.URL, "wrong").Models(t.Context())
		assert.Equal(t, core.CodeNeedsAuth, core.CodeOf(err))
		require.NoError(t, Collect(t, fresh(t, h.URL, "right"), Ask("hi")).Err)
	})
	t.Run("asked too often", func(t *testing.T) {
		srv, h := serve(t, testllm.Script{Rules: []testllm.Rule{{Times: 1, Status: 429, Error: "slow down"}, {Text: "ok"}}})
		out := Collect(t, fresh(t, h.URL, ""), Ask("hi"))
		require.NoError(t, out.Err)
		assert.Equal(t, "ok", out.Text)
		assert.Len(t, srv.Requests(), 2)

		srv, h = serve(t, testllm.Script{Rules: []testllm.Rule{{Status: 429, Error: "slow down", RetryAfter: 600}}})
		e := failed(t, Collect(t, fresh(t, h.URL, ""), Ask("hi")), llm.ErrRateLimit)
		assert.Equal(t, 10*time.Minute, e.RetryAfter)
		assert.Len(t, srv.Requests(), 1, "a wait that long is the person's to decide")
	})
	t.Run("other refusals", func(t *testing.T) {
		for name, tc := range map[string]struct {
			rule testllm.Rule
			kind llm.ErrorKind
		}{
			"bad request": {testllm.Rule{Status: 400, Error: "temperature is too high"}, llm.ErrBadRequest},
			"too long":    {testllm.Rule{Status: 400, Error: "This model's maximum context length is 8192 tokens"}, llm.ErrContextLength},
			"overloaded":  {testllm.Rule{Status: 503, Error: "overloaded", RetryAfter: 3600}, llm.ErrOverloaded},
			"no tools":    {testllm.Rule{Status: 400, Error: "test-model does not support tools"}, llm.ErrBadRequest},
		} {
			t.Run(name, func(t *testing.T) {
				_, h := serve(t, testllm.Script{Rules: []testllm.Rule{tc.rule}})
				e := failed(t, Collect(t, fresh(t, h.URL, ""), Ask("hi")), tc.kind)
				assert.Equal(t, tc.rule.Status, e.Status)
				assert.Contains(t, e.Message, tc.rule.Error)
			})
		}
		_, h := serve(t, testllm.Script{})
		r := Ask("hi")
		r.Model = "no-such-model"
		e := failed(t, Collect(t, fresh(t, h.URL, ""), r), llm.ErrBadRequest)
		assert.Contains(t, e.Message, "no-such-model")
	})
	t.Run("malformed", func(t *testing.T) {
		for name, raw := range map[string]string{
			"a web page": "<html><body>Welcome</body></html>", "other JSON": `{"hello":"world"}`, "a broken line": "{\"message\":{\n", "an event that is none": "data: {\"hello\":1}\n\n",
			"a broken event": "data: {\"choices\":[{\n\n", "nothing": "\n",
		} {
			t.Run(name, func(t *testing.T) {
				_, h := serve(t, testllm.Script{Rules: []testllm.Rule{{Raw: raw}}})
				failed(t, Collect(t, fresh(t, h.URL, ""), Ask("hi")), llm.ErrProtocol)
			})
		}
	})
	t.Run("nobody there", func(t *testing.T) {
		_, h := serve(t, testllm.Script{})
		h.Close()
		began := time.Now()
		p := fresh(t, h.URL, "")
		e := failed(t, Collect(t, p, Ask("hi")), llm.ErrNetwork)
		assert.Less(t, time.Since(began), time.Second, "a refused connection is not tried again")
		assert.Contains(t, e.Message, h.URL)
		assert.Contains(t, e.Message, "Settings")
		assert.Equal(t, core.CodeUnavailable, core.CodeOf(e))
		_, err := p.Models(t.Context())
		assert.Equal(t, core.CodeUnavailable, core.CodeOf(err))
	})
	t.Run("models", func(t *testing.T) {
		_, h := serve(t, testllm.Script{Models: []string{"a", "b:7b"}, Key: "k"})
		p := fresh(t, h.URL, "k")
		models, err := p.Models(t.Context())
		require.NoError(t, err)
		require.Len(t, models, 2)
		assert.Equal(t, "b:7b", models[1].ID)
		assert.True(t, p.Caps("a").Tools)
	})
}

func failed(t *testing.T, out Turn, kind llm.ErrorKind) *llm.Error {
	t.Helper()
	var e *llm.Error
	require.True(t, errors.As(out.Err, &e), "%v", out.Err)
	require.Equal(t, kind, e.Kind, e.Message)
	return e
}
