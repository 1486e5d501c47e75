package mcp

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/internal/testmcp"
)

// both runs f with a server on stdio and one over HTTP.
func both(t *testing.T, o testmcp.Options, f func(t *testing.T, w *world)) {
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.start(stdioSpec(t, "s", o))
		f(t, w)
	})
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		spec, _ := httpSpec(t, "s", o)
		w.start(spec)
		f(t, w)
	})
}

func TestResults(t *testing.T) {
	t.Parallel()
	both(t, testmcp.Options{}, func(t *testing.T, w *world) {
		res, err := w.call("s", "add", "{\n \"a\": 1, \"b\": 2 }")
		require.NoError(t, err)
		assert.JSONEq(t, `{"sum":3}`, string(res.StructuredContent))
		assert.Empty(t, res.Warning)
		assert.NotZero(t, res.Bytes)

		res, err = w.call("s", "error", ``)
		require.NoError(t, err, "a tool that fails is a result")
		assert.True(t, res.IsError)

		res, err = w.call("s", "image", `{}`)
		require.NoError(t, err)
		require.Len(t, res.Content, 4)
		assert.Equal(t, "\x89PNG\r\n\x1a\n", string(res.Content[0].Data))
		assert.Equal(t, []byte{0xff, 0xef}[:1], res.Content[1].Data[:1], "URL alphabet and data: URL")
		assert.Equal(t, core.Content{Type: core.ContentResourceLink, URI: "file:///a", Name: "a"}, res.Content[2])
		assert.Equal(t, core.Content{Type: core.ContentResource, URI: "file:///b", MIMEType: "text/plain", Text: "b"}, res.Content[3])

		res, err = w.call("s", "bigint", `{}`)
		require.NoError(t, err)
		assert.Equal(t, `{"n":9007199254740993}`, string(res.StructuredContent), "no digit is lost")

		res, err = w.call("s", "bad_structured", `{}`)
		require.NoError(t, err)
		assert.Equal(t, "kept", res.Text())
		assert.Contains(t, res.Warning, "does not match its own schema")

		res, err = w.call("s", "odd_content", `{}`)
		require.NoError(t, err)
		require.Len(t, res.Content, 3)
		assert.JSONEq(t, `{"type":"hologram","beam":1}`, res.Content[0].Text)
		assert.Equal(t, "kept", res.Content[2].Text)
		assert.NotEmpty(t, res.Warning)
	})
}

func TestCallErrors(t *testing.T) {
	t.Parallel()
	both(t, testmcp.Options{Faults: []string{testmcp.BadTool, testmcp.OddTools}}, func(t *testing.T, w *world) {
		for _, c := range []struct {
			tool, args string
			code       core.Code
			text       string
		}{
			{"nothing", `{}`, core.CodeNotFound, "does not know the tool nothing"},
			{"rpc_error", `{"code":-32602,"text":"path is required"}`, core.CodeInvalid, "refused the arguments for rpc_error: path is required."},
			{"rpc_error", `{"code":-32603,"text":"disk full"}`, core.CodeUnavailable, "disk full"},
			{"rpc_error", `{"code":-32601,"text":"no such method"}`, core.CodeUnavailable, "does not run tools"},
			{"echo", `[1]`, core.CodeInvalid, "not a JSON object"},
			{"echo", `{"a":`, core.CodeInvalid, "not a JSON object"},
			{"nan", `{}`, core.CodeUnavailable, "valid JSON"},
			{"task_only", `{}`, core.CodeUnavailable, "background task"},
			{"(unnamed tool 1)", `{}`, core.CodeUnavailable, "no usable name"},
		} {
			_, err := w.call("s", c.tool, c.args)
			require.Equal(t, c.code, core.CodeOf(err), "%s %s: %v", c.tool, c.args, err)
			require.ErrorContains(t, err, c.text)
		}
		_, err := w.call("other", "echo", "{}")
		require.Equal(t, core.CodeNotFound, core.CodeOf(err))
		echoes(t, w, "s")
	})
}

