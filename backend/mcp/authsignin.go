package mcp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"patchbay/backend/core"
)

// signInLimit is the time that a person has.
const signInLimit = 5 * time.Minute

// signIn is one time that a person signs in.
type signIn struct {
	state    string
	redirect string
	answers  chan url.Values // what the browser brought back; holds one
	until    time.Time
	done     chan struct{}
	err      error // valid after done
}

// take accepts what the browser brought back; false means that it belongs to
// another sign-in, or that there was an answer already.
func (s *signIn) take(q url.Values) bool {
	if subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(s.state)) != 1 {
		return false
	}
	select {
	case s.answers <- q:
		return true
	default:
		return false
	}
}

// signIn lets a person sign in, or waits for a sign-in that is under way. began
// is told when the person's time begins.
func (a *authorizer) signIn(ctx context.Context, began func(until time.Time)) error {
	a.mu.Lock()
	s := a.pending
	first := s == nil
	if first {
		s = &signIn{state: rand.Text(), answers: make(chan url.Values, 1), until: time.Now().Add(signInLimit), done: make(chan struct{})}
		a.pending = s
	}
	a.mu.Unlock()
	if !first {
		select {
		case <-s.done:
			return s.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	began(s.until)
	ctx, cancel := context.WithDeadline(ctx, s.until)
	defer cancel()
	s.err = a.withPerson(ctx, s)
	if s.err != nil {
		a.say("failed: %v", s.err)
	}
	a.mu.Lock()
	a.pending = nil
	a.mu.Unlock()
	close(s.done)
	return s.err
}

// withPerson runs the authorization code flow (MCP 2025-11-25, Authorization
// Flow Steps) to its end.
func (a *authorizer) withPerson(ctx context.Context, s *signIn) error {
	a.load(ctx)
	fctx, cancel := context.WithTimeout(ctx, tokenLimit)
	defer cancel()
	t, err := a.discover(fctx)
	if err != nil {
		return err
	}
	if !t.as.undocumented && !slices.Contains(t.as.Challenges, "S256") {
		return authFailed(true, nil, "%s does not protect sign-ins (PKCE with S256), so Patchbay does not sign in to %s there. Tell whoever runs it, or add a key to the server's headers if it takes one.", t.as.Issuer, a.server)
	}
	authorize, err := url.Parse(t.as.Authorize)
	if err != nil || t.as.Authorize == "" {
		return authFailed(true, err, "%s does not say where people sign in to %s. Tell whoever runs it.", t.as.Issuer, a.server)
	}
	stop, err := a.listen(fctx, s, t)
	if err != nil {
		return err
	}
	defer stop()
	c, err := a.client(fctx, t, s.redirect)
	if err != nil {
		return err
	}
	proof, err := a.prover(t)
	if err != nil {
		return err
	}
	verifier := rand.Text() + rand.Text() // RFC 7636, 4.1: 43 characters at least
	sum := sha256.Sum256([]byte(verifier))
	scopes := a.scopes(t, a.tok.Load())
	q := authorize.Query()
	for k, v := range map[string]string{
		"response_type": "code", "client_id": c.ID, "redirect_uri": s.redirect, "state": s.state,
		"code_challenge": b64(sum[:]), "code_challenge_method": "S256", "resource": t.resource, "scope": strings.Join(scopes, " "),
	} {
		if v != "" {
			q.Set(k, v)
		}
	}
	if slices.Contains(scopes, "offline_access") {
		q.Set("prompt", "consent") // OpenID Connect Core, 11
	}
	authorize.RawQuery = q.Encode()
	cancel()

	a.say("browser opened at %s, asking for %q", authorize.Host, strings.Join(scopes, " "))
	if err := a.o.Asker.OpenBrowser(ctx, a.server, authorize.String()); err != nil {
		a.say("the browser could not be opened: %v; open the address yourself, then paste where it leads", err)
	}
	var got url.Values
	select {
	case got = <-s.answers:
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) && c.dynamic {
			a.forgetClient(context.WithoutCancel(ctx), t.as.Issuer) // what the person saw may have been "unknown client"
		}
		return ctx.Err()
	}
	// MCP 2026-07-28, Authorization: before anything else of the answer is
	// believed or shown, it must come from whom we asked.
	if iss := got.Get("iss"); iss == "" && t.as.SendsIssuer {
		return authFailed(true, nil, "The answer to the sign-in at %s does not say that it comes from there, as it should. It was not used. Sign in to %s again; if that does not help, tell whoever runs it.", t.as.Issuer, a.server)
	} else if iss != "" && iss != t.as.Issuer {
		return authFailed(true, nil, "The answer to the sign-in at %s does not come from there but from %q. It was not used. Sign in to %s again only if you trust both.", t.as.Issuer, core.Clip(iss, 200), a.server)
	}
	if code := got.Get("error"); code != "" {
		if c.dynamic && code != "access_denied" {
			a.forgetClient(ctx, t.as.Issuer)
		}
		if code == "access_denied" {
			return authFailed(true, nil, "Access to %s was refused at %s. Sign in again and allow it.", a.server, authorize.Host)
		}
		why := sentence(core.Clip(strings.TrimSpace(code+" "+got.Get("error_description")), 300))
		if passing(code) {
			return authFailed(false, nil, "%s has trouble with the sign-in to %s: %s", authorize.Host, a.server, why)
		}
		return authFailed(true, nil, "%s refused the sign-in to %s: %s If it does so again, tell whoever runs it.", authorize.Host, a.server, why)
	}
	if got.Get("code") == "" {
		return authFailed(true, nil, "%s ended the sign-in to %s without saying yes or no. Sign in again; if that does not help, tell whoever runs it.", authorize.Host, a.server)
	}
	a.say("code received")
	ectx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tokenLimit)
	defer cancel()
	g, err := a.token(ectx, t.as.Token, url.Values{
		"grant_type": {"authorization_code"}, "code": {got.Get("code")}, "redirect_uri": {s.redirect},
		"code_verifier": {verifier}, "resource": {t.resource},
	}, c, proof)
	if err != nil {
		var te *tokenError
		if !errors.As(err, &te) {
			return err
		}
		if te.Code == "invalid_target" { // RFC 8707, 2; MCP demands that a token names its resource
			return authFailed(true, te, "%s gives no token for %s: %s Tell whoever runs it.", te.host, t.resource, sentence(te.Error()))
		}
		if passing(te.Code) {
			return authFailed(false, te, "%s", sentence(te.Error()))
		}
		if c.dynamic && (te.Code == "invalid_client" || te.Code == "unauthorized_client") {
			a.forgetClient(ectx, t.as.Issuer)
		}
		return authFailed(true, te, "%s Sign in again.", sentence(te.Error()))
	}
	t.bind(g, a)
	if g.ClientID = c.ID; c.dynamic {
		g.Client = c
	}
	if g.Scopes == nil {
		g.Scopes = scopes
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = a.keep(ectx, g)                  // told in the log
	if r := a.refused.Load(); r != nil { // it still says where to sign in, but lacks nothing any more
		a.refused.Store(&refusal{challenges: r.challenges})
	}
	return nil
}

// listen opens the address that the browser returns to (RFC 8252, 7.3) and sets
// it in s. An address of the configuration that is not of this computer is not
// listened at: the person pastes it. stop ends the listening and waits for it.
func (a *authorizer) listen(ctx context.Context, s *signIn, t *target) (stop func(), err error) {
	redirect := &url.URL{Scheme: "http", Path: "/callback"}
	addr := "127.0.0.1:0"
	wanted := false
	if a.cfg.RedirectURL != "" {
		if redirect, err = url.Parse(a.cfg.RedirectURL); err != nil {
			return nil, authFailed(true, err, "The redirect address for %s is not usable. Correct it.", a.server)
		}
		if redirect.Scheme != "http" || !isLoopback(redirect.Hostname()) || redirect.Port() == "" || redirect.Port() == "0" {
			s.redirect = redirect.String()
			return func() {}, nil
		}
		addr, wanted = net.JoinHostPort("127.0.0.1", redirect.Port()), true
		if ip := net.ParseIP(redirect.Hostname()); ip != nil {
			addr = net.JoinHostPort(ip.String(), redirect.Port())
		}
	} else if c := a.storedClient(ctx, t.as.Issuer); c != nil && a.cfg.ClientID == "" {
		if u, err := url.Parse(c.Redirect); err == nil && isLoopback(u.Hostname()) {
			addr = u.Host
		}
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil && !wanted && addr != "127.0.0.1:0" {
		a.say("%s is taken; registering anew with another port", addr)
		l, err = lc.Listen(ctx, "tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, authFailed(false, err, "The browser could not return to Patchbay: %s is taken by another program. End that program, then sign in again.", addr)
	}
	if !wanted {
		redirect.Host = l.Addr().String()
	}
	s.redirect = redirect.String()
	path := redirect.Path
	if path == "" {
		path = "/"
	}
	srv := &http.Server{ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h.Set("Content-Type", "text/html; charset=utf-8")
			h.Set("Content-Security-Policy", "default-src 'none'")
			h.Set("Referrer-Policy", "no-referrer")
			h.Set("Cache-Control", "no-store")
			h.Set("Connection", "close")
			if r.Method != http.MethodGet || r.URL.Path != path {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			if !s.take(r.URL.Query()) {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprint(w, page("This answer belongs to another sign-in. Start again in Patchbay."))
				return
			}
			fmt.Fprint(w, page("Patchbay has the answer for "+a.server+". You can close this page."))
		})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = srv.Serve(l) // ends with ErrServerClosed
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second) // for the page to get to the browser
		defer cancel()
		if srv.Shutdown(ctx) != nil {
			srv.Close()
		}
		<-ended
	}, nil
}

func page(text string) string {
	return "<!doctype html><meta charset=utf-8><title>Patchbay</title><p>" + html.EscapeString(text) + "</p>\n"
}

// SignIn lets a person sign in to a server over HTTP with a browser (MCP
// 2025-11-25, Authorization) and connects it again. It returns when that is
// done, refused or given up, after five minutes at most; whoever calls it while
// a sign-in is under way waits for that one. The end of the first caller's ctx
// gives it up. What happens can be read in the server's log.
//
// Errors: CodeNotFound, CodeInvalid for a server that cannot be signed in to,
// CodeNeedsValue, CodeTimeout, CodeCanceled, CodeDenied if the sign-in was
// refused or must be, and CodeUnavailable if something could not be reached or
// nobody is there to ask.
func (m *Manager) SignIn(ctx context.Context, name string) error {
	s, a, err := m.authorizer(ctx, name)
	if err != nil {
		return err
	}
	if m.o.Asker == nil && a.cfg.Grant == GrantPerson {
		return core.Errorf(core.CodeUnavailable, "Nobody is here to sign in to %s. Sign in with Patchbay's window.", name)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(m.ctx, cancel)()
	if a.cfg.Grant == GrantPerson {
		err = a.signIn(ctx, func(until time.Time) { s.signing(&until) })
		if s.until.Store(nil); err != nil {
			s.signing(nil)
		}
	} else {
		a.mu.Lock()
		a.hopeless = nil
		a.mu.Unlock()
		_, err = a.renew(ctx, a.tok.Load())
	}
	if err != nil {
		return signInFailed(name, err)
	}
	if now, err := m.find(name); err == nil { // its configuration may have changed meanwhile
		s = now
	}
	if st := s.status.Load().State; st == core.StateConnected || !st.Settled() {
		return nil
	}
	change := s.wait()
	s.connect()
	for { // until the state is no longer that of somebody who must sign in
		select {
		case <-change:
		case <-s.done:
		case <-ctx.Done():
		}
		change = s.wait()
		if st := s.status.Load().State; st != core.StateNeedsSignIn && st != core.StateSigningIn || ctx.Err() != nil || s.ctx.Err() != nil {
			return nil
		}
	}
}

func signInFailed(name string, err error) error {
	var ae *authError
	var te *tokenError
	e := core.Errorf(core.CodeInternal, "The sign-in to %s failed: %s", name, sentence(err.Error()))
	switch {
	case errors.Is(err, context.Canceled):
		e = core.Errorf(core.CodeCanceled, "The sign-in to %s was given up.", name)
	case errors.As(err, &ae) && !ae.final:
		e = core.Errorf(core.CodeUnavailable, "%s Try again later.", ae.message)
	case errors.As(err, &ae):
		e = core.Errorf(core.CodeDenied, "%s", ae.message)
	case errors.As(err, &te):
		e = core.Errorf(core.CodeDenied, "%s", sentence(te.Error()))
	case errors.Is(err, context.DeadlineExceeded):
		e = core.Errorf(core.CodeTimeout, "The sign-in to %s was not finished in time. Sign in again.", name)
	}
	e.Err = err
	return e
}

// FinishSignIn gives the sign-in that is under way the address at which the
// browser ended up, for when it could not return to Patchbay by itself. It waits
// for nothing; SignIn returns. The error is CodeNotFound, CodeConflict if no
// sign-in is under way, or CodeInvalid if the address is not an answer to it, in
// which case the sign-in goes on waiting.
func (m *Manager) FinishSignIn(name, callbackURL string) error {
	_, a, err := m.authorizer(m.ctx, name)
	if err != nil {
		return err
	}
	a.mu.Lock()
	s := a.pending
	a.mu.Unlock()
	if s == nil {
		return core.Errorf(core.CodeConflict, "No sign-in to %s is under way. Start it first.", name)
	}
	text := strings.TrimSpace(callbackURL)
	u, err := url.Parse(text)
	if err != nil || u.Query().Get("state") == "" {
		return core.Errorf(core.CodeInvalid, "This is not the address where the sign-in to %s ended. Copy the whole address from the browser, with what follows the question mark.", name)
	}
	if !s.take(u.Query()) {
		return core.Errorf(core.CodeInvalid, "This address belongs to another sign-in. Copy the one at which the browser ended up now.")
	}
	return nil
}

// SignOut forgets the token for a server, gives it back where the authorization
// server takes it (RFC 7009) and ends the connection that used it. Whether the
// token was taken back shows in the server's log; nobody waits for it.
// The next sign-in introduces Patchbay with the same registration. Being signed
// out already is no error; CodeNotFound and CodeInvalid are as for SignIn.
func (m *Manager) SignOut(ctx context.Context, name string) error { return m.signOut(ctx, name, false) }

// ForgetSignIn is SignOut that also forgets how Patchbay introduced itself to the
// authorization server, which may help when that server no longer knows it.
// Other servers with the same authorization server keep their tokens, and are
// introduced anew with their next sign-in.
func (m *Manager) ForgetSignIn(ctx context.Context, name string) error {
	return m.signOut(ctx, name, true)
}

func (m *Manager) signOut(ctx context.Context, name string, forget bool) error {
	s, a, err := m.authorizer(ctx, name)
	if err != nil {
		return err
	}
	a.load(ctx)
	a.mu.Lock()
	g := a.tok.Load()
	var client *oauthClient
	if g != nil {
		client, _ = a.clientOf(ctx, g) // forgotten below; without one there is nothing to give back
		if forget {
			a.forgetClient(ctx, g.Issuer)
		}
	}
	err = a.keep(ctx, nil)
	a.mu.Unlock()
	if err != nil {
		return core.Errorf(core.CodeInternal, "The sign-in to %s could not be forgotten: %w. Try again.", name, err)
	}
	if g == nil {
		return nil
	}
	a.say("signed out")
	a.revoke(g, client)
	if s.link.Load() != nil {
		s.drop.Store(true)
		s.connect()
	} else if s.dropPrivate(); s.status.Load().State == core.StateOnDemand {
		s.demand() // to show that it needs a sign-in now
	}
	return nil
}

// authorizer returns what holds the sign-in of a configured server.
func (m *Manager) authorizer(ctx context.Context, name string) (*server, *authorizer, error) {
	s, err := m.find(name)
	if err != nil {
		return nil, nil, err
	}
	if s.spec.Transport == core.TransportStdio {
		return nil, nil, core.Errorf(core.CodeInvalid, "%s is a program on this computer, which takes its credentials from its settings. Edit them.", name)
	}
	spec, err := m.d.expandSpec(ctx, s.spec, &s.log.secrets)
	if err != nil {
		var de *dialError
		if errors.As(err, &de) {
			return nil, nil, de.public()
		}
		return nil, nil, err
	}
	u, bad := checkURL(spec.URL)
	if bad != nil {
		return nil, nil, bad.public()
	}
	a, err := m.d.authorizer(spec, u, s.log, true)
	var de *dialError
	if errors.As(err, &de) {
		return nil, nil, de.public()
	}
	if a == nil {
		return nil, nil, core.Errorf(core.CodeInvalid, "%s has an Authorization header in its settings, which is its sign-in. Correct or remove that header.", name)
	}
	return s, a, nil
}
