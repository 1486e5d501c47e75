package mcp

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/internal/testmcp"
)

// A busy server is asked again only where nothing can have run twice.
func TestBusyServerIsAskedAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, tool, after string
		status, busy      int
		calls             int // that arrive at the server
		text              string
	}{
		{"too many requests", "add", "1", 429, 1, 2, ""},
		{"unavailable, read-only tool", "echo", "1", 503, 1, 2, ""},
		{"unavailable without a hint how long", "echo", "", 503, 1, 2, ""},
		{"unavailable, a tool that may have run", "add", "1", 503, 1, 1, "The server s is too busy to run add (HTTP 503). It asks to be left alone for 1 s."},
		{"asks for too much", "echo", "3600", 429, 1, 1, "It asks to be left alone for 3600 s."},
		{"a date", "echo", http.TimeFormat, 429, 1, 2, ""},
		{"trouble", "echo", "1", 500, 1, 1, "HTTP 500"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if c.after == http.TimeFormat {
				c.after = time.Now().Add(2 * time.Second).UTC().Format(http.TimeFormat)
			}
			spec, h := httpSpec(t, "s", testmcp.Options{Busy: c.busy, BusyStatus: c.status, RetryAfter: c.after})
			w.start(spec)
			var mu sync.Mutex
			var chunks []core.Chunk
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			_, err := w.Call(ctx, ref("s", c.tool), "c", []byte(`{"a":1,"b":2}`), func(ch core.Chunk) {
				mu.Lock()
				defer mu.Unlock()
				chunks = append(chunks, ch)
			})
			require.Equal(t, c.calls, h.Count("tools/call"))
			if c.text == "" && c.status != 500 {
				require.NoError(t, err)
				require.NotEmpty(t, chunks, "nobody was told of the waiting")
				assert.Equal(t, core.ChunkStatus, chunks[0].Kind)
				assert.True(t, strings.HasPrefix(chunks[0].Message, "s is busy (HTTP"), chunks[0].Message)
				return
			}
			require.Equal(t, core.CodeUnavailable, core.CodeOf(err))
			require.ErrorContains(t, err, c.text)
			echoes(t, w, "s")
		})
	}
}

func TestBusyServerIsNotAskedForEver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spec, h := httpSpec(t, "s", testmcp.Options{Busy: 100, BusyStatus: 429, RetryAfter: "1"})
	w.start(spec)
	_, err := w.call("s", "echo", "{}")
	require.Equal(t, core.CodeUnavailable, core.CodeOf(err))
	require.Equal(t, 1+busyTries, h.Count("tools/call"))

	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	told := make(chan struct{}, 10)
	go func() {
		_, err := w.Call(ctx, ref("s", "echo"), "c2", nil, func(core.Chunk) { told <- struct{}{} })
		done <- err
	}()
	<-told
	cancel()
	require.Equal(t, core.CodeCanceled, core.CodeOf(<-done))
}

// A lost connection repeats what does no harm, once, and nothing else.
func TestCallIsMadeAgainWhereItDoesNoHarm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lives := filepath.Join(t.TempDir(), "lives")
	spec := stdioSpec(t, "s", testmcp.Options{Faults: []string{testmcp.DiesOnce}, LivesFile: lives})
	w.start(spec)
	echoes(t, w, "s") // the first process ends in the middle of it
	require.Len(t, pids(t, spec), 2)
	require.NoError(t, os.Remove(lives))
	require.NoError(t, w.Reconnect(context.Background(), "s"))
	require.Eventually(t, func() bool { return len(pids(t, spec)) == 3 }, 5*time.Second, time.Millisecond)
	w.until("s", core.StateConnected)
	_, err := w.call("s", "add", `{"a":1,"b":2}`)
	require.ErrorContains(t, err, "Whether the tool finished is unknown.")
	echoes(t, w, "s")
}

