package mcp

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"patchbay/backend/core"
)

// TokenStore keeps sign-ins between runs: opaque strings by name, which hold
// secrets. Names begin with "oauth/". Its methods are called from several
// goroutines.
type TokenStore interface {
	// Get returns the string called name, "" and false where there is none.
	Get(ctx context.Context, name string) (string, bool, error)
	// Set keeps value under name, in the place of what was there.
	Set(ctx context.Context, name, value string) error
	// Delete forgets the string called name. One that is not there is no error.
	Delete(ctx context.Context, name string) error
}

// memoryTokens is a TokenStore that lasts as long as the program.
type memoryTokens struct{ m sync.Map }

func (s *memoryTokens) Get(_ context.Context, name string) (string, bool, error) {
	v, ok := s.m.Load(name)
	if !ok {
		return "", false, nil
	}
	return v.(string), true, nil
}

func (s *memoryTokens) Set(_ context.Context, name, value string) error {
	s.m.Store(name, value)
	return nil
}

func (s *memoryTokens) Delete(_ context.Context, name string) error {
	s.m.Delete(name)
	return nil
}

// Grant says how a token for a server comes about.
type Grant string

const (
	// GrantPerson lets a person sign in with a browser (OAuth 2.1, authorization code).
	GrantPerson Grant = ""
	// GrantClient uses the client's own credentials (RFC 6749, 4.4; MCP extension auth/client-credentials).
	GrantClient Grant = "client_credentials"
	// GrantWorkload presents a token of the place where the program runs (RFC 7523; MCP extension auth/wif).
	GrantWorkload Grant = "workload_identity"
	// GrantEnterprise trades a person's identity token at their organisation's
	// identity provider (RFC 8693 and RFC 7523; MCP extension enterprise-managed-authorization).
	GrantEnterprise Grant = "enterprise_managed"
)

// AuthConfig says how to sign in to one server. The zero value finds out
// everything by itself and lets a person sign in. What a server's configuration
// says about it (core.ServerAuth) comes first.
type AuthConfig struct {
	Grant Grant
	// ClientID and ClientSecret are what the authorization server knows us by, if
	// it was told beforehand. "" means that we introduce ourselves. Without a
	// secret the client is a public one.
	ClientID     string
	ClientSecret string
	// PrivateKey signs instead of a secret (private_key_jwt, RFC 7523): an ECDSA
	// key on P-256, an RSA or an Ed25519 key. nil means none.
	PrivateKey crypto.Signer
	// Issuer is the authorization server that ClientID belongs to; others do not
	// get to see it. "" means whichever the server names.
	Issuer string
	// MetadataURL is the address of a document that describes us, which serves as
	// client id where it is supported (MCP 2025-11-25, Client ID Metadata
	// Documents). "" means that there is none.
	MetadataURL string
	// RedirectURL is where the browser returns to, if the authorization server
	// knows but one address. "" means a free port of this computer.
	RedirectURL string
	// Scopes are asked for beside those that the server names.
	Scopes []string
	// Assertion returns the token to present: that of the workload for
	// GrantWorkload, the person's identity token for GrantEnterprise. issuer is
	// the authorization server that it is for. It is not called for other grants.
	Assertion func(ctx context.Context, issuer string) (string, error)
	// IdentityProvider is where GrantEnterprise trades the identity token.
	IdentityProvider IdentityProvider
	// DPoP asks for tokens that are of no use to a thief (RFC 9449), also where
	// the server does not demand them.
	DPoP bool
}

// IdentityProvider is the token endpoint of an organisation, and what it knows us by.
type IdentityProvider struct {
	TokenURL     string
	ClientID     string
	ClientSecret string // "" for a public client
}

// grant is a token and what it is good for. It is bound to one server, one
// issuer and one resource, and immutable.
type grant struct {
	Server   string    `json:"server"` // its address
	Issuer   string    `json:"issuer"`
	Resource string    `json:"resource"` // RFC 8707
	TokenURL string    `json:"tokenUrl"`
	Methods  []string  `json:"methods,omitempty"` // of client authentication that the issuer supports
	ClientID string    `json:"clientId"`
	Grant    Grant     `json:"grant,omitempty"`     // by which it came about
	Revoke   string    `json:"revokeUrl,omitempty"` // where it can be given back (RFC 7009); "" for nowhere
	Access   string    `json:"access"`
	Refresh  string    `json:"refresh,omitempty"`
	Expiry   time.Time `json:"expiry,omitzero"`
	Scopes   []string  `json:"scopes,omitempty"`
	Key      []byte    `json:"key,omitempty"` // PKCS #8; the token is bound to it (DPoP)
	// Client is the registration that the token was given to, which another sign-in
	// at the same issuer may replace; nil where we did not introduce ourselves.
	Client *oauthClient `json:"client,omitempty"`

	proof *prover // of Key
}

