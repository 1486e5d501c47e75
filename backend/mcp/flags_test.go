package mcp

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/internal/testmcp"
)

// A server whose state nobody knows after a sleep must not shine as if it were verified.
func TestWakeShowsThatItVerifies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := testmcp.Handler(testmcp.Options{})
	var slow atomic.Bool
	answer := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if slow.Load() && bytes.Contains(body, []byte(`"tools/list"`)) {
			<-answer
		}
		h.ServeHTTP(rw, r)
	}))
	t.Cleanup(func() {
		h.Close()
		srv.Close()
	})
	st := w.start(core.ServerSpec{Name: "s", Transport: core.TransportHTTP, URL: srv.URL + "/mcp"})
	require.Equal(t, core.FlagNone, st.Flag)
	slow.Store(true)
	w.wake()
	require.Eventually(t, func() bool { return w.status("s").Flag == core.FlagVerifying }, 5*time.Second, time.Millisecond)
	require.Equal(t, core.StateConnected, w.status("s").State)
	close(answer)
	require.Eventually(t, func() bool { return w.status("s").Flag == core.FlagNone }, 5*time.Second, time.Millisecond)
	require.NotEqual(t, st.VerifiedAt, w.status("s").VerifiedAt)
}

// A server goes on with the value it was started with; that must not stay hidden.
func TestSecretChangedIsShownUntilReconnect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) {
		o.Lookup = func(_ context.Context, _, name string) (string, bool) { return "value of " + name, true }
	})
	spec, _ := httpSpec(t, "s", testmcp.Options{})
	spec.Headers = map[string]string{"X-Key": "Bearer ${secret:other/KEY}", "X-Other": `${secret:quo"ted}`}
	w.start(spec)
	w.SecretChanged("KEY")
	w.SecretChanged("other")
	require.Never(t, func() bool { return w.status("s").Flag != core.FlagNone }, 100*time.Millisecond, 5*time.Millisecond, "another secret")
	w.SecretChanged("other/KEY")
	require.Eventually(t, func() bool { return w.status("s").Flag == core.FlagOutdated }, 5*time.Second, time.Millisecond)
	require.NoError(t, w.Refresh(t.Context(), "s"))
	require.Equal(t, core.FlagOutdated, w.status("s").Flag, "a new list is no new connection")
	require.NoError(t, w.Reconnect(t.Context(), "s"))
	require.Eventually(t, func() bool {
		st := w.status("s")
		return st.State == core.StateConnected && st.Flag == core.FlagNone
	}, 5*time.Second, time.Millisecond)
	w.SecretChanged(`quo"ted`)
	require.Eventually(t, func() bool { return w.status("s").Flag == core.FlagOutdated }, 5*time.Second, time.Millisecond)
}

// secretLookup knows these secrets and nothing else.
func secretLookup(values map[string]string) func(context.Context, string, string) (string, bool) {
	return func(_ context.Context, _, name string) (string, bool) {
		v, ok := values[name]
		return v, ok
	}
}