// The list of before told the wrong headers: it is read again, once.
func TestHeaderMismatchReadsTheListAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spec, h := httpSpec(t, "s", testmcp.Options{Faults: []string{testmcp.Modern, testmcp.Mismatch}})
	w.start(spec)
	echoes(t, w, "s")
	assert.Equal(t, 2, h.Count("tools/list"))
	assert.Equal(t, 2, h.Count("tools/call"))
	res, err := w.call("s", "rpc_error", `{"code":-32020,"text":"still"}`)
	require.ErrorContains(t, err, "still", "%v", res)
	assert.Equal(t, 3, h.Count("tools/list"), "once for each call")
}

// A server that is started anew has not run a call that could not reach it: it is
// made again, whatever the tool does, once the server is back.
func TestCallWaitsForAServerThatIsStartedAnew(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"", testmcp.Modern, testmcp.EventAnswers} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			o := testmcp.Options{Faults: []string{fault}}
			h := testmcp.Handler(o)
			srv := httptest.NewServer(h)
			srv.Config.SetKeepAlivesEnabled(false) // lest the call goes out on a connection that is being closed
			addr := srv.Listener.Addr().String()
			w.start(core.ServerSpec{Name: "s", Transport: core.TransportHTTP, URL: srv.URL + "/mcp"})
			h.Close()
			srv.Close()
			again := testmcp.Handler(o)
			srv = httptest.NewUnstartedServer(again)
			defer srv.Close()
			defer again.Close()
			require.NoError(t, srv.Listener.Close())
			told := make(chan string, 100)
			done := make(chan error, 1)
			go func() {
				_, err := w.Call(context.Background(), ref("s", "add"), "c", []byte(`{"a":1,"b":2}`), func(c core.Chunk) { told <- c.Message })
				done <- err
			}()
			select {
			case text := <-told:
				assert.Contains(t, []string{"s cannot be reached. Trying again.", "Waiting for s to start…"}, text) // a stream that ended told it before
			case err := <-done:
				require.Fail(t, "it was not made again", "%v", err)
			}
			w.until("s", core.StateFailed) // one more attempt was in vain
			require.NoError(t, listenAgain(srv, addr))
			require.NoError(t, <-done)
			assert.Equal(t, 1, again.Count("tools/call"))
		})
	}
}

// One that does not come back is not waited for without an end.
func TestCallDoesNotWaitForEverForAServerThatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := testmcp.Handler(testmcp.Options{})
	srv := httptest.NewServer(h)
	srv.Config.SetKeepAlivesEnabled(false)
	w.start(core.ServerSpec{Name: "s", Transport: core.TransportHTTP, URL: srv.URL + "/mcp"})
	h.Close()
	srv.Close()
	_, err := w.Call(context.Background(), ref("s", "add"), "c", []byte(`{"a":1,"b":2}`), nil)
	require.Equal(t, core.CodeUnavailable, core.CodeOf(err))
	require.ErrorContains(t, err, "nothing listens at this address")
}

// A server that speaks other revisions from one call to the next is asked anew
// which, and gets the call once more, whatever the tool does.
func TestServerThatChangesItsRevision(t *testing.T) {
	t.Parallel()
	for _, http := range []bool{false, true} {
		for _, era := range []string{"", testmcp.Modern} {
			t.Run(strings.TrimSpace(fmt.Sprint("http=", http, " ", era)), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, func(o *Options) { o.CacheDir = t.TempDir() })
				o := testmcp.Options{Faults: []string{testmcp.ChangesEra, era}}
				spec, h := httpSpec(t, "s", o)
				if !http {
					spec = stdioSpec(t, "s", o)
				}
				before := w.start(spec).ProtocolVersion
				for i := range 3 {
					res, err := w.call("s", "add", fmt.Sprintf(`{"a":%d,"b":1}`, i))
					require.NoError(t, err)
					assert.Equal(t, strconv.Itoa(i+1), res.Text())
				}
				if http {
					assert.Equal(t, 4, h.Count("tools/call"))
					assert.NotEqual(t, before, w.until("s", core.StateConnected).ProtocolVersion)
				} else { // the next process is as the first one was
					assert.GreaterOrEqual(t, len(pids(t, spec)), 2)
				}
				_, err := w.call("s", "rpc_error", `{"code":-32022,"text":"still unsupported"}`)
				require.ErrorContains(t, err, "still unsupported", "it is asked anew once")
			})
		}
	}
}
