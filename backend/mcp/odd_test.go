package mcp

import (
	"context"
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/internal/testmcp"
)

// beside runs f with the server of spec next to a healthy one, which must not
// notice anything.
func beside(t *testing.T, spec core.ServerSpec, f func(t *testing.T, w *world)) {
	t.Helper()
	w := newWorld(t)
	healthy := stdioSpec(t, "healthy", testmcp.Options{})
	w.Apply([]core.ServerSpec{healthy, spec})
	w.until("healthy", core.StateConnected)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ctx.Err() == nil; i++ {
			text := fmt.Sprint("healthy ", i)
			res, err := w.Call(context.Background(), ref("healthy", "echo"), text, fmt.Appendf(nil, `{"text":%q}`, text), nil)
			if !assert.NoError(t, err) || !assert.Equal(t, text, res.Text()) {
				return
			}
			pause(ctx, 5*time.Millisecond)
		}
	}()
	defer func() {
		cancel()
		<-done
		assert.Len(t, pids(t, healthy), 1, "it was never started again")
	}()
	f(t, w)
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// Whatever one answer looks like, its call ends with something that can be
// understood, and the connection stays.
func TestOddAnswers(t *testing.T) {
	t.Parallel()
	// The text of the result, or else the error, that each must lead to.
	broken := map[string]string{
		"number result": "not an object", "list result": "not an object", "text result": "not an object",
		"no outcome": "neither", "bare error": "did not describe", "text error": "it broke", "error with code": "it broke", "deep": "not valid JSON",
		"withdrawn": "canceled the call of odd by itself: maintenance. Whether the tool finished is unknown.",
	}
	empty := map[string]bool{"content null": true, "null result": true}
	overStdio := []string{"two on a line", "text before", "text after", "nul bytes"} // a body over HTTP is one message
	for _, http := range []bool{false, true} {
		for _, faults := range [][]string{nil, {testmcp.Modern}} {
			t.Run(fmt.Sprintf("http=%v,%v", http, faults), func(t *testing.T) {
				t.Parallel()
				o := testmcp.Options{Faults: faults}
				spec, h := httpSpec(t, "s", o)
				if !http {
					spec = stdioSpec(t, "s", o)
				}
				beside(t, spec, func(t *testing.T, w *world) {
					w.until("s", core.StateConnected)
					before := h.Count("initialize")
					for _, name := range slices.Sorted(maps.Keys(testmcp.OddAnswers())) {
						if http && slices.Contains(overStdio, name) {
							continue
						}
						began := time.Now()
						res, err := w.call("s", "odd", fmt.Sprintf(`{"text":%q}`, name))
						want, bad := broken[name]
						switch {
						case bad:
							if assert.Error(t, err, "%s: %s", name, res.Text()) {
								assert.Equal(t, core.CodeUnavailable, core.CodeOf(err), name)
								assert.Contains(t, err.Error(), want, name)
							}
						case empty[name]:
							assert.NoError(t, err, name)
						default:
							if assert.NoError(t, err, name) {
								assert.Contains(t, res.Text(), "kept", name)
							}
						}
						assert.Less(t, time.Since(began), 5*time.Second, "%s held the call up", name)
						echoes(t, w, "s")
						if n := h.Count("initialize"); n != before {
							assert.Fail(t, "it cost the session", name)
						}
						before = h.Count("initialize")
					}
					assert.Equal(t, core.StateConnected, w.status("s").State)
					if http {
						assert.LessOrEqual(t, h.Count("initialize"), 1, "on one session")
					} else {
						assert.Len(t, pids(t, spec), 1, "it was never started again")
					}
				})
			})
		}
	}
}

