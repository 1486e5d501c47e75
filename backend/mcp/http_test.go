package mcp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/internal/testmcp"
)

// A server that works must connect and answer, whatever its endpoint does beside.
func TestHTTPFaultsThatMustNotMatter(t *testing.T) {
	t.Parallel()
	for _, faults := range []string{"", testmcp.Discover202, testmcp.DiscoverHTML, testmcp.DiscoverJSON, testmcp.DiscoverNull, testmcp.Discover500, testmcp.DiscoverHangs,
		testmcp.GetHangs, testmcp.Get500, testmcp.Get500Stream, testmcp.Get404, testmcp.GetStream, testmcp.NotifyRefused, testmcp.EventAnswers, testmcp.BadTool,
		testmcp.Modern, testmcp.Modern + "," + testmcp.BadTool, testmcp.Modern + "," + testmcp.EventAnswers, testmcp.LoseSession, testmcp.LoseSession4} {
		t.Run("faults="+faults, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			spec, _ := httpSpec(t, "s", testmcp.Options{Faults: strings.Split(faults, ",")})
			st := w.start(spec)
			assert.NotZero(t, st.ToolCount)
			echoes(t, w, "s")
			echoes(t, w, "s")
			res, err := w.call("s", "bigint", `{}`)
			require.NoError(t, err)
			assert.JSONEq(t, `{"n":9007199254740993}`, string(res.StructuredContent))
			assert.Contains(t, string(res.StructuredContent), "9007199254740993")
		})
	}
}

func TestHTTPStates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault, message string
		state          core.ServerState
		fix            core.Fix
		retries        bool
	}{
		{testmcp.Unauthorized, "s wants you to sign in (HTTP 401)", core.StateNeedsSignIn, core.FixSignIn, false},
		{testmcp.Forbidden, "s wants you to sign in (HTTP 403)", core.StateNeedsSignIn, core.FixSignIn, false},
		{testmcp.NotFound, "answered HTTP 404 (Not Found) instead of speaking MCP", core.StateFailed, core.FixEdit, true},
		{testmcp.ListHangs, "Connected, but its tools cannot be listed", core.StateConnected, core.FixReconnect, false},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *Options) { o.Limits.ListPage = 300 * time.Millisecond })
			spec, _ := httpSpec(t, "s", testmcp.Options{Faults: []string{c.fault}})
			w.Apply([]core.ServerSpec{spec})
			st := w.until("s", c.state)
			assert.Contains(t, st.Message, c.message)
			assert.Equal(t, c.fix, st.Fix)
			assert.Equal(t, c.retries, st.RetryAt != "")
		})
	}
}

func TestHTTPServerThatIsNotThereYet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := testmcp.Handler(testmcp.Options{})
	srv := httptest.NewUnstartedServer(h)
	defer srv.Close()
	defer h.Close()
	addr := srv.Listener.Addr().String()
	l := srv.Listener
	require.NoError(t, l.Close())
	w.Apply([]core.ServerSpec{{Name: "s", Transport: core.TransportHTTP, URL: "http://" + addr}})
	st := w.until("s", core.StateFailed)
	assert.Contains(t, st.Message, "nothing listens at this address")
	assert.NotEmpty(t, st.RetryAt)
	require.NoError(t, listenAgain(srv, addr))
	w.until("s", core.StateConnected)
	echoes(t, w, "s")
}

