package mcp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/internal/testmcp"
)

// signedIn starts the guarded server and signs in to it.
func signedIn(t *testing.T, f *fakeAuth, change ...func(*Options)) (*world, *human, *memoryTokens) {
	t.Helper()
	h, store := &human{open: browser}, &memoryTokens{}
	w := newWorld(t, append([]func(*Options){func(o *Options) { o.Asker, o.Tokens = h, store }}, change...)...)
	w.Apply([]core.ServerSpec{f.spec()})
	w.until("s", core.StateNeedsSignIn)
	require.NoError(t, w.SignIn(t.Context(), "s"))
	w.until("s", core.StateConnected)
	return w, h, store
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	for _, faults := range [][]string{nil, {testmcp.Modern}, {testmcp.LegacySSE}} {
		t.Run(strings.Join(faults, ","), func(t *testing.T) {
			t.Parallel()
			f := newFakeAuth(t, faults...)
			f.scopes, f.sendsIssuer = []string{"read"}, true
			f.iss = f.as.URL
			w, _, _ := signedIn(t, f)
			echoes(t, w, "s")
			q := f.authorized[0]
			assert.Equal(t, "S256", q.Get("code_challenge_method"))
			assert.Equal(t, f.mcp.URL+"/mcp", q.Get("resource"))
			assert.Equal(t, "read offline_access", q.Get("scope"))
			assert.True(t, strings.HasPrefix(q.Get("redirect_uri"), "http://127.0.0.1:"))
			assert.Equal(t, f.mcp.URL+"/mcp", f.exchanged[0].Get("resource"))

			log := strings.Join(w.Log("s"), "\n")
			last := -1
			for _, line := range []string{"signing_in: Finish in your browser", "resource metadata found", "authorization server", "client registered", "browser opened", "code received", "token stored"} {
				i := strings.Index(log, line)
				assert.Greater(t, i, last, line)
				last = i
			}
			assert.NotContains(t, log, "-secret-")
		})
	}
}

// A background connection must not open a browser, whatever happens.
func TestBackgroundNeverOpensABrowser(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t)
	h := &human{open: browser}
	w := newWorld(t, withPerson(h))
	w.Apply([]core.ServerSpec{f.spec()})
	st := w.until("s", core.StateNeedsSignIn)
	assert.Equal(t, core.FixSignIn, st.Fix)
	_, err := w.call("s", "echo", `{}`)
	assert.Equal(t, core.CodeNeedsAuth, core.CodeOf(err))
	_, _, opened := h.count()
	assert.Zero(t, opened)
}

func TestSignInNeedsSomebody(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t)
	w := newWorld(t)
	w.Apply([]core.ServerSpec{f.spec(), {Name: "p", Transport: core.TransportStdio, Command: "none", Disabled: true},
		{Name: "h", Transport: core.TransportHTTP, URL: f.mcp.URL, Headers: map[string]string{"authorization": "Bearer x"}}})
	w.until("s", core.StateNeedsSignIn)
	assert.Equal(t, core.CodeUnavailable, core.CodeOf(w.SignIn(t.Context(), "s")))
	assert.Equal(t, core.CodeInvalid, core.CodeOf(w.SignIn(t.Context(), "p")))
	assert.Equal(t, core.CodeInvalid, core.CodeOf(w.SignIn(t.Context(), "h")))
	assert.Equal(t, core.CodeNotFound, core.CodeOf(w.SignIn(t.Context(), "nobody")))
	assert.Equal(t, core.CodeConflict, core.CodeOf(w.FinishSignIn("s", "http://x/?state=1")))
}

// Five calls that find the token ended must not refresh it five times: a refresh
// token is good for one use.
func TestRefreshHappensOnce(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t)
	w, h, _ := signedIn(t, f)
	f.revoke(false)
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			res, err := w.call("s", "echo", `{"text":"hello"}`)
			assert.NoError(t, err)
			assert.Equal(t, "hello", res.Text())
		})
	}
	wg.Wait()
	f.set(func() {
		require.Len(t, f.refreshed, 1)
		assert.Equal(t, f.mcp.URL+"/mcp", f.refreshed[0].Get("resource"))
		assert.Equal(t, "client-1", f.refreshed[0].Get("client_id"))
	})
	_, _, opened := h.count()
	assert.Equal(t, 1, opened)
	assert.Equal(t, core.StateConnected, w.status("s").State)
}

