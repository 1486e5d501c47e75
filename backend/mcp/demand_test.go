package mcp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/internal/testmcp"
)

func TestOnDemandStartsWithACallAndStopsWhenIdle(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWorld(t, caching(dir))
	spec := stdioSpec(t, "s", testmcp.Options{})
	spec.Start, spec.IdleStopMS = core.StartOnDemand, 150
	w.start(spec) // it was never seen, so it runs once to tell its tools
	n := len(w.Tools("s"))
	require.NotZero(t, n)
	st := w.until("s", core.StateOnDemand)
	assert.Equal(t, fmt.Sprintf("Ready, starts when used, %d tools (cached just now).", n), st.Message)
	assert.True(t, st.State.Settled())
	assert.Len(t, w.Tools("s"), n, "the tools stay listed")
	requireGone(t, spec, 1)

	echoes(t, w, "s")
	require.Len(t, pids(t, spec), 2)
	w.until("s", core.StateOnDemand)

	// A call that is longer than the time without calls must not lose its server.
	res, err := w.call("s", "slow", `{"ms":100,"steps":6}`)
	require.NoError(t, err)
	assert.Equal(t, "done", res.Text())
	require.Len(t, pids(t, spec), 3, "one process for the whole call")
	w.until("s", core.StateOnDemand)
	require.NoError(t, w.Refresh(context.Background(), "s"))
	require.Len(t, pids(t, spec), 4)
	w.until("s", core.StateOnDemand)
	require.NoError(t, w.Disconnect(context.Background(), "s"))
	w.until("s", core.StateOff)
	_, err = w.call("s", "echo", "{}")
	require.ErrorContains(t, err, "is off")
	stop(t, w)

	// The next run does not start it at all.
	w = newWorld(t, caching(dir))
	w.Apply([]core.ServerSpec{spec})
	w.until("s", core.StateOnDemand)
	assert.Len(t, w.Tools("s"), n)
	require.Len(t, pids(t, spec), 4)
	require.NoError(t, w.Reconnect(context.Background(), "s"))
	w.until("s", core.StateConnected)
	w.until("s", core.StateOnDemand)
}

// A server that starts on demand and was down must be of use again with a later
// call, without a person.
func TestOnDemandIsTriedAgainAfterAFailure(t *testing.T) {
	t.Parallel()
	link := filepath.Join(t.TempDir(), "server")
	spec := stdioSpec(t, "s", testmcp.Options{})
	real := spec.Command
	spec.Command, spec.Start, spec.IdleStopMS = link, core.StartOnDemand, 100
	w := newWorld(t)
	w.Apply([]core.ServerSpec{spec})
	st := w.until("s", core.StateOnDemand)
	assert.Equal(t, "Starts when used. The last start failed.", st.Message)
	assert.Contains(t, st.Detail, "Command not found")
	_, err := w.call("s", "echo", "{}")
	require.Equal(t, core.CodeUnavailable, core.CodeOf(err))
	require.ErrorContains(t, err, "Command not found")
	require.NoError(t, os.Symlink(real, link))
	w.until("s", core.StateOnDemand)
	echoes(t, w, "s")

	// The same over HTTP, where a failure is tried again by itself, but not for ever.
	web := core.ServerSpec{Name: "w", Transport: core.TransportHTTP, URL: "http://127.0.0.1:1/mcp", Start: core.StartOnDemand, IdleStopMS: 100}
	w.Apply([]core.ServerSpec{web})
	w.until("w", core.StateOnDemand)
}

// Calls that come just when the server stops for want of calls must all be answered.
func TestOnDemandLosesNoCallAtItsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spec := stdioSpec(t, "s", testmcp.Options{})
	spec.Start, spec.IdleStopMS = core.StartOnDemand, 20
	w.start(spec)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 15 {
				res, err := w.Call(context.Background(), ref("s", "echo"), fmt.Sprintf("c%d-%d", i, n), []byte(`{"text":"x"}`), nil)
				if assert.NoError(t, err) {
					assert.Equal(t, "x", res.Text())
				}
				<-time.After(time.Duration(15+7*i) * time.Millisecond)
			}
		})
	}
	wg.Wait()
}

func TestManualStartsWhenAPersonConnects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spec := stdioSpec(t, "s", testmcp.Options{})
	spec.Start = core.StartManual
	w.Apply([]core.ServerSpec{spec})
	w.until("s", core.StateOff)
	_, err := w.call("s", "echo", "{}")
	require.ErrorContains(t, err, "is off. Turn it on.")
	require.Empty(t, pids(t, spec))
	require.NoError(t, w.Reconnect(context.Background(), "s"))
	w.until("s", core.StateConnected)
	echoes(t, w, "s")
	changed := spec
	changed.Args = []string{"x"}
	w.Apply([]core.ServerSpec{changed})
	require.Eventually(t, func() bool { return len(pids(t, spec)) == 2 }, 5*time.Second, time.Millisecond, "an edit does not turn it off")
	w.until("s", core.StateConnected)
	require.NoError(t, w.Disconnect(context.Background(), "s"))
	w.until("s", core.StateOff)
}