// Servers whose whole way of speaking is odd, but can be understood.
func TestOddServersThatWork(t *testing.T) {
	t.Parallel()
	over := func(http bool, faults ...string) func(t *testing.T) {
		return func(t *testing.T) {
			t.Parallel()
			spec, _ := httpSpec(t, "s", testmcp.Options{Faults: faults})
			if !http {
				spec = stdioSpec(t, "s", testmcp.Options{Faults: faults})
			}
			beside(t, spec, func(t *testing.T, w *world) {
				st := w.until("s", core.StateConnected)
				assert.NotZero(t, st.ToolCount)
				for range 20 {
					echoes(t, w, "s")
					if slices.Contains(faults, testmcp.ClosesIdle) {
						pause(context.Background(), 50*time.Millisecond) // as people do; a request may cross the end of its connection
					}
				}
				var chunks []core.Chunk
				_, err := w.Call(context.Background(), ref("s", "slow"), "slow", []byte(`{"ms":5,"steps":3}`), func(c core.Chunk) { chunks = append(chunks, c) })
				require.NoError(t, err)
				assert.GreaterOrEqual(t, len(chunks), 3)
				assert.Equal(t, core.StateConnected, w.status("s").State)
				if !http {
					assert.Len(t, pids(t, spec), 1, "it was never started again")
				}
				require.NoError(t, w.Disconnect(context.Background(), "s"))
				w.until("s", core.StateOff)
			})
		}
	}
	for _, fault := range []string{testmcp.Bytewise, testmcp.CRLF, testmcp.FloatIDs, testmcp.ErrorNull, testmcp.HugeText, testmcp.Storm,
		testmcp.Pretty, testmcp.Echoes, testmcp.NumberCursor} {
		t.Run("stdio "+fault, over(false, fault))
		t.Run("stdio modern "+fault, over(false, fault, testmcp.Modern))
	}
	for _, fault := range []string{testmcp.Bytewise, testmcp.FloatIDs, testmcp.ErrorNull, testmcp.HugeText, testmcp.Charset, testmcp.Gzip, testmcp.NewSession, testmcp.EventsOdd, testmcp.NumberCursor, testmcp.JSONType, testmcp.BOM, testmcp.EventsUnended, testmcp.EventsTyped,
		testmcp.BatchHello, testmcp.Sticky, testmcp.EventsCR, testmcp.ClosesIdle, testmcp.DeleteHangs} {
		also := testmcp.EventAnswers
		t.Run("http "+fault, over(true, fault))
		if fault != testmcp.FloatIDs { // the probe takes such an answer for that of another
			t.Run("http modern "+fault, over(true, fault, testmcp.Modern))
		}
		if fault != testmcp.ClosesIdle { // events tell when they end
			t.Run("http events "+fault, over(true, fault, also))
		}
	}
}

// A list of 50 MB is read or refused, in bounded time, and the server is of use.
func TestHugeList(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("moves hundreds of megabytes")
	}
	for _, http := range []bool{false, true} {
		o := testmcp.Options{Faults: []string{testmcp.HugeList}}
		spec, _ := httpSpec(t, "s", o)
		if !http {
			spec = stdioSpec(t, "s", o)
		}
		beside(t, spec, func(t *testing.T, w *world) {
			w.until("s", core.StateConnected)
			echoes(t, w, "s")
		})
	}
}

// A server that closes one of its streams and lives on is of no use any more:
// it is started again, and no call waits for ever.
func TestStreamsThatAreClosed(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{testmcp.ClosesIn, testmcp.ClosesOut} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			spec := stdioSpec(t, "s", testmcp.Options{Faults: []string{fault}})
			beside(t, spec, func(t *testing.T, w *world) {
				require.True(t, eventually(10*time.Second, func() bool { return len(pids(t, spec)) > 0 && w.status("s").ToolCount > 0 }))
				began := time.Now()
				for range 3 {
					_, err := w.call("s", "echo", `{"text":"x"}`)
					require.Error(t, err)
					assert.Equal(t, core.CodeUnavailable, core.CodeOf(err), "%v", err)
				}
				assert.Less(t, time.Since(began), 9*time.Second)
				require.True(t, eventually(10*time.Second, func() bool { return len(pids(t, spec)) > 1 }), "it was not started again")
				w.Apply([]core.ServerSpec{w.fleet.Load().named["healthy"].spec})
				requireGone(t, spec, 2)
			})
		})
	}
}