// Who finds out late that the token has ended must not refresh the new one.
func TestLateRefusalUsesTheNewToken(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t)
	w, _, _ := signedIn(t, f)
	_, a, err := w.authorizer(t.Context(), "s")
	require.NoError(t, err)
	old := a.tok.Load()
	first, err := a.renew(t.Context(), old)
	require.NoError(t, err)
	late, err := a.renew(t.Context(), old)
	require.NoError(t, err)
	assert.Same(t, first, late)
	f.set(func() { assert.Len(t, f.refreshed, 1) })
}

// A token that is about to end is renewed before it is refused.
func TestTokenIsRenewedInTime(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t)
	f.lifetime = 5
	w, _, _ := signedIn(t, f)
	echoes(t, w, "s")
	f.set(func() { assert.NotEmpty(t, f.refreshed) })
}

// Trouble at the token endpoint must not cost the sign-in.
func TestTroubleKeepsTheToken(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t)
	w, h, _ := signedIn(t, f)
	f.set(func() { f.broken = true })
	f.revoke(false)
	_, err := w.call("s", "echo", `{}`)
	assert.Equal(t, core.CodeUnavailable, core.CodeOf(err))
	f.set(func() { f.broken = false })
	w.until("s", core.StateConnected)
	require.Eventually(t, func() bool { _, err := w.call("s", "echo", `{"text":"x"}`); return err == nil }, 5*time.Second, 20*time.Millisecond)
	_, _, opened := h.count()
	assert.Equal(t, 1, opened)
}

func TestParallelSignInsAreOne(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t)
	h := &human{}
	release := make(chan struct{})
	h.open = func(ctx context.Context, server, address string) error {
		<-release
		return browser(ctx, server, address)
	}
	w := newWorld(t, withPerson(h))
	w.Apply([]core.ServerSpec{f.spec()})
	w.until("s", core.StateNeedsSignIn)
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() { assert.NoError(t, w.SignIn(t.Context(), "s")) })
	}
	st := w.until("s", core.StateSigningIn)
	assert.Contains(t, st.Message, "Finish in your browser")
	close(release)
	wg.Wait()
	w.until("s", core.StateConnected)
	_, _, opened := h.count()
	assert.Equal(t, 1, opened)
}

func TestTokenLastsPastARestart(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t)
	_, _, store := signedIn(t, f)
	h := &human{open: browser}
	again := newWorld(t, func(o *Options) { o.Asker, o.Tokens = h, store })
	again.start(f.spec())
	echoes(t, again, "s")
	_, _, opened := h.count()
	assert.Zero(t, opened)

	// The same name at another address must not get the token.
	var got sync.Map
	other := httpServer(t, func(w http.ResponseWriter, r *http.Request) {
		got.Store(r.Header.Get("Authorization"), true)
		http.Error(w, "no", http.StatusUnauthorized)
	})
	third := newWorld(t, func(o *Options) { o.Asker, o.Tokens = h, store })
	third.Apply([]core.ServerSpec{{Name: "s", Transport: core.TransportHTTP, URL: other}})
	third.until("s", core.StateNeedsSignIn)
	got.Range(func(k, _ any) bool {
		assert.Empty(t, k)
		return true
	})
}

func TestSignOut(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t, testmcp.Private)
	dir := t.TempDir()
	w, _, store := signedIn(t, f, caching(dir))
	require.Eventually(t, func() bool { return len(newMemory(dir).load("s", keyOf(f.spec())).Tools) > 0 }, 5*time.Second, time.Millisecond)
	require.NoError(t, w.SignOut(t.Context(), "s"))
	w.until("s", core.StateNeedsSignIn)
	assert.Zero(t, len(w.Tools("s")), "the tools were those of an account")
	assert.Zero(t, len(newMemory(dir).load("s", keyOf(f.spec())).Tools))
	require.Eventually(t, func() bool { // nobody waits for it
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.revoked) == 1
	}, 5*time.Second, time.Millisecond)
	assert.Equal(t, "refresh_token", f.revoked[0].Get("token_type_hint"))
	assert.Equal(t, "client-1", f.revoked[0].Get("client_id"))
	_, there, _ := store.Get(t.Context(), "oauth/token/s")
	assert.False(t, there)
	_, there, _ = store.Get(t.Context(), clientName(f.as.URL))
	assert.True(t, there, "the registration")
	require.NoError(t, w.SignOut(t.Context(), "s"))

	require.NoError(t, w.SignIn(t.Context(), "s"))
	w.until("s", core.StateConnected)
	assert.Len(t, f.registered, 1, "the registration is used again")
	require.NoError(t, w.ForgetSignIn(t.Context(), "s"))
	_, there, _ = store.Get(t.Context(), clientName(f.as.URL))
	assert.False(t, there)
}