// stale reports whether the token ends so soon that a request might find it ended.
func (g *grant) stale() bool {
	return !g.Expiry.IsZero() && time.Until(g.Expiry) < 10*time.Second
}

// refusal is the last answer that asked for a token, or a better one.
type refusal struct {
	status     int
	challenges []oauthex.Challenge
}

func (r *refusal) param(name string) string {
	if r == nil {
		return ""
	}
	for _, c := range r.challenges {
		if (c.Scheme == "bearer" || c.Scheme == "dpop") && c.Params[name] != "" {
			return c.Params[name]
		}
	}
	return ""
}

func (r *refusal) scopes() []string { return strings.Fields(r.param("scope")) }

// authError is why there is no token, in a sentence.
type authError struct {
	message string
	final   bool // trying again will not help
	err     error
}

func (e *authError) Error() string { return e.message }
func (e *authError) Unwrap() error { return e.err }

func authFailed(final bool, err error, format string, args ...any) *authError {
	return &authError{message: fmt.Sprintf(format, args...), final: final, err: err}
}

// authorizer holds the sign-in of one server at one address. It outlives the
// links to that server.
type authorizer struct {
	server string
	url    *url.URL
	cfg    AuthConfig
	spec   *core.ServerAuth // that cfg was made of, expanded
	o      *Options
	work   *workers
	http   func() *http.Client // made when it is first needed
	hidden redactor

	log    atomic.Pointer[logRing]
	inside atomic.Bool // the server is in a private network

	tok     atomic.Pointer[grant]
	refused atomic.Pointer[refusal]

	mu      sync.Mutex
	loaded  bool
	renewal *renewal // in flight; nil for none
	pending *signIn  // in flight; nil for none
	// hopeless is why no token was given lately; nil if it was, or there may be one.
	hopeless *authError
	since    time.Time
}

// hopelessFor is how long a final refusal counts for all who ask for a token: a
// handshake alone asks several times, and some servers lock out who insists.
const hopelessFor = 5 * time.Second

// renewal is one attempt to get a new token, for which everybody waits.
type renewal struct {
	done chan struct{}
	g    *grant
	err  error
}

func newAuthorizer(server string, u *url.URL, cfg AuthConfig, o *Options, w *workers, log *logRing) *authorizer {
	a := &authorizer{server: server, url: u, cfg: cfg, o: o, work: w}
	a.log.Store(log)
	a.http = sync.OnceValue(func() *http.Client { return guardedClient(a.admit, a.checkEndpoint) })
	return a
}

// say adds a line to the server's log.
func (a *authorizer) say(format string, args ...any) {
	a.log.Load().add("· sign-in: ", a.hidden.hide(fmt.Sprintf(format, args...)))
}

// held is the token that there is; nil for none, and for a nil authorizer.
func (a *authorizer) held() *grant {
	if a == nil {
		return nil
	}
	return a.tok.Load()
}

// has reports whether the token was given for all of scopes.
func (a *authorizer) has(scopes string) bool {
	g := a.held()
	return g != nil && !slices.ContainsFunc(strings.Fields(scopes), func(s string) bool { return !slices.Contains(g.Scopes, s) })
}

// hostOf is the host of an address, or the address if it has none.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return address
}

func (a *authorizer) tokenName() string { return "oauth/token/" + a.server }

// current returns the token to send with a request, renewed if it is about to
// end; nil if there is none.
func (a *authorizer) current(ctx context.Context) (*grant, error) {
	g := a.tok.Load()
	if g == nil {
		a.load(ctx)
		if g = a.tok.Load(); g == nil {
			return nil, nil
		}
	}
	if !g.stale() || !a.renewable(g) {
		return g, nil
	}
	next, err := a.renew(ctx, g)
	if err != nil && ctx.Err() == nil && time.Now().Before(g.Expiry) {
		return g, nil
	}
	return next, err
}

