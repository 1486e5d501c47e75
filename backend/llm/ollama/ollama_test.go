package ollama

import (
	"encoding/json"
	"errors"
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
	p, err := New(core.Provider{Name: "Ollama", BaseURL: base}, key)
	require.NoError(t, err)
	t.Cleanup(p.(*Provider).client.CloseIdleConnections)
	return p
}

func TestSuite(t *testing.T) { llmtest.Run(t, fresh) }

func TestTheWholeSchemaGoesOut(t *testing.T) {
	srv, h := testllm.Start(testllm.Script{Rules: []testllm.Rule{{Text: "ok"}}})
	defer h.Close()
	r := llmtest.Ask("hi")
	r.Tools = llmtest.Tools()
	require.NoError(t, llmtest.Collect(t, fresh(t, h.URL+"/api/", ""), r).Err)
	var body struct {
		Tools []struct {
			Function struct {
				Name       string
				Parameters json.RawMessage
			}
		}
		Options map[string]float64
	}
	require.NoError(t, json.Unmarshal(srv.Requests()[0].Body, &body))
	require.Len(t, body.Tools, 3, "the broken one is left out")
	assert.Contains(t, string(body.Tools[0].Function.Parameters), `"required":["lat"]`)
	assert.Contains(t, string(body.Tools[0].Function.Parameters), `"minLength":1`)
	assert.EqualValues(t, 8192, body.Options["num_ctx"])
}

func TestContextGrowsWithThePromptUpToTheModels(t *testing.T) {
	_, h := testllm.Start(testllm.Script{})
	defer h.Close()
	p := fresh(t, h.URL, "").(*Provider)
	assert.Equal(t, 131072, p.window("test-model", 300000))
	models, err := p.Models(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 40960, models[0].ContextWindow)
	assert.True(t, *models[0].Tools)
	assert.Equal(t, 40960, p.window("test-model", 300000))
	assert.Equal(t, 16384, p.window("test-model", 40000))
}

func TestAddress(t *testing.T) {
	for _, bad := range []string{"", "localhost:11434", "ftp://x", "http://"} {
		_, err := New(core.Provider{BaseURL: bad}, "")
		assert.Equal(t, core.CodeInvalid, core.CodeOf(err), bad)
	}
}

func FuzzStream(f *testing.F) {
	f.Add(`{"message":{"role":"assistant","content":"x","tool_calls":[{"function":{"name":"a","arguments":"{}"}}]},"done":false}` + "\n" + `{"done":true}`)
	f.Add(`{"error":{"a":1}}`)
	f.Add(`null`)
	f.Fuzz(func(t *testing.T, raw string) {
		p := fresh(t, "http://x.invalid", "").(*Provider)
		last, over := error(nil), false
		p.read(t.Context(), strings.NewReader(raw), "m", func(ev llm.Event, err error) bool {
			if over {
				t.Fatal("something follows the end")
			}
			over, last = err != nil || ev.Kind == llm.EventEnd, err
			return true
		})
		var e *llm.Error
		if !over || last != nil && !errors.As(last, &e) {
			t.Fatalf("ended with %v", last)
		}
	})
}
