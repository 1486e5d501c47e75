package rehearsal

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/backend/llm"
	"patchbay/backend/llm/llmtest"
)

func tools() []llm.ToolDef {
	return []llm.ToolDef{
		{Name: "demo_echo", Description: "Returns what it is given.", Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"times":{"type":"integer"}},"required":["text","times"]}`)},
		{Name: "fs_read_file", Description: "Reads a file.\nMore.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","examples":["/tmp/x"]}},"required":["path"]}`)},
	}
}

func say(t *testing.T, text string, defs []llm.ToolDef) (string, []core.Part) {
	r := llmtest.Ask(text)
	r.Tools = defs
	out := llmtest.Collect(t, &Provider{}, r)
	require.NoError(t, out.Err)
	var calls []core.Part
	for _, p := range out.End.Message.Parts {
		if p.Kind == core.PartToolCall {
			calls = append(calls, p)
		}
	}
	assert.Equal(t, len(calls) > 0, out.End.Stop == llm.StopTools)
	return out.Text, calls
}

func TestCalls(t *testing.T) {
	text, calls := say(t, "please\n/call demo_echo {\"text\": \"a\",\n  \"times\": 2}\n/call fs_read_file\n/call demo_echo{\"x\":1}", tools())
	require.Len(t, calls, 3)
	assert.JSONEq(t, `{"text":"a","times":2}`, calls[0].Arguments)
	assert.Equal(t, "{}", calls[1].Arguments)
	assert.JSONEq(t, `{"x":1}`, calls[2].Arguments)
	assert.Contains(t, text, "Calling `demo_echo`, `fs_read_file`, `demo_echo`.")
}

func TestWhatCannotBeCalledIsSaid(t *testing.T) {
	text, calls := say(t, "/call echo {}\n/call demo_echo [1]\n/call fs_read_file {}\n/call", tools())
	require.Len(t, calls, 1)
	assert.Contains(t, text, "There is no tool `echo`. Near to it: `demo_echo`.")
	assert.Contains(t, text, "not a JSON object: `[1]`")
	assert.Contains(t, text, "`/call demo_echo {\"text\": \"…\", \"times\": 1}`")
	assert.Contains(t, text, "Behind /call must stand")
	text, calls = say(t, "/call anything {}", nil)
	assert.Empty(t, calls)
	assert.Contains(t, text, "paste the configuration")
}

func TestProposals(t *testing.T) {
	text, calls := say(t, "Can you read the file notes.txt?", tools())
	assert.Empty(t, calls, "it proposes and does not call")
	assert.Contains(t, text, "`fs_read_file`: Reads a file. To call it")
	assert.Contains(t, text, `/call fs_read_file {"path": "/tmp/x"}`)
	text, _ = say(t, "zzz", tools())
	assert.Contains(t, text, "`demo_echo`, `fs_read_file`")
	text, _ = say(t, "hello", nil)
	assert.Contains(t, text, "add the demo server")
	again, _ := say(t, "hello", nil)
	assert.Equal(t, text, again, "the same conversation gets the same answer")
	// What it proposes is what it accepts.
	_, calls = say(t, "/call fs_read_file {\"path\": \"/tmp/x\"}", tools())
	assert.Len(t, calls, 1)
}

func TestResults(t *testing.T) {
	r := llmtest.Ask("/call demo_echo {}")
	r.Tools = tools()
	r.Messages = append(r.Messages,
		core.Message{Role: core.RoleAssistant, Parts: []core.Part{{Kind: core.PartToolCall, CallID: "1", Alias: "demo_echo", Arguments: "{}"}}},
		core.Message{Role: core.RoleTool, Parts: []core.Part{
			{Kind: core.PartToolResult, CallID: "1", Alias: "demo_echo", Text: "1\n2\n3\n4\n5\n6\n7\n8", Status: core.CallDone},
			{Kind: core.PartToolResult, CallID: "2", Alias: "fs_read_file", Text: "You declined.", Status: core.CallDenied},
		}})
	out := llmtest.Collect(t, &Provider{}, r)
	require.NoError(t, out.Err)
	assert.Contains(t, out.Text, "`demo_echo` returned:\n\n```\n1\n2\n3\n4\n5\n6\n…\n```")
	assert.Contains(t, out.Text, "`fs_read_file` did not succeed:\n\n```\nYou declined.\n```")
	assert.Equal(t, llm.StopEnd, out.End.Stop)
}

func TestCancel(t *testing.T) {
	p, err := New(core.Provider{}, "")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := llmtest.CollectContext(ctx, t, p, llmtest.Ask("hello"), func(llm.Event) { cancel() })
	assert.ErrorIs(t, out.Err, context.Canceled)
	models, err := p.Models(t.Context())
	require.NoError(t, err)
	assert.Equal(t, ModelID, models[0].ID)
}

func FuzzAnswer(f *testing.F) {
	f.Add("/call demo_echo {\"a\":1}\n/call\u00a0x", `{"type":"object","required":["a"],"properties":{"a":{"default":{}}}}`)
	f.Fuzz(func(t *testing.T, text, schema string) {
		r := llmtest.Ask(text)
		r.Tools = []llm.ToolDef{{Name: "demo_echo", Schema: json.RawMessage(schema)}}
		_, calls := answer(r)
		for _, c := range calls {
			if c.alias != "demo_echo" || !json.Valid([]byte(c.args)) {
				t.Fatalf("%+v", c)
			}
		}
	})
}
