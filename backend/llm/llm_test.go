package llm

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
)

func TestWireSchema(t *testing.T) {
	for name, tc := range map[string]struct{ in, out string }{
		"nothing":                     {``, `{"type":"object","properties":{}}`},
		"no properties":               {`{"type":"object"}`, `{"type":"object","properties":{}}`},
		"no type":                     {`{"properties":{"b":{},"a":{}}}`, `{"properties":{"b":{},"a":{}},"type":"object"}`},
		"type list":                   {`{"type":["object","null"],"properties":{}}`, `{"type":"object","properties":{}}`},
		"meta is dropped":             {`{"$schema":"x","$id":"y","type":"object","properties":{"a":{"$id":"z","type":"string","pattern":"^a","minLength":2}}}`, `{"type":"object","properties":{"a":{"type":"string","pattern":"^a","minLength":2}}}`},
		"a property called $id stays": {`{"type":"object","properties":{"$id":{"type":"string"}}}`, `{"type":"object","properties":{"$id":{"type":"string"}}}`},
		"booleans":                    {`{"type":"object","properties":{"a":true,"b":{"items":false}},"additionalProperties":false}`, `{"type":"object","properties":{"a":{},"b":{"items":{}}},"additionalProperties":false}`},
		"definitions stay":            {`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"required":["x"],"oneOf":[{"const":1},true]}}}`, `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"required":["x"],"oneOf":[{"const":1},{}]}}}`},
		"anyOf is folded":             {`{"anyOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{}}}]}`, `{"type":"object","properties":{"a":{"type":"string"},"b":{}}}`},
		"allOf is folded":             {`{"type":"object","properties":{"c":{}},"required":["c"],"allOf":[{"properties":{"a":{},"c":{"type":"null"}},"required":["a","c"]}]}`, `{"type":"object","properties":{"c":{},"a":{}},"required":["c","a"]}`},
		"a root reference":            {`{"$ref":"#/definitions/A","definitions":{"A":{"type":"object","properties":{"x":{}},"required":["x"],"title":"T"}}}`, `{"definitions":{"A":{"type":"object","properties":{"x":{}},"required":["x"],"title":"T"}},"properties":{"x":{}},"required":["x"],"type":"object","title":"T"}`},
		"conditions go":               {`{"type":"object","properties":{},"if":{},"then":{},"not":{}}`, `{"type":"object","properties":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := WireSchema(json.RawMessage(tc.in))
			require.NoError(t, err)
			assert.Equal(t, tc.out, string(out))
		})
	}
	for name, in := range map[string]string{
		"not JSON": `{`, "comment": `{/* x */}`, "not an object": `[]`, "true": `true`, "another type": `{"type":"string"}`, "remote": `{"type":"object","properties":{"a":{"$ref":"https://x.dev/s.json"}}}`,
		"dangling root": `{"$ref":"#/$defs/A"}`, "deep": `{"type":"object","properties":{"a":` + strings.Repeat(`{"items":`, 100) + `{}` + strings.Repeat(`}`, 100) + `}}`,
		"large": `{"type":"object","description":"` + strings.Repeat("x", maxSchemaBytes) + `"}`,
	} {
		_, err := WireSchema(json.RawMessage(in))
		assert.Error(t, err, name)
	}
}

func FuzzWireSchema(f *testing.F) {
	f.Add(`{"$ref":"#/a","a":{"$ref":"#/a"}}`)
	f.Add(`{"allOf":[{"$ref":"#"},{"properties":{"a":true},"required":["a"]}],"properties":null,"required":"x"}`)
	f.Add(`{"type":["object"],"anyOf":{},"properties":{"a":{"items":[true,{"$id":1}]}}}`)
	f.Fuzz(func(t *testing.T, in string) {
		out, err := WireSchema(json.RawMessage(in))
		if err != nil {
			return
		}
		var m map[string]any
		if err := json.Unmarshal(out, &m); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if _, ok := m["properties"].(map[string]any); !ok || m["type"] != "object" {
			t.Fatalf("%s", out)
		}
		for _, k := range []string{"anyOf", "oneOf", "allOf", "$schema", "$id"} {
			if _, there := m[k]; there {
				t.Fatalf("%s in %s", k, out)
			}
		}
	})
}

func TestTurns(t *testing.T) {
	call := func(id string) core.Part { return core.Part{Kind: core.PartToolCall, CallID: id, Alias: "t" + id} }
	result := func(id string) core.Part {
		return core.Part{Kind: core.PartToolResult, CallID: id, Text: "r" + id}
	}
	text := core.Part{Kind: core.PartText, Text: "x"}
	out := Turns([]core.Message{
		{Role: core.RoleTool, Parts: []core.Part{result("0")}},
		{Role: core.RoleUser, Parts: []core.Part{text}},
		{Role: core.RoleAssistant},
		{Role: core.RoleAssistant, Parts: []core.Part{call("1"), call("2"), call("3")}},
		{Role: core.RoleTool, Parts: []core.Part{result("2")}},
		{Role: core.RoleTool, Parts: []core.Part{result("1"), result("9")}},
	})
	require.Len(t, out, 3)
	require.Len(t, out[2].Parts, 3)
	assert.Equal(t, []string{"r1", "r2", "This call was not run."}, []string{out[2].Parts[0].Text, out[2].Parts[1].Text, out[2].Parts[2].Text})
	assert.Equal(t, "t3", out[2].Parts[2].Alias)
}

func attempts(plan ...[]any) (func(context.Context) iter.Seq2[Event, error], *int) {
	n := 0
	return func(context.Context) iter.Seq2[Event, error] {
		return func(yield func(Event, error) bool) {
			steps := plan[min(n, len(plan)-1)]
			n++
			for _, s := range steps {
				switch s := s.(type) {
				case string:
					if !yield(Event{Kind: EventText, Delta: s}, nil) {
						return
					}
				case *Error:
					c := *s
					yield(Event{}, &c)
					return
				case error:
					yield(Event{}, s)
					return
				}
			}
		}
	}, &n
}

func TestRetry(t *testing.T) {
	busy := &Error{Kind: ErrOverloaded, Message: "busy"}
	for name, tc := range map[string]struct {
		plan  [][]any
		tries int
		text  string
		err   string
		sent  bool
		wait  time.Duration
	}{
		"passes":                   {[][]any{{busy}, {"ok"}}, 2, "ok", "", false, 0},
		"gives up":                 {[][]any{{busy}}, maxTries, "", "busy", false, 0},
		"not after output":         {[][]any{{"a", busy}, {"b"}}, 1, "a", "busy", true, 0},
		"not what will not pass":   {[][]any{{&Error{Kind: ErrAuth, Message: "key"}}}, 1, "", "key", false, 0},
		"as long as is asked":      {[][]any{{&Error{Kind: ErrRateLimit, RetryAfter: 20 * time.Second}}, {"ok"}}, 2, "ok", "", false, 20 * time.Second},
		"not longer than is right": {[][]any{{&Error{Kind: ErrRateLimit, Message: "later", RetryAfter: time.Minute}}}, 1, "", "later", false, 0},
		"not a strange error":      {[][]any{{errors.New("strange")}}, 1, "", "strange", false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				attempt, n := attempts(tc.plan...)
				began := time.Now()
				got := ""
				var last error
				for ev, err := range Retry(t.Context(), attempt) {
					got, last = got+ev.Delta, err
				}
				assert.Equal(t, tc.text, got)
				assert.Equal(t, tc.tries, *n)
				assert.GreaterOrEqual(t, time.Since(began), tc.wait)
				if tc.err == "" {
					require.NoError(t, last)
					return
				}
				require.EqualError(t, last, tc.err)
				var e *Error
				if errors.As(last, &e) {
					assert.Equal(t, tc.sent, e.Sent)
				}
			})
		})
	}
}

func TestRetryStopsWaitingWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		attempt, n := attempts([]any{&Error{Kind: ErrRateLimit, RetryAfter: 25 * time.Second}})
		var last error
		for _, err := range Retry(ctx, attempt) {
			last = err
		}
		assert.ErrorIs(t, last, context.DeadlineExceeded)
		assert.Equal(t, 1, *n)
	})
}

func TestErrorsKeepKeysOutAndNameTheAddress(t *testing.T) {
	e := Endpoint{Name: "Mine", BaseURL: "https://me:hunter2@x.dev/v1"}
	got := e.Status(401, http.Header{}, " bad\n key. ", "m")
	assert.Equal(t, "Mine at https://me:xxxxx@x.dev/v1 refused the key: bad key. Enter the right key in Settings.", got.Message)
	assert.Empty(t, clean("<html>"))
	assert.Equal(t, 3*time.Second, retryAfter(http.Header{"Retry-After": {"3"}}))
	assert.Zero(t, retryAfter(http.Header{"Retry-After": {"-3"}}))
}