func TestHTTPHeadersStayWithTheirHost(t *testing.T) {
	t.Parallel()
	var leaked atomic.Value
	h := testmcp.Handler(testmcp.Options{})
	other := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		leaked.Store(r.Header.Clone())
		h.ServeHTTP(rw, r)
	}))
	defer other.Close()
	defer h.Close()
	w := newWorld(t)
	spec, _ := httpSpec(t, "s", testmcp.Options{Faults: []string{testmcp.Redirects}, Token: "Bearer abc", Target: other.URL})
	spec.Headers = map[string]string{"authorization": "Bearer abc", "X-Api-Key": "k"}
	w.Apply([]core.ServerSpec{spec})
	require.Eventually(t, func() bool { return leaked.Load() != nil }, 5*time.Second, time.Millisecond)
	head := leaked.Load().(http.Header)
	assert.Empty(t, head.Get("X-Api-Key"))
	assert.Empty(t, head.Get("Authorization"))

	good, _ := httpSpec(t, "good", testmcp.Options{Token: "Bearer abc"})
	good.Headers = map[string]string{"Authorization": "Bearer abc"}
	w.start(good)
	echoes(t, w, "good")
	good.Headers = map[string]string{"Authorization": "Bearer wrong"}
	w.Apply([]core.ServerSpec{good})
	assert.Contains(t, w.until("good", core.StateNeedsSignIn).Message, "refused the credentials")
}

func TestLegacySSE(t *testing.T) {
	t.Parallel()
	for _, transport := range []core.Transport{core.TransportSSE, core.TransportHTTP} {
		t.Run(string(transport), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			spec, h := httpSpec(t, "s", testmcp.Options{Faults: []string{testmcp.LegacySSE}})
			spec.Transport = transport
			w.start(spec)
			echoes(t, w, "s")
			var got []core.Chunk
			_, err := w.Call(context.Background(), ref("s", "slow"), "p1", []byte(`{"ms":20,"steps":3}`), func(c core.Chunk) { got = append(got, c) })
			require.NoError(t, err)
			assert.NotEmpty(t, got)
			assert.Zero(t, h.Count("server/discover"), "a probe would break such a server")
		})
	}
}

// When the stream of changes ends, nobody would hear of a changed list: the
// link must be made anew.
func TestListenStreamEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spec, h := httpSpec(t, "s", testmcp.Options{Faults: []string{testmcp.Modern, testmcp.ListenEnds}})
	w.Apply([]core.ServerSpec{spec})
	require.Eventually(t, func() bool { return h.Count("subscriptions/listen") >= 2 }, 5*time.Second, time.Millisecond)
}

func TestListenNeverAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spec, _ := httpSpec(t, "s", testmcp.Options{Faults: []string{testmcp.Modern, testmcp.ListenHangs}})
	began := time.Now()
	w.Apply([]core.ServerSpec{spec})
	require.True(t, eventually(4*time.Second, func() bool {
		return w.status("s").State != core.StateStarting && w.status("s").State != core.StateNegotiating
	}))
	t.Logf("%s after %s: %s", w.status("s").State, time.Since(began), w.status("s").Message)
}

func TestHTTPCallFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault string
		code  core.Code
		text  string
	}{
		{testmcp.CallDenied, core.CodeNeedsAuth, "HTTP 401"},
		{testmcp.BrokenJSON, core.CodeUnavailable, "not valid JSON"},
		{testmcp.CutCall, core.CodeUnavailable, ""},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			spec, _ := httpSpec(t, "s", testmcp.Options{Faults: []string{c.fault}})
			w.start(spec)
			_, err := w.call("s", "echo", `{"text":"a"}`)
			require.Equal(t, c.code, core.CodeOf(err), "%v", err)
			require.ErrorContains(t, err, c.text)
			require.ErrorContains(t, err, "echo")
			if c.fault == testmcp.CallDenied {
				w.until("s", core.StateNeedsSignIn)
				assert.NotEmpty(t, w.Tools("s"), "the tools stay known")
			}
		})
	}
}

// A server that was restarted no longer knows the session. The call was not
// carried out, so it is made again.
func TestHTTPSessionIsMadeAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spec, h := httpSpec(t, "s", testmcp.Options{})
	w.start(spec)
	echoes(t, w, "s")
	h.Forget()
	echoes(t, w, "s")
	assert.Equal(t, 2, h.Count("initialize"))
}