// What cannot be understood leads to a state that says so.
func TestOddServersThatFail(t *testing.T) {
	t.Parallel()
	loop, _ := httpSpec(t, "s", testmcp.Options{Faults: []string{testmcp.RedirectsLoop}})
	tls := httptest.NewTLSServer(testmcp.Handler(testmcp.Options{}))
	tls.Config.ErrorLog = nil
	t.Cleanup(tls.Close)
	plain, _ := httpSpec(t, "s", testmcp.Options{Faults: []string{testmcp.PlainText}})
	hello, _ := httpSpec(t, "s", testmcp.Options{Faults: []string{testmcp.OddHello}})
	foreign, _ := httpSpec(t, "s", testmcp.Options{Faults: []string{testmcp.LegacySSE}, Target: "http://localhost:1"})
	page, _ := httpSpec(t, "s", testmcp.Options{Faults: []string{testmcp.Page}})
	version, _ := httpSpec(t, "s", testmcp.Options{Faults: []string{testmcp.OddVersion}})
	rows := map[string]struct {
		spec core.ServerSpec
		want string
	}{
		"text in place of JSON":           {plain, "text/plain"},
		"redirects that never end":        {loop, "redirect"},
		"a certificate that nobody knows": {core.ServerSpec{Name: "s", Transport: core.TransportHTTP, URL: tls.URL + "/mcp"}, "certificate"},
		"a revision that never was":       {stdioSpec(t, "s", testmcp.Options{Faults: []string{testmcp.OddVersion}}), "1999-01-01"},
		"the same over HTTP":              {version, "1999-01-01"},
		"no line feeds":                   {stdioSpec(t, "s", testmcp.Options{Faults: []string{testmcp.NoLineEnd}}), "does not end its messages with a line feed"},
		"the frames of language servers":  {stdioSpec(t, "s", testmcp.Options{Faults: []string{testmcp.LengthFirst}}), "puts Content-Length before its messages"},
		"an echo and nothing else":        {stdioSpec(t, "s", testmcp.Options{Faults: []string{testmcp.Echoes, testmcp.Mute}}), "prints what it is sent"},
		"nothing but text":                {core.ServerSpec{Name: "s", Transport: core.TransportStdio, Command: "sh", Args: []string{"-c", "echo Welcome; cat >/dev/null"}}, `It printed "Welcome", which is no message of MCP.`},
		"nothing but zeros":               {core.ServerSpec{Name: "s", Transport: core.TransportStdio, Command: "sh", Args: []string{"-c", "head -c 100000 /dev/zero; echo; cat >/dev/null"}}, "It printed something that is no text."},
		"a text as serverInfo":            {stdioSpec(t, "s", testmcp.Options{Faults: []string{testmcp.OddHello}}), "s answered the handshake with a value of serverInfo that MCP does not know."},
		"a text as serverInfo over HTTP":  {hello, "s answered the handshake with a value of serverInfo that MCP does not know."},
		"an endpoint of another origin":   {core.ServerSpec{Name: "s", Transport: core.TransportSSE, URL: foreign.URL}, "names an endpoint of another origin, http://localhost:1,"},
		"a web page":                      {page, "it answered with a web page instead of JSON"},
		"no TLS":                          {core.ServerSpec{Name: "s", Transport: core.TransportHTTP, URL: strings.Replace(page.URL, "http:", "https:", 1)}, "it does not speak TLS. Perhaps its address begins with http://"},
		"an early end":                    {core.ServerSpec{Name: "s", Transport: core.TransportStdio, Command: "sh", Args: []string{"-c", "exit 3"}}, "s exited with code 3 before it answered. Check its command and arguments; its log shows what it printed."},
		"UTF-16":                          {stdioSpec(t, "s", testmcp.Options{Faults: []string{testmcp.UTF16}}), "prints UTF-16"},
		"UTF-16 with a byte order mark":   {stdioSpec(t, "s", testmcp.Options{Faults: []string{testmcp.UTF16BOM}}), "prints UTF-16"},
	}
	for _, status := range []int{301, 302, 303} {
		target, _ := httpSpec(t, "target", testmcp.Options{})
		spec, _ := httpSpec(t, "s", testmcp.Options{Faults: []string{testmcp.Redirects}, Target: target.URL, RedirectStatus: status})
		rows[fmt.Sprint("a redirect with ", status)] = struct {
			spec core.ServerSpec
			want string
		}{spec, "redirects to " + target.URL + " (HTTP " + fmt.Sprint(status) + "), where messages would not arrive. If that is the new address of s, set its URL to it."}
	}
	for fault, want := range map[string]string{
		testmcp.GzipSilent: "its answer is compressed with gzip but does not say so", testmcp.Deflate: "its answer is compressed with deflate but does not say so",
		testmcp.Packed: `its answer is compressed with "deflate", which nobody asked for`, testmcp.UTF16: "its answer is UTF-16, where MCP wants UTF-8",
		testmcp.TextEvent: `its answer is not a message of JSON-RPC but begins with "hello there"`,
	} {
		faults := []string{fault}
		if fault == testmcp.TextEvent {
			faults = append(faults, testmcp.EventAnswers)
		}
		spec, _ := httpSpec(t, "s", testmcp.Options{Faults: faults})
		rows["the wire: "+fault] = struct {
			spec core.ServerSpec
			want string
		}{spec, want}
	}
	for fault, want := range map[string]string{
		testmcp.NoEndpoint: "does not say where to send messages (no event named endpoint)", testmcp.JSONEndpoint: "does not speak MCP over HTTP with SSE: it names no usable address to send messages to",
		testmcp.InBody: "perhaps it is one for streamable-http. Check its URL and its transport.",
	} {
		spec, _ := httpSpec(t, "s", testmcp.Options{Faults: []string{testmcp.LegacySSE, fault}})
		spec.Transport = core.TransportSSE
		rows["HTTP with SSE: "+fault] = struct {
			spec core.ServerSpec
			want string
		}{spec, want}
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			beside(t, row.spec, func(t *testing.T, w *world) {
				st := w.until("s", core.StateFailed)
				t.Log(st.Message)
				assert.Contains(t, st.Message, row.want)
				_, err := w.call("s", "echo", `{}`)
				assert.Equal(t, core.CodeUnavailable, core.CodeOf(err), "%v", err)
			})
		})
	}
}