// load reads the token of an earlier run, once.
func (a *authorizer) load(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.loaded {
		return
	}
	text, ok, err := a.o.Tokens.Get(ctx, a.tokenName())
	if ctx.Err() != nil {
		return
	}
	a.loaded = true
	if err != nil {
		a.say("the stored token cannot be read: %v", err)
		return
	}
	g := &grant{}
	if !ok || decodeStored(text, g) != nil || !a.good(g) {
		return // it belongs to another address, or to other settings
	}
	if g.Key != nil {
		if g.proof, err = loadProver(g.Key); err != nil {
			return
		}
	}
	a.hidden.learn([]string{g.Access, g.Refresh})
	a.tok.Store(g)
}

// keep makes g the token and stores it; nil forgets the one there was. The error
// is that of the store; the token counts all the same. The caller holds a.mu.
func (a *authorizer) keep(ctx context.Context, g *grant) error {
	a.loaded = true
	a.tok.Store(g)
	var err error
	if g == nil {
		err = a.o.Tokens.Delete(ctx, a.tokenName())
	} else {
		a.hidden.learn([]string{g.Access, g.Refresh})
		err = a.o.Tokens.Set(ctx, a.tokenName(), encodeStored(g))
	}
	switch {
	case err == nil && g != nil:
		a.say("token stored")
	case err == nil:
	case g != nil:
		a.say("the token could not be stored, so it is good for this run only: %v", err)
	default:
		a.say("the token could not be forgotten: %v", err)
	}
	return err
}

// renewable reports whether a new token can be had without a person. g may be nil.
func (a *authorizer) renewable(g *grant) bool {
	return a.cfg.Grant != GrantPerson || g != nil && g.Refresh != ""
}