func TestHTTPServerVanishes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := testmcp.Handler(testmcp.Options{})
	srv := httptest.NewServer(h)
	w.start(core.ServerSpec{Name: "s", Transport: core.TransportHTTP, URL: srv.URL})
	h.Close()
	srv.Close()
	_, err := w.call("s", "echo", `{}`)
	require.Equal(t, core.CodeUnavailable, core.CodeOf(err))
	assert.Contains(t, err.Error(), "cannot be reached")
	st := w.until("s", core.StateFailed)
	assert.NotEmpty(t, st.RetryAt)
	assert.NotEmpty(t, w.Tools("s"), "the tools stay known")
}

func TestBigHTTPResults(t *testing.T) {
	t.Parallel()
	for _, faults := range [][]string{nil, {testmcp.EventAnswers}} {
		w := newWorld(t, func(o *Options) { o.Limits.MaxFrame = 4 << 20 })
		spec, _ := httpSpec(t, "s", testmcp.Options{Faults: faults})
		w.start(spec)
		res, err := w.call("s", "big", `{"bytes":3000000}`)
		require.NoError(t, err)
		require.Len(t, res.Text(), 3000000)
		_, err = w.call("s", "big", `{"bytes":9000000}`)
		require.Equal(t, core.CodeTooLarge, core.CodeOf(err), "%v", err)
		echoes(t, w, "s")
	}
}

// After a sleep nobody knows whether a connection still lives.
func TestWakeVerifiesConnections(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.Limits.BackoffMin, o.Limits.BackoffMax = time.Hour, time.Hour })
	spec, h := httpSpec(t, "s", testmcp.Options{})
	w.start(spec)
	h.Forget()
	w.wake()
	require.Eventually(t, func() bool { return h.Count("initialize") == 2 }, 5*time.Second, time.Millisecond, "a forgotten session is noticed")

	down := httptest.NewUnstartedServer(h)
	addr := down.Listener.Addr().String()
	require.NoError(t, down.Listener.Close())
	w.Apply([]core.ServerSpec{{Name: "d", Transport: core.TransportHTTP, URL: "http://" + addr}})
	st := w.until("d", core.StateFailed)
	require.NotEmpty(t, st.RetryAt)
	require.NoError(t, listenAgain(down, addr))
	defer down.Close()
	w.wake()
	w.until("d", core.StateConnected)
}

// What stands in a URL reaches the server with every request, also with those
// that go past the SDK, and nothing of it where it does not belong.
func TestURLsOfAllKinds(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(u *url.URL){
		"plain":      func(*url.URL) {},
		"name":       func(u *url.URL) { u.User = url.UserPassword("u", "p:q@") },
		"query":      func(u *url.URL) { u.RawQuery = "key=a%2Fb&x" },
		"fragment":   func(u *url.URL) { u.Fragment = "here" },
		"IPv6":       func(u *url.URL) { u.Host = "[::1]:" + u.Port() },
		"no path":    func(u *url.URL) { u.Path = "" },
		"with slash": func(u *url.URL) { u.Path += "/" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			network := "127.0.0.1:0"
			if name == "IPv6" {
				network = "[::1]:0"
			}
			l, err := net.Listen("tcp", network)
			if err != nil {
				t.Skip("this computer has no such addresses: ", err)
			}
			h := testmcp.Handler(testmcp.Options{})
			var seen sync.Map
			srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				id, secret, _ := r.BasicAuth()
				seen.Store(r.RequestURI+" "+id+" "+secret, true)
				h.ServeHTTP(w, r)
			}))
			srv.Listener.Close()
			srv.Listener = l
			srv.Start()
			t.Cleanup(func() {
				h.Close()
				srv.Close()
			})
			u, err := url.Parse("http://" + l.Addr().String() + "/mcp")
			require.NoError(t, err)
			change(u)
			w := newWorld(t)
			w.start(core.ServerSpec{Name: "s", Transport: core.TransportHTTP, URL: u.String()})
			echoes(t, w, "s")
			password, _ := u.User.Password()
			want := u.RequestURI() + " " + u.User.Username() + " " + password
			seen.Range(func(k, _ any) bool { return assert.Equal(t, want, k) })
			assert.NotContains(t, strings.Join(w.Log("s"), "\n"), "p:q")
		})
	}
}