// A list that cannot be read leaves the server connected, and says why in words.
func TestListsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string]string{testmcp.ToolsObject: "its answer has no array named tools", testmcp.ListFails: "it answered HTTP 500 (Internal Server Error).", testmcp.ListHangs: "it did not answer within"} {
		for _, http := range []bool{false, true} {
			if fault == testmcp.ListFails && !http {
				continue
			}
			for _, era := range []string{"", testmcp.Modern} {
				t.Run(strings.TrimSpace(fmt.Sprint(fault, " http=", http, " ", era)), func(t *testing.T) {
					t.Parallel()
					spec, _ := httpSpec(t, "s", testmcp.Options{Faults: []string{fault, era}})
					if !http {
						spec = stdioSpec(t, "s", testmcp.Options{Faults: []string{fault, era}})
					}
					w := newWorld(t, func(o *Options) { o.Limits.ListPage = time.Second })
					st := w.start(spec)
					assert.Contains(t, st.Message, "Connected, but its tools cannot be listed: ")
					assert.Contains(t, st.Message, want)
					rep := w.Test(context.Background(), spec, nil)
					assert.Contains(t, rep.Message, "s connected, but its tools cannot be listed: ")
					assert.Contains(t, rep.Message, want)
				})
			}
		}
	}
}

// Answers over HTTP of which nothing can be made cost their own call only.
func TestHTTPAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	cut := []string{testmcp.CutLength, testmcp.CutChunks, testmcp.DiesAtBody}
	for fault, code := range map[string]core.Code{
		testmcp.EmptyBody: core.CodeUnavailable, testmcp.NoContent: core.CodeUnavailable, testmcp.GzipBomb: core.CodeTooLarge, testmcp.DiesAtBody: core.CodeUnavailable,
		testmcp.CutLength: core.CodeUnavailable, testmcp.CutChunks: core.CodeUnavailable, testmcp.StallsAtBody: core.CodeTimeout, testmcp.HugeHeader: core.CodeUnavailable,
	} {
		for _, era := range []string{"", testmcp.Modern, testmcp.EventAnswers, testmcp.EventAnswers + " " + testmcp.Modern} {
			t.Run(strings.TrimSpace(fault+" "+era), func(t *testing.T) {
				t.Parallel()
				spec, h := httpSpec(t, "s", testmcp.Options{Faults: append(strings.Fields(era), fault)})
				beside(t, spec, func(t *testing.T, w *world) {
					w.until("s", core.StateConnected)
					lists := h.Count("tools/list")
					calls := 3
					if code == core.CodeTimeout {
						calls = 1 // its end may cost the session
					}
					if fault == testmcp.DiesAtBody {
						calls = crashes + 1
					}
					for range calls {
						patience := 30 * time.Second
						if code == core.CodeTimeout {
							patience = 300 * time.Millisecond
						}
						ctx, cancel := context.WithTimeout(context.Background(), patience)
						_, err := w.Call(ctx, ref("s", "echo"), "c", []byte(`{"text":"x"}`), nil)
						cancel()
						require.Error(t, err)
						assert.Equal(t, code, core.CodeOf(err), "%v", err)
						if slices.Contains(cut, fault) {
							assert.ErrorContains(t, err, "ended before it was whole")
							assert.ErrorContains(t, err, "Whether the tool finished is unknown.")
						}
					}
					assert.NotEqual(t, core.StateCrashLoop, w.status("s").State, "a host is asked again by itself")
					_ = w.Reconnect(context.Background(), "s") // some of them cost the session
					require.True(t, eventually(5*time.Second, func() bool { return w.Refresh(context.Background(), "s") == nil }), "other requests work as before")
					assert.Greater(t, h.Count("tools/list"), lists)
				})
			})
		}
	}
}