// A registration that the authorization server has lost is a dead end unless it
// is forgotten.
func TestLostRegistrationIsForgotten(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t)
	w, _, store := signedIn(t, f)
	f.set(func() { f.unknown = true })
	f.revoke(false)
	_, err := w.call("s", "echo", `{}`)
	assert.Equal(t, core.CodeNeedsAuth, core.CodeOf(err))
	w.until("s", core.StateNeedsSignIn)
	_, there, _ := store.Get(t.Context(), clientName(f.as.URL))
	assert.False(t, there)
	require.NoError(t, w.SignIn(t.Context(), "s"))
	w.until("s", core.StateConnected)
	assert.Len(t, f.registered, 2)
}

// A token that cannot be forgotten must not pass for forgotten.
func TestSignOutThatFails(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t)
	store := &stuckTokens{}
	w, _, _ := signedIn(t, f, func(o *Options) { o.Tokens = store })
	assert.Equal(t, core.CodeInternal, core.CodeOf(w.SignOut(t.Context(), "s")))
}

type stuckTokens struct{ memoryTokens }

func (*stuckTokens) Delete(context.Context, string) error { return errors.New("the disk is full") }

func TestRevokedRefreshTokenNeedsSignIn(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t)
	w, _, _ := signedIn(t, f)
	f.revoke(true)
	_, err := w.call("s", "echo", `{}`)
	assert.Equal(t, core.CodeNeedsAuth, core.CodeOf(err))
	st := w.until("s", core.StateNeedsSignIn)
	assert.Equal(t, core.FixSignIn, st.Fix)
}

func TestSignInsThatMustBeRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		turn func(f *fakeAuth)
		want string
	}{
		"issuer of the metadata":      {func(f *fakeAuth) { f.issuer = "https://evil.example" }, "claims to be another authorization server"},
		"issuer of the answer":        {func(f *fakeAuth) { f.iss = "https://evil.example" }, "does not come from there"},
		"issuer of a refusal":         {func(f *fakeAuth) { f.iss, f.deny = "https://evil.example", true }, "does not come from there"},
		"issuer with a slash":         {func(f *fakeAuth) { f.iss = f.as.URL + "/" }, "does not come from there"},
		"no issuer in the answer":     {func(f *fakeAuth) { f.sendsIssuer = true }, "does not say that it comes from there"},
		"resource on another host":    {func(f *fakeAuth) { f.resource = "https://evil.example/mcp" }, "is not the address of s"},
		"resource on another path":    {func(f *fakeAuth) { f.resource = f.mcp.URL + "/mcp2" }, "is not the address of s"},
		"person who says no":          {func(f *fakeAuth) { f.deny = true }, "was refused"},
		"resource that is no address": {func(f *fakeAuth) { f.resource = "mcp" }, "is not the address of s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeAuth(t)
			c.turn(f)
			w := newWorld(t, withPerson(&human{open: browser}))
			w.Apply([]core.ServerSpec{f.spec()})
			w.until("s", core.StateNeedsSignIn)
			err := w.SignIn(t.Context(), "s")
			assert.Equal(t, core.CodeDenied, core.CodeOf(err))
			require.ErrorContains(t, err, c.want)
			f.set(func() { assert.Empty(t, f.exchanged) })
			w.until("s", core.StateNeedsSignIn)
		})
	}
}

// Anybody on this computer can reach the listener; only the right state counts,
// and a wrong one must not end the sign-in.
func TestWrongStateIsRefusedAndPastingWorks(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t)
	opened := make(chan string, 1)
	h := &human{open: func(_ context.Context, _, address string) error {
		opened <- address
		return nil
	}}
	w := newWorld(t, withPerson(h))
	w.Apply([]core.ServerSpec{f.spec()})
	w.until("s", core.StateNeedsSignIn)
	done := make(chan error, 1)
	go func() { done <- w.SignIn(t.Context(), "s") }()
	page := <-opened
	u, err := url.Parse(page)
	require.NoError(t, err)
	for path, want := range map[string]int{"?code=x&state=wrong": 400, "?code=x": 400, "/other?state=" + u.Query().Get("state"): 404} {
		resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(u.Query().Get("redirect_uri") + path)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, want, resp.StatusCode, path)
	}
	assert.Equal(t, core.CodeInvalid, core.CodeOf(w.FinishSignIn("s", "nonsense")))
	assert.Equal(t, core.CodeInvalid, core.CodeOf(w.FinishSignIn("s", "http://127.0.0.1/callback?code=x&state=wrong")))
	back, err := whereTo(t.Context(), page)
	require.NoError(t, err)
	require.NoError(t, w.FinishSignIn("s", " "+back+"\n"))
	require.NoError(t, <-done)
	w.until("s", core.StateConnected)
}

