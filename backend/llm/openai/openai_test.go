package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"patchbay/backend/core"
	"patchbay/backend/llm"
	"patchbay/backend/llm/llmtest"
	"patchbay/internal/testllm"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func fresh(t *testing.T, base, key string) llm.Provider {
	p, d, err := newProvider(core.Provider{Name: "Local", BaseURL: base}, key)
	require.NoError(t, err)
	t.Cleanup(d.client.CloseIdleConnections)
	return p
}

func TestSuite(t *testing.T) { llmtest.Run(t, fresh) }

func TestUsageCountsCachedTokensApart(t *testing.T) {
	_, h := testllm.Start(testllm.Script{Rules: []testllm.Rule{{Text: "ok", Usage: testllm.Usage{Input: 100, Cached: 60, Output: 9, Reasoning: 4}}}})
	defer h.Close()
	out := llmtest.Collect(t, fresh(t, h.URL, ""), llmtest.Ask("hi"))
	assert.Equal(t, core.Usage{Input: 40, CacheRead: 60, Output: 9, Reasoning: 4}, out.End.Usage)
}

func TestEndpointsThatRefuseStreamOptions(t *testing.T) {
	srv, h := testllm.Start(testllm.Script{NoStreamOptions: true, Rules: []testllm.Rule{{Text: "ok"}}})
	defer h.Close()
	p := fresh(t, h.URL, "")
	for range 2 {
		require.NoError(t, llmtest.Collect(t, p, llmtest.Ask("hi")).Err)
	}
	assert.Len(t, srv.Requests(), 3, "it is learnt once")
}

func TestWholeCallsWithoutIDs(t *testing.T) {
	_, h := testllm.Start(testllm.Script{Rules: []testllm.Rule{{WholeCalls: true, ToolCalls: []testllm.Call{
		{Name: "a", Arguments: json.RawMessage(`{"x":1}`)}, {Name: "a", Arguments: json.RawMessage(`{"x":2}`)}}}}})
	defer h.Close()
	out := llmtest.Collect(t, fresh(t, h.URL, ""), llmtest.Ask("hi"))
	require.NoError(t, out.Err)
	require.Len(t, out.End.Message.Parts, 2)
	assert.Equal(t, `{"x":2}`, out.End.Message.Parts[1].Arguments)
}

// Streams as other endpoints write them.
func TestOtherDialects(t *testing.T) {
	for name, tc := range map[string]struct {
		chunks []string
		want   []string
		kind   llm.ErrorKind
	}{
		"reasoning and comments": {[]string{`{"choices":[{"delta":{"role":"assistant","content":"","reasoning":"hm"},"finish_reason":null}]}`, `{"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}],"usage":null}`}, []string{"reasoning hm", "text ok"}, ""},
		"no index": {[]string{`{"choices":[{"delta":{"content":null,"tool_calls":[{"id":"1","function":{"name":"a","arguments":"{\"x\":"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"1}"}}]}}]}`, `{"choices":[{"delta":{"tool_calls":[{"id":"2","function":{"name":"b","arguments":{"y":2}}}]},"finish_reason":"tool_calls"}]}`},
			[]string{`call a {"x":1}`, `call b {"y":2}`}, ""},
		"index 0 for all": {[]string{`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":"{}"}},{"index":0,"id":"2","function":{"name":"b","arguments":""}}]},"finish_reason":"stop"}]}`},
			[]string{`call a {}`, `call b {}`}, ""},
		"the id in each piece": {[]string{`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\""}}]}}]}`, `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":":1}"}}]},"finish_reason":"stop"}]}`},
			[]string{`call a {"x":1}`}, ""},
		"an error beside choices": {[]string{`{"choices":[{"delta":{"content":"x"},"finish_reason":"error"}],"error":{"code":502,"message":"upstream is gone"}}`}, nil, llm.ErrServer},
		"done without a finish":   {[]string{`{"choices":[{"delta":{"content":"x"}}]}`}, nil, llm.ErrTruncated},
	} {
		t.Run(name, func(t *testing.T) {
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for range 400 { // more keep-alives than go-openai takes by itself
					_, _ = fmt.Fprint(w, ": waiting\n\n")
				}
				for _, c := range tc.chunks {
					_, _ = fmt.Fprintf(w, "data: %s\n\n", c)
				}
				_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
			}))
			defer h.Close()
			out := llmtest.Collect(t, fresh(t, h.URL, ""), llmtest.Ask("hi"))
			if tc.kind != "" {
				var e *llm.Error
				require.ErrorAs(t, out.Err, &e)
				assert.Equal(t, tc.kind, e.Kind, e.Message)
				return
			}
			require.NoError(t, out.Err)
			var got []string
			for _, p := range out.End.Message.Parts {
				if p.Kind == core.PartToolCall {
					got = append(got, "call "+p.Alias+" "+p.Arguments)
				} else {
					got = append(got, string(p.Kind)+" "+p.Text)
				}
			}
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestAddress(t *testing.T) {
	for in, want := range map[string]string{
		"http://localhost:1234":                          "http://localhost:1234/v1",
		"http://localhost:1234/":                         "http://localhost:1234/v1",
		"http://localhost:1234/v1/":                      "http://localhost:1234/v1",
		"https://openrouter.ai/api/v1":                   "https://openrouter.ai/api/v1",
		"https://x.dev/v1/chat/completions":              "https://x.dev/v1",
		" https://generativelanguage.dev/v1beta/openai/": "https://generativelanguage.dev/v1beta/openai",
	} {
		u, err := tidy(in)
		require.NoError(t, err)
		assert.Equal(t, want, u.String())
	}
	_, err := New(core.Provider{BaseURL: "localhost:1234"}, "")
	assert.Equal(t, core.CodeInvalid, core.CodeOf(err))
}

func FuzzTurn(f *testing.F) {
	f.Add(`{"choices":[{"delta":{"tool_calls":[{"index":5,"function":{"name":"a","arguments":"{}"}},{"id":"x","function":{"arguments":{}}}]}}]}` + "\n" + `{"usage":{"prompt_tokens":1,"prompt_tokens_details":{"cached_tokens":5}}}`)
	f.Add(`{"error":null,"choices":[]}`)
	f.Add(`{"error":{"message":["a"],"code":"x"}}`)
	f.Fuzz(func(t *testing.T, raw string) {
		turn := turn{yield: func(ev llm.Event, err error) bool { return err == nil }}
		for line := range strings.Lines(raw) {
			if turn.take([]byte(line)) != nil {
				return
			}
		}
		end := turn.b.End(stop(turn.finish), turn.usage).End
		if end.Usage.Input < 0 && !strings.Contains(raw, "-") {
			t.Fatalf("%+v", end.Usage)
		}
		for _, p := range end.Message.Parts {
			if p.Kind == core.PartToolCall && (p.CallID == "" || end.Stop != llm.StopTools) {
				t.Fatalf("%+v", p)
			}
		}
	})
}
