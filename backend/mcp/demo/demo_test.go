package demo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"patchbay/backend/core"
	"patchbay/backend/event"
	"patchbay/backend/mcp"
	"patchbay/backend/mcp/demo"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("DEMO_SCRATCH"); dir != "" { // this binary is also the server
		if err := demo.New(dir).RunStdio(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// Everything that the demo promises, through the engine, over both transports.
func TestDemo(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	scratch := filepath.Join(t.TempDir(), "notes")
	other := filepath.Join(t.TempDir(), "notes")
	srv := httptest.NewServer(demo.New(other).Handler())
	defer srv.Close()
	m := mcp.New(mcp.Options{Shell: "none"})
	defer func() { require.NoError(t, m.Close(context.Background())) }()
	m.Apply([]core.ServerSpec{
		{Name: "stdio", Transport: core.TransportStdio, Command: self, Env: map[string]string{"DEMO_SCRATCH": scratch}},
		{Name: "http", Transport: core.TransportHTTP, URL: srv.URL},
	})
	require.NoError(t, m.WaitSettled(context.Background()))
	for name, dir := range map[string]string{"stdio": scratch, "http": other} {
		t.Run(name, func(t *testing.T) {
			tools := map[string]core.Tool{}
			for _, tool := range m.Tools(name) {
				tools[tool.Ref.Name] = tool
				assert.Empty(t, tool.Broken)
				require.NotNil(t, tool.Annotations.DestructiveHint, tool.Ref.Name)
				require.NotNil(t, tool.Annotations.ReadOnlyHint, tool.Ref.Name)
				assert.Equal(t, tool.Ref.Name == "delete_note", *tool.Annotations.DestructiveHint, tool.Ref.Name)
				assert.Equal(t, tool.Ref.Name != "delete_note" && tool.Ref.Name != "write_note", *tool.Annotations.ReadOnlyHint, tool.Ref.Name)
			}
			require.Len(t, tools, 8)
			n := 0
			call := func(tool, args string, chunk core.ChunkFunc) core.ToolResult {
				n++
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
				defer cancel()
				res, err := m.Call(ctx, tools[tool].Ref, fmt.Sprint("c", n), json.RawMessage(args), chunk)
				require.NoError(t, err, tool)
				assert.Empty(t, res.Warning, tool)
				return res
			}
			assert.JSONEq(t, `"UTC"`, field(t, call("current_time", `{}`, nil), "timezone"))
			assert.True(t, call("current_time", `{"timezone":"Nowhere/Land"}`, nil).IsError)
			assert.Equal(t, "olleH", call("transform_text", `{"text":"Hello","operation":"reverse"}`, nil).Text())
			assert.Equal(t, "2", call("transform_text", `{"text":"a b","operation":"count_words"}`, nil).Text())
			assert.NotEqual(t, `0`, field(t, call("roll_dice", `{"count":3,"sides":20}`, nil), "total"))

			for _, kind := range []string{"bar", "line"} {
				res := call("draw_chart", `{"numbers":[3,-1,4.5],"kind":"`+kind+`"}`, nil)
				require.Len(t, res.Content, 2)
				img, err := png.Decode(bytes.NewReader(res.Content[1].Data))
				require.NoError(t, err)
				assert.Equal(t, 640, img.Bounds().Dx())
			}

			var chunks []core.Chunk
			call("slow_count", `{"seconds":2}`, func(c core.Chunk) { chunks = append(chunks, c) })
			require.Len(t, chunks, 2)
			assert.Equal(t, "Counted 2 of 2", chunks[1].Message)
			ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
			defer cancel()
			_, err := m.Call(ctx, tools["slow_count"].Ref, "cut", json.RawMessage(`{"seconds":60}`), nil)
			assert.Equal(t, core.CodeTimeout, core.CodeOf(err))

			assert.False(t, call("write_note", `{"name":"milk","text":"buy"}`, nil).IsError)
			assert.True(t, call("write_note", `{"name":"milk","text":"other"}`, nil).IsError, "nothing is overwritten")
			for _, bad := range []string{"../milk", `a\\b`, ".hidden", "", "/etc/passwd"} {
				assert.True(t, call("write_note", `{"name":"`+bad+`","text":"x"}`, nil).IsError, bad)
				assert.True(t, call("delete_note", `{"name":"`+bad+`"}`, nil).IsError, bad)
			}
			assert.Equal(t, "milk: buy", call("list_notes", `{}`, nil).Text())
			require.FileExists(t, filepath.Join(dir, "milk.txt"))
			assert.False(t, call("delete_note", `{"name":"milk"}`, nil).IsError)
			require.NoFileExists(t, filepath.Join(dir, "milk.txt"))
			assert.True(t, call("delete_note", `{"name":"milk"}`, nil).IsError)
		})
	}
}

func field(t *testing.T, r core.ToolResult, name string) string {
	t.Helper()
	var f map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(r.StructuredContent, &f), r.Text())
	return string(f[name])
}

// What the demo offers beside tools, through the engine: the tools that the
// engine makes of it, completion, and news of a resource that changed.
func TestDemoFeatures(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	srv := httptest.NewServer(demo.New(filepath.Join(t.TempDir(), "notes")).Handler())
	defer srv.Close()
	news := make(chan event.ResourcesChanged, 100)
	published := make(chan []core.Tool, 100)
	m := mcp.New(mcp.Options{Shell: "none",
		Emit: func(p event.Payload) {
			if c, ok := p.(event.ResourcesChanged); ok {
				news <- c
			}
		},
		Publish: func(_ string, tools []core.Tool) { published <- tools },
	})
	defer func() { require.NoError(t, m.Close(context.Background())) }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, spec := range []core.ServerSpec{
		{Name: "stdio", Transport: core.TransportStdio, Command: self, Env: map[string]string{"DEMO_SCRATCH": filepath.Join(t.TempDir(), "notes")}},
		{Name: "http", Transport: core.TransportHTTP, URL: srv.URL},
	} {
		t.Run(spec.Name, func(t *testing.T) {
			m.Apply([]core.ServerSpec{spec})
			require.NoError(t, m.WaitSettled(ctx))
			status := m.Status()[0]
			assert.Equal(t, []core.Feature{core.FeatureResources, core.FeatureSubscribe, core.FeaturePrompts, core.FeatureCompletions}, status.Features)
			assert.Equal(t, len(m.Tools(spec.Name)), status.ToolCount)
			var made []core.Tool
			for tools := range published {
				if len(tools) > 0 && tools[0].Ref.Server == spec.Name {
					made = tools[status.ToolCount:]
					break
				}
			}
			require.Len(t, made, 2)
			call := func(ref core.ToolRef, args string) (core.ToolResult, error) {
				return m.Call(ctx, ref, "c", json.RawMessage(args), nil)
			}
			resources, prompts := made[0].Ref, made[1].Ref

			list, err := m.Resources(ctx, spec.Name)
			require.NoError(t, err)
			require.Len(t, list.Resources, 1)
			require.Len(t, list.Templates, 1)
			uri := list.Resources[0].URI
			res, err := call(resources, `{}`)
			require.NoError(t, err)
			assert.Contains(t, res.Text(), uri)
			require.NoError(t, m.Subscribe(ctx, spec.Name, uri))

			_, err = call(core.ToolRef{Kind: core.ToolMCP, Server: spec.Name, Name: "write_note"}, `{"name":"milk & honey","text":"buy some"}`)
			require.NoError(t, err)
			select {
			case c := <-news:
				assert.Equal(t, event.ResourcesChanged{Server: spec.Name, URI: uri}, c)
			case <-ctx.Done():
				t.Fatal("nobody told of the change")
			}
			res, err = call(resources, `{"uri":"`+uri+`"}`)
			require.NoError(t, err)
			require.Equal(t, core.ContentResource, res.Content[0].Type)
			assert.Contains(t, res.Text(), "buy some")
			res, err = call(resources, `{"uri":"note:///milk%20%26%20honey"}`)
			require.NoError(t, err)
			assert.Equal(t, "buy some", res.Text())
			_, err = call(resources, `{"uri":"note:///nothing"}`)
			assert.Error(t, err)
			require.NoError(t, m.Unsubscribe(ctx, spec.Name, uri))

			done, err := m.Complete(ctx, spec.Name, core.Completion{URITemplate: list.Templates[0].URITemplate, Argument: "name", Value: "mi"})
			require.NoError(t, err)
			assert.Equal(t, []string{"milk & honey"}, done.Values)
			done, err = m.Complete(ctx, spec.Name, core.Completion{Prompt: "sum_up_notes", Argument: "tone", Value: "as a"})
			require.NoError(t, err)
			assert.Len(t, done.Values, 3)
			_, err = m.Complete(ctx, spec.Name, core.Completion{Argument: "tone"})
			assert.Equal(t, core.CodeInvalid, core.CodeOf(err))

			named, err := m.Prompts(ctx, spec.Name)
			require.NoError(t, err)
			require.Len(t, named.Prompts, 1)
			assert.True(t, named.Prompts[0].Arguments[0].Required)
			res, err = call(prompts, `{"name":"sum_up_notes","arguments":{"tone":"as a poem"}}`)
			require.NoError(t, err)
			assert.Contains(t, res.Text(), "user: Sum up these notes as a poem")
			assert.Contains(t, string(res.StructuredContent), `"messages"`)
			_, err = call(prompts, `{"name":"sum_up_notes"}`)
			assert.ErrorContains(t, err, "tone")
		})
	}
}

// A server that starts on demand must not stop under somebody who waits for news
// of its resources.
func TestWatchedServerDoesNotStop(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	m := mcp.New(mcp.Options{Shell: "none"})
	defer func() { require.NoError(t, m.Close(context.Background())) }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	state := func() core.ServerState { return m.Status()[0].State }
	m.Apply([]core.ServerSpec{{Name: "d", Transport: core.TransportStdio, Command: self, Start: core.StartOnDemand, IdleStopMS: 50,
		Env: map[string]string{"DEMO_SCRATCH": filepath.Join(t.TempDir(), "notes")}}})
	require.Eventually(t, func() bool { return state() == core.StateOnDemand }, 10*time.Second, time.Millisecond)
	assert.Contains(t, m.Status()[0].Features, core.FeatureResources, "what it offers is known while it is stopped")

	list, err := m.Resources(ctx, "d")
	require.NoError(t, err)
	require.NoError(t, m.Subscribe(ctx, "d", list.Resources[0].URI))
	<-time.After(500 * time.Millisecond) // ten times as long as it may be idle
	require.Equal(t, core.StateConnected, state())
	require.NoError(t, m.Unsubscribe(ctx, "d", list.Resources[0].URI))
	require.Eventually(t, func() bool { return state() == core.StateOnDemand }, 10*time.Second, time.Millisecond)
}