func TestSignInIsGivenUp(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t)
	w := newWorld(t, withPerson(&human{}))
	w.Apply([]core.ServerSpec{f.spec()})
	w.until("s", core.StateNeedsSignIn)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	assert.Equal(t, core.CodeTimeout, core.CodeOf(w.SignIn(ctx, "s")))
	w.until("s", core.StateNeedsSignIn)
	done := make(chan error, 1)
	go func() { done <- w.SignIn(context.Background(), "s") }()
	w.until("s", core.StateSigningIn)
	end, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	require.NoError(t, w.Close(end))
	assert.Equal(t, core.CodeCanceled, core.CodeOf(<-done))
}

func TestPortThatIsTaken(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t)
	w, _, _ := signedIn(t, f)
	u, err := url.Parse(f.registered[0])
	require.NoError(t, err)
	l, err := net.Listen("tcp", u.Host)
	require.NoError(t, err)
	defer l.Close()

	// The registration was for that port: another port needs another one.
	require.NoError(t, w.SignOut(t.Context(), "s"))
	w.until("s", core.StateNeedsSignIn)
	require.NoError(t, w.SignIn(t.Context(), "s"))
	assert.Len(t, f.registered, 2)

	// A port of the configuration has no other.
	fixed := newWorld(t, withPerson(&human{open: browser}), func(o *Options) {
		o.Auth = func(string) AuthConfig {
			return AuthConfig{ClientID: "mine", RedirectURL: "http://localhost:" + u.Port() + "/back"}
		}
	})
	fixed.Apply([]core.ServerSpec{f.spec()})
	fixed.until("s", core.StateNeedsSignIn)
	err = fixed.SignIn(t.Context(), "s")
	assert.Equal(t, core.CodeUnavailable, core.CodeOf(err))
	assert.ErrorContains(t, err, "is taken by another program")
}

// More permission must not cost what was granted before.
func TestStepUp(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t)
	f.scopes = []string{"read"}
	w, h, _ := signedIn(t, f)
	f.set(func() { f.demand = "write" })
	_, err := w.call("s", "echo", `{}`)
	assert.Equal(t, core.CodeNeedsAuth, core.CodeOf(err))
	assert.ErrorContains(t, err, "write")
	assert.Equal(t, core.StateConnected, w.status("s").State, w.status("s").Message)
	require.NoError(t, w.SignIn(t.Context(), "s"))
	assert.Equal(t, "read offline_access write", f.authorized[1].Get("scope"))
	echoes(t, w, "s")
	_, _, opened := h.count()
	assert.Equal(t, 2, opened)
}

func TestPreRegisteredClientComesFirst(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t)
	_, _, _ = signedIn(t, f, func(o *Options) {
		o.Auth = func(string) AuthConfig {
			return AuthConfig{ClientID: "mine", MetadataURL: "https://patchbay.example/client.json", Issuer: f.as.URL}
		}
	})
	assert.Empty(t, f.registered)
	assert.Equal(t, "mine", f.authorized[0].Get("client_id"))

	// Credentials belong to one authorization server; others must not see them.
	g := newFakeAuth(t)
	w := newWorld(t, withPerson(&human{open: browser}), func(o *Options) {
		o.Auth = func(string) AuthConfig { return AuthConfig{ClientID: "mine", ClientSecret: "s", Issuer: f.as.URL} }
	})
	w.Apply([]core.ServerSpec{g.spec()})
	w.until("s", core.StateNeedsSignIn)
	assert.Equal(t, core.CodeDenied, core.CodeOf(w.SignIn(t.Context(), "s")))
	assert.Empty(t, g.authorized)
}

// A test of a configuration uses the sign-in that there is.
func TestTrialUsesTheSignIn(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t)
	w, _, _ := signedIn(t, f)
	assert.True(t, w.Test(t.Context(), f.spec(), nil).OK)
	other := f.spec()
	other.Name = "new"
	rep := w.Test(t.Context(), other, nil)
	assert.Equal(t, core.FixSignIn, rep.Fix)
}

// httpServer serves f until the test ends and returns its address.
func httpServer(t *testing.T, f http.HandlerFunc) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	srv := &http.Server{Handler: f, ReadHeaderTimeout: time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l)
	}()
	t.Cleanup(func() {
		srv.Close()
		<-done
	})
	return "http://" + l.Addr().String()
}
