package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/internal/testmcp"
)

// overBoth runs f with a server on stdio and over HTTP, in both eras.
func overBoth(t *testing.T, o testmcp.Options, f func(t *testing.T, w *world, spec core.ServerSpec)) {
	t.Helper()
	for _, http := range []bool{false, true} {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(fmt.Sprintf("http=%v,%s", http, era), func(t *testing.T) {
				t.Parallel()
				own := o
				if era == "modern" {
					own.Faults = append([]string{testmcp.Modern}, o.Faults...)
				}
				spec, _ := httpSpec(t, "s", own)
				if !http {
					spec = stdioSpec(t, "s", own)
				}
				w := newWorld(t)
				w.start(spec)
				f(t, w, spec)
				assert.Equal(t, core.StateConnected, w.status("s").State)
				if !http {
					assert.Len(t, pids(t, spec), 1, "it was never started again")
				}
			})
		}
	}
}

// Whatever a tool is called, it is listed, can be called by exactly that name,
// and costs the others nothing.
func TestOddToolNames(t *testing.T) {
	t.Parallel()
	overBoth(t, testmcp.Options{Faults: []string{testmcp.OddNames}}, func(t *testing.T, w *world, _ core.ServerSpec) {
		for _, name := range testmcp.OddToolNames() {
			tool := w.tool("s", name)
			if !assert.Equal(t, name, tool.Ref.Name) {
				continue
			}
			assert.Empty(t, tool.Broken, name)
			assert.NotEmpty(t, strings.TrimSpace(tool.Title))
			res, err := w.Call(context.Background(), tool.Ref, "c", nil, nil)
			if assert.NoError(t, err, name) {
				assert.Equal(t, "this is "+name, res.Text())
			}
		}
		tools := w.Tools("s")
		last := tools[len(tools)-1]
		assert.Contains(t, last.Ref.Name, "unnamed")
		_, err := w.Call(context.Background(), last.Ref, "c", nil, nil)
		require.ErrorContains(t, err, "no usable name")
		echoes(t, w, "s")
	})
}

// An answer that passes the limit costs its own call, and nothing else.
func TestAnswerOverTheLimitOf64MiB(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("moves hundreds of megabytes")
	}
	for _, o := range []testmcp.Options{{}, {Faults: []string{testmcp.EventAnswers}}} {
		for _, http := range []bool{false, true} {
			if !http && len(o.Faults) > 0 {
				continue // events are of HTTP only
			}
			spec, _ := httpSpec(t, "s", o)
			if !http {
				spec = stdioSpec(t, "s", o)
			}
			w := newWorld(t)
			w.start(spec)
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			waiting := make(chan error, 1)
			go func() { // a call in flight meanwhile
				_, err := w.Call(ctx, ref("s", "slow"), "slow", []byte(`{"ms":20,"steps":20}`), nil)
				waiting <- err
			}()
			_, err := w.Call(ctx, ref("s", "big"), "big", fmt.Appendf(nil, `{"bytes":%d}`, 65<<20), nil)
			require.Equal(t, core.CodeTooLarge, core.CodeOf(err), "%v", err)
			require.NoError(t, <-waiting)
			echoes(t, w, "s")
			res, err := w.Call(ctx, ref("s", "big"), "big2", []byte(`{"bytes":1048576}`), nil)
			require.NoError(t, err)
			assert.Len(t, res.Text(), 1<<20)
			require.Equal(t, core.StateConnected, w.status("s").State)
			cancel()
			if !http {
				require.Len(t, pids(t, spec), 1)
			}
			stop(t, w)
		}
	}
}

// Answers that nobody waits for, any more or ever, must reach no other call.
func TestAnswersThatNobodyWaitsFor(t *testing.T) {
	t.Parallel()
	for _, faults := range [][]string{{testmcp.StrayIDs}, {testmcp.Batch}, {testmcp.Double, testmcp.Batch}, {testmcp.StringID, testmcp.StrayIDs}} {
		t.Run(strings.Join(faults, ","), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			spec := stdioSpec(t, "s", testmcp.Options{Faults: faults})
			w.start(spec)
			require.NotEmpty(t, w.tool("s", "echo").Ref.Digest)
			for range 20 {
				echoes(t, w, "s")
			}
			assert.Len(t, pids(t, spec), 1)
		})
	}
	t.Run("late", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		spec := stdioSpec(t, "s", testmcp.Options{Faults: []string{testmcp.AnswersLate}})
		w.start(spec)
		for i := range 10 {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
			_, err := w.Call(ctx, ref("s", "hang"), fmt.Sprintf("h%d", i), nil, nil)
			cancel()
			require.Equal(t, core.CodeTimeout, core.CodeOf(err))
			echoes(t, w, "s")
		}
		res, err := w.call("s", "cancels", "{}")
		require.NoError(t, err)
		assert.Equal(t, "10", res.Text())
		assert.Len(t, pids(t, spec), 1)
	})
	t.Run("batch over HTTP", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		spec, h := httpSpec(t, "s", testmcp.Options{Faults: []string{testmcp.Batch}})
		w.start(spec)
		for range 3 {
			echoes(t, w, "s")
		}
		assert.Equal(t, 1, h.Count("initialize"), "on one session")
	})
}

// A server that ends its stream of news again and again costs reconnects, but
// must stay of use; the SDK gives such a session up after a while.
func TestStreamThatEndsAgainAndAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spec, h := httpSpec(t, "s", testmcp.Options{Faults: []string{testmcp.GetEnds}})
	w.start(spec)
	asked := 0
	require.True(t, eventually(40*time.Second, func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		asked++
		res, err := w.Call(ctx, ref("s", "echo"), fmt.Sprintf("c%d", asked), json.RawMessage(`{"text":"x"}`), nil)
		if !assert.NoError(t, err) || !assert.Equal(t, "x", res.Text()) {
			return true
		}
		<-time.After(50 * time.Millisecond)
		return h.Count("initialize") > 1
	}), "the session was never given up: %d streams, %d calls", h.Count("GET"), asked)
	w.until("s", core.StateConnected)
	streams := h.Count("GET")
	assert.Contains(t, strings.Join(w.Log("s"), "\n"), "going on without it")
	require.NoError(t, w.Reconnect(context.Background(), "s"))
	require.Eventually(t, func() bool { return h.Count("initialize") == 3 }, 5*time.Second, time.Millisecond)
	w.until("s", core.StateConnected)
	echoes(t, w, "s")
	assert.Equal(t, streams, h.Count("GET"), "it was opened again")
}