// renew gets a new token in the place of old. However many ask for it at once,
// it is asked for once, and whoever asks late gets what has come about
// meanwhile. nil, nil means that a person must sign in.
func (a *authorizer) renew(ctx context.Context, old *grant) (*grant, error) {
	a.mu.Lock()
	if now := a.tok.Load(); now != old {
		a.mu.Unlock()
		return now, nil
	}
	if a.hopeless != nil && time.Since(a.since) < hopelessFor {
		a.mu.Unlock()
		return nil, a.hopeless
	}
	r := a.renewal
	if r == nil {
		r = &renewal{done: make(chan struct{})}
		// A refresh token may be good for one use only: the answer must be taken
		// even if the call that wanted it has ended.
		if !a.work.run(tokenLimit, func(ctx context.Context) { a.runRenewal(ctx, r, old) }) {
			a.mu.Unlock()
			return nil, context.Canceled
		}
		a.renewal = r
	}
	a.mu.Unlock()
	select {
	case <-r.done:
		return r.g, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (a *authorizer) runRenewal(ctx context.Context, r *renewal, old *grant) {
	defer close(r.done)
	var g *grant
	var err error
	if a.cfg.Grant == GrantPerson {
		g, err = a.refresh(ctx, old)
	} else {
		g, err = a.machine(ctx, old)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.renewal = nil
	if now := a.tok.Load(); now != old { // signed in, or out, meanwhile
		r.g = now
		return
	}
	var te *tokenError
	switch {
	case err == nil:
		_ = a.keep(ctx, g) // told in the log
		r.g = g
	case a.cfg.Grant == GrantPerson && errors.As(err, &te) && te.dead():
		a.say("the token cannot be renewed any more: %s", te.Error())
		if c := a.storedClient(ctx, old.Issuer); te.Code == "invalid_client" && c != nil && c.ID == old.ClientID {
			a.forgetClient(ctx, old.Issuer)
		}
		_ = a.keep(ctx, nil)
	default:
		a.say("no new token: %v", err)
		if te != nil {
			err = authFailed(false, te, "%s", sentence(te.Error()))
		}
		r.err = err
		var ae *authError
		if errors.As(err, &ae) && ae.final {
			a.hopeless, a.since = ae, time.Now()
		}
	}
}

// refresh trades the refresh token of old (RFC 6749, 6), for the same resource
// (MCP 2025-11-25, Authorization, Resource Parameter Implementation).
func (a *authorizer) refresh(ctx context.Context, old *grant) (*grant, error) {
	c, err := a.clientOf(ctx, old)
	if err != nil {
		return nil, err
	}
	g, err := a.token(ctx, old.TokenURL, url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {old.Refresh}, "resource": {old.Resource},
	}, c, old.proof)
	if err != nil {
		return nil, err
	}
	g.Server, g.Issuer, g.Resource, g.TokenURL, g.Methods, g.ClientID = old.Server, old.Issuer, old.Resource, old.TokenURL, old.Methods, old.ClientID
	g.Grant, g.Revoke, g.Client = old.Grant, old.Revoke, old.Client
	if g.Refresh == "" {
		g.Refresh = old.Refresh
	}
	if g.Scopes == nil {
		g.Scopes = old.Scopes
	}
	a.say("token renewed")
	return g, nil
}

// attempts bounds how often one request is sent: with a stale token, with a new
// one, and with a nonce.
const attempts = 4

// authorized sends a request with the token, and again after a refusal that a
// new token mends. No browser is opened here: a refusal that only a person can
// mend is the answer.
func (t *roundTripper) authorized(req *http.Request) (*http.Response, error) {
	a := t.auth
	if req.URL.Host != a.url.Host || req.URL.Scheme != a.url.Scheme {
		return t.once(req)
	}
	g, err := a.current(req.Context())
	if err != nil {
		return nil, err
	}
	nonced, widened, renewed := false, false, false
	for n := 1; ; n++ {
		resp, err := t.once(withToken(req, g, n > 1))
		if err != nil {
			return nil, err
		}
		if g != nil && g.proof != nil {
			g.proof.learn(req.URL, resp.Header)
		}
		if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
			return resp, nil
		}
		cs, _ := oauthex.ParseWWWAuthenticate(resp.Header["Www-Authenticate"])
		r := &refusal{resp.StatusCode, cs}
		if g != nil && g.proof != nil && r.param("error") == "use_dpop_nonce" && !nonced && n < attempts {
			nonced = true
			resp.Body.Close()
			continue
		}
		narrow := r.status == http.StatusForbidden && r.param("error") == "insufficient_scope"
		if r.status == http.StatusUnauthorized || narrow {
			a.refused.Store(r)
		}
		// A token that is refused although it is new will not be mended by another one.
		again := r.status == http.StatusUnauthorized && (a.renewable(g) && !renewed || a.tok.Load() != g)
		if narrow && !widened {
			widened = true
			again = a.cfg.Grant != GrantPerson || a.tok.Load() != g
		}
		if again && n < attempts && (req.Body == nil || req.GetBody != nil) {
			renewed = renewed || a.tok.Load() == g
			next, err := a.renew(req.Context(), g)
			if err != nil {
				resp.Body.Close()
				return nil, err
			}
			if next != nil {
				resp.Body.Close()
				g = next
				continue
			}
		}
		if r.status == http.StatusUnauthorized && t.onDenied != nil {
			t.onDenied() // before the SDK ends the session over it
		}
		return resp, nil
	}
}

// withToken returns req with the token of g, which may be nil. again says that
// its body was sent before.
func withToken(req *http.Request, g *grant, again bool) *http.Request {
	if g == nil && !again {
		return req
	}
	req = req.Clone(req.Context())
	if again && req.GetBody != nil {
		if b, err := req.GetBody(); err == nil {
			req.Body = b
		}
	}
	switch {
	case g == nil:
	case g.proof != nil:
		req.Header.Set("Authorization", "DPoP "+g.Access)
		req.Header.Set("DPoP", g.proof.sign(req.Method, req.URL, g.Access))
	default:
		req.Header.Set("Authorization", "Bearer "+g.Access)
	}
	return req
}

// union returns all of a, and what of b is not in it, in order.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// workers are goroutines that outlive the call that started them. Whoever made
// them calls wait.
type workers struct {
	ctx context.Context
	mu  sync.Mutex
	end bool
	wg  sync.WaitGroup
}

// run starts f with a context that ends after limit, or with the workers. false
// means that they have ended.
func (w *workers) run(limit time.Duration, f func(context.Context)) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.end {
		return false
	}
	w.wg.Go(func() {
		ctx, cancel := context.WithTimeout(w.ctx, limit)
		defer cancel()
		f(ctx)
	})
	return true
}

// wait lets nothing start any more and waits for what runs.
func (w *workers) wait() {
	w.mu.Lock()
	w.end = true
	w.mu.Unlock()
	w.wg.Wait()
}