// A redirect to another origin, which gets neither headers nor tokens, must not
// pass for wrong credentials.
func TestRedirectThatLosesTheHeaders(t *testing.T) {
	t.Parallel()
	target, _ := httpSpec(t, "target", testmcp.Options{Token: "Bearer abc"})
	for _, headers := range []map[string]string{nil, {"Authorization": "Bearer abc"}} {
		spec, _ := httpSpec(t, "s", testmcp.Options{Faults: []string{testmcp.Redirects}, Target: target.URL, RedirectStatus: http.StatusPermanentRedirect})
		spec.Headers = headers
		w := newWorld(t)
		w.Apply([]core.ServerSpec{spec})
		st := w.until("s", core.StateFailed)
		assert.Contains(t, st.Message, "redirects to "+strings.TrimSuffix(target.URL, "/mcp")+", which wants to know who you are (HTTP 401)")
		assert.Contains(t, st.Message, "set its URL to it.")
		assert.Equal(t, core.FixEdit, st.Fix)
	}
}

// Why no connection came about is said in words, with what to do.
func TestCausesOfTheNetwork(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	cert := &x509.Certificate{NotBefore: at, NotAfter: at.AddDate(0, 1, 0)}
	assert.Contains(t, expired(cert, at.AddDate(0, 0, -1)), "not valid before 2026-03-01. Check the clock")
	assert.Contains(t, expired(cert, at.AddDate(1, 0, 0)), "ended on 2026-04-01. Check the clock")
	for want, err := range map[string]error{
		"ended on 2026-04-01":                     &tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Cert: cert, Reason: x509.Expired}},
		"not valid at this time":                  x509.CertificateInvalidError{Reason: x509.Expired},
		"not for other.example. Check the URL":    &tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: cert, Host: "other.example"}},
		"add it to those of this computer":        &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}},
		"wants a certificate of the client":       &net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")},
		"the proxy of this computer cannot":       &net.OpError{Op: "proxyconnect", Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}},
		"wants a name and a password":             &url.Error{Op: "Post", URL: "https://x", Err: errors.New("Proxy Authentication Required")},
		"nothing listens at this address":         &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)},
		"did not answer in time":                  &url.Error{Op: "Get", URL: "https://x", Err: context.DeadlineExceeded},
		"ended the connection without an answer":  &url.Error{Op: "Get", URL: "https://x", Err: io.EOF},
		"no host named nobody.example":            &net.DNSError{Name: "nobody.example"},
		"no route to host":                        &net.OpError{Op: "dial", Err: errors.New("no route to host")},
		"it does not speak TLS. Perhaps its addr": errors.New("tls: first record does not look like a TLS handshake"),
	} {
		assert.Contains(t, netCause(err), want)
	}
}

// A redirect within the server's own origin that keeps the message, as to a path
// with a slash, is followed with all that belongs to a request.
func TestRedirectWithinTheOrigin(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		h := testmcp.Handler(testmcp.Options{Token: "Bearer abc"})
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/") {
				http.Redirect(w, r, r.URL.Path+"/?"+r.URL.RawQuery, status)
				return
			}
			assert.Equal(t, "k=v", r.URL.RawQuery)
			h.ServeHTTP(w, r)
		}))
		t.Cleanup(func() {
			h.Close()
			srv.Close()
		})
		w := newWorld(t)
		w.start(core.ServerSpec{Name: "s", Transport: core.TransportHTTP, URL: srv.URL + "/mcp?k=v", Headers: map[string]string{"Authorization": "Bearer abc"}})
		for range 3 {
			echoes(t, w, "s")
		}
		assert.Equal(t, 1, h.Count("initialize"))
		assert.Equal(t, 3, h.Count("tools/call"))
	}
}