func TestChunks(t *testing.T) {
	t.Parallel()
	for _, faults := range [][]string{nil, {testmcp.EventAnswers}, {testmcp.Modern}} {
		both(t, testmcp.Options{Faults: faults}, func(t *testing.T, w *world) {
			var got []core.Chunk
			returned := make(chan struct{})
			_, err := w.Call(context.Background(), ref("s", "slow"), "c1", []byte(`{"ms":1,"steps":50}`), func(c core.Chunk) {
				select {
				case <-returned:
					t.Error("a chunk after the end")
				default:
				}
				got = append(got, c)
			})
			close(returned)
			require.NoError(t, err)
			require.Len(t, got, 50)
			for i, c := range got {
				require.Equal(t, fmt.Sprintf("step %d", i+1), c.Message)
				require.Equal(t, "c1", c.CallID)
				require.Equal(t, core.ChunkProgress, c.Kind)
				require.InDelta(t, i+1, *c.Progress, 0)
				require.InDelta(t, 50, *c.Total, 0)
			}
			got = nil
			_, err = w.Call(context.Background(), ref("s", "log"), "c2", nil, func(c core.Chunk) { got = append(got, c) })
			require.NoError(t, err)
			require.Len(t, got, 1)
			assert.Equal(t, core.ChunkLog, got[0].Kind)
			assert.Equal(t, "test: hello", got[0].Message)
			assert.Contains(t, strings.Join(w.Log("s"), "\n"), "info: test: hello")
		})
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	both(t, testmcp.Options{}, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(context.Background())
		began := make(chan struct{})
		var once sync.Once
		errs := make(chan error, 1)
		go func() {
			_, err := w.Call(ctx, ref("s", "slow"), "c1", []byte(`{"ms":60000,"steps":1}`), func(core.Chunk) { once.Do(func() { close(began) }) })
			errs <- err
		}()
		<-began
		at := time.Now()
		cancel()
		err := <-errs
		assert.Less(t, time.Since(at), 500*time.Millisecond)
		assert.Equal(t, core.CodeCanceled, core.CodeOf(err))

		ctx, cancel = context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		at = time.Now()
		_, err = w.Call(ctx, ref("s", "hang"), "c2", nil, nil)
		assert.Less(t, time.Since(at), 500*time.Millisecond)
		assert.Equal(t, core.CodeTimeout, core.CodeOf(err))
		if w.status("s").Transport == core.TransportStdio {
			require.Eventually(t, func() bool {
				res, err := w.call("s", "cancels", "{}")
				return err == nil && res.Text() == "2"
			}, 2*time.Second, 5*time.Millisecond, "the server is told")
		}
		echoes(t, w, "s")
		require.Equal(t, core.StateConnected, w.status("s").State, "and never killed")
	})
}

// A server that does not read must not hold up the callers.
func TestCancelOfServerThatDoesNotRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(stdioSpec(t, "s", testmcp.Options{Faults: []string{testmcp.Deaf}}))
	arg := []byte(`{"text":"` + strings.Repeat("x", 256<<10) + `"}`)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
			defer cancel()
			at := time.Now()
			_, err := w.Call(ctx, ref("s", "hang"), fmt.Sprint(i), arg, nil)
			assert.Equal(t, core.CodeTimeout, core.CodeOf(err))
			assert.Less(t, time.Since(at), 5*time.Second) // on a busy machine; stuck would be for ever
		})
	}
	wg.Wait()
}

func TestCallWaitsForStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Apply([]core.ServerSpec{stdioSpec(t, "s", testmcp.Options{StartMS: 300})})
	echoes(t, w, "s")
	w.Apply([]core.ServerSpec{stdioSpec(t, "s", testmcp.Options{StartMS: 2000})})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := w.Call(ctx, ref("s", "echo"), "x", nil, nil)
	require.Equal(t, core.CodeTimeout, core.CodeOf(err))
	require.ErrorContains(t, err, "still starting")
}

func TestParallelCalls(t *testing.T) {
	t.Parallel()
	both(t, testmcp.Options{}, func(t *testing.T, w *world) {
		var wg sync.WaitGroup
		var n atomic.Int64
		for i := range 64 {
			wg.Go(func() {
				text := fmt.Sprint("text ", i)
				res, err := w.Call(context.Background(), ref("s", "echo"), text, []byte(`{"text":"`+text+`"}`), nil)
				if assert.NoError(t, err) && assert.Equal(t, text, res.Text()) {
					n.Add(1)
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, 64, n.Load())
	})
}

// A call in flight ends at once when its server is turned off.
func TestCallEndsWithItsServer(t *testing.T) {
	t.Parallel()
	for _, faults := range [][]string{nil, {testmcp.EventAnswers}, {testmcp.Modern}} {
		both(t, testmcp.Options{Faults: faults}, func(t *testing.T, w *world) {
			began := make(chan struct{})
			var once sync.Once
			errs := make(chan error, 2)
			go func() {
				_, err := w.Call(context.Background(), ref("s", "slow"), "c1", []byte(`{"ms":60000,"steps":1}`), func(core.Chunk) { once.Do(func() { close(began) }) })
				errs <- err
			}()
			go func() {
				_, err := w.Call(context.Background(), ref("s", "hang"), "c2", nil, nil)
				errs <- err
			}()
			<-began
			require.NoError(t, w.Disconnect(context.Background(), "s"))
			for range 2 {
				select {
				case err := <-errs:
					assert.Equal(t, core.CodeUnavailable, core.CodeOf(err))
				case <-time.After(3 * time.Second):
					require.Fail(t, "a call hangs")
				}
			}
			w.until("s", core.StateOff)
		})
	}
}
