package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"patchbay/backend/core"
	"patchbay/internal/testmcp"
)

// fakeAuth is an authorization server and an MCP server that it guards. Its
// knobs may be turned under mu.
type fakeAuth struct {
	as, mcp *httptest.Server

	mu           sync.Mutex
	issuer       string // of the metadata, "" for its own
	resource     string // of the resource metadata, "" for the MCP server's
	iss          string // that the browser brings back, "" for none
	sendsIssuer  bool
	scopes       []string // that the resource metadata names
	demand       string   // a scope that tools/call wants
	lifetime     int      // of tokens, in seconds; 0 says nothing
	unknown      bool     // knows no client any more
	deny         bool     // the person refuses
	broken       bool     // the token endpoint has trouble
	seq          int
	codes        map[string]url.Values // → the authorization request
	access       map[string]string     // → scopes
	refresh      map[string]bool
	registered   []string // redirect addresses
	authorized   []url.Values
	exchanged    []url.Values
	refreshed    []url.Values
	machines     []url.Values // other requests for a token, with "authorization" as it came
	revoked      []url.Values
	bearers      map[string]bool // that arrived at the MCP server
	unauthorized int

	// before, if set, answers in the place of the authorization server or of what
	// guards the MCP server; false leaves it to them. It holds mu.
	before func(w http.ResponseWriter, r *http.Request, form url.Values) bool
	// twist, if set, changes what is answered to a request for a token.
	twist func(answer map[string]any)
}

func newFakeAuth(t *testing.T, faults ...string) *fakeAuth {
	t.Helper()
	f := &fakeAuth{codes: map[string]url.Values{}, access: map[string]string{}, refresh: map[string]bool{}, bearers: map[string]bool{}}
	f.as = httptest.NewServer(http.HandlerFunc(f.serveAS))
	h := testmcp.Handler(testmcp.Options{Faults: faults})
	f.mcp = httptest.NewServer(f.guard(h))
	t.Cleanup(func() {
		h.Close()
		f.mcp.Close()
		f.as.Close()
	})
	return f
}

func (f *fakeAuth) spec() core.ServerSpec {
	return core.ServerSpec{Name: "s", Transport: core.TransportHTTP, URL: f.mcp.URL + "/mcp"}
}

// set turns knobs.
func (f *fakeAuth) set(turn func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	turn()
}

// revoke makes all access tokens worthless, and the refresh tokens too if all.
func (f *fakeAuth) revoke(all bool) {
	f.set(func() {
		clear(f.access)
		if all {
			clear(f.refresh)
		}
	})
}

func (f *fakeAuth) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		meta := f.mcp.URL + "/.well-known/oauth-protected-resource/mcp"
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.before != nil && f.before(w, r, nil) {
			return
		}
		if strings.HasPrefix(r.URL.Path, "/.well-known/") {
			if f.mcp.URL+r.URL.Path != meta {
				http.NotFound(w, r)
				return
			}
			res := f.resource
			if res == "" {
				res = f.mcp.URL + "/mcp"
			}
			respond(w, 200, map[string]any{"resource": res, "authorization_servers": []string{f.as.URL}, "scopes_supported": f.scopes})
			return
		}
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		f.bearers[token] = true
		scopes, ok := f.access[token]
		if !ok {
			f.unauthorized++
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer resource_metadata="%s"`, meta))
			respond(w, 401, map[string]any{"error": "invalid_token"})
			return
		}
		if f.demand != "" && r.Header.Get("X-Call") == "" && !strings.Contains(" "+scopes+" ", " "+f.demand+" ") && isCall(r) {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer error="insufficient_scope", scope="%s", resource_metadata="%s"`, f.demand, meta))
			respond(w, 403, map[string]any{"error": "insufficient_scope"})
			return
		}
		f.mu.Unlock()
		next.ServeHTTP(w, r)
		f.mu.Lock()
	})
}

// isCall looks at the body of a request and leaves it to be read.
func isCall(r *http.Request) bool {
	if r.Method != http.MethodPost {
		return false
	}
	b, _ := readAll(r.Body, -1, 1<<20)
	r.Body = http.NoBody
	r.Body = body(b)
	e, _ := outline(b)
	return string(e.method) == `"tools/call"`
}

type readBody struct{ *strings.Reader }

func (readBody) Close() error { return nil }

func body(b []byte) readBody { return readBody{strings.NewReader(string(b))} }

func respond(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (f *fakeAuth) serveAS(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	bad := func(status int, code string) { respond(w, status, map[string]any{"error": code}) }
	_ = r.ParseForm()
	if f.before != nil && f.before(w, r, r.PostForm) {
		return
	}
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		issuer := f.issuer
		if issuer == "" {
			issuer = f.as.URL
		}
		respond(w, 200, map[string]any{"issuer": issuer, "authorization_endpoint": f.as.URL + "/authorize", "token_endpoint": f.as.URL + "/token",
			"registration_endpoint": f.as.URL + "/register", "code_challenge_methods_supported": []string{"S256"}, "scopes_supported": []string{"offline_access"},
			"revocation_endpoint": f.as.URL + "/revoke", "token_endpoint_auth_methods_supported": []string{"none"}, "authorization_response_iss_parameter_supported": f.sendsIssuer})
	case "/register":
		var m struct {
			Redirects []string `json:"redirect_uris"`
		}
		_ = json.NewDecoder(r.Body).Decode(&m)
		f.registered = append(f.registered, m.Redirects[0])
		f.unknown = false
		respond(w, 201, map[string]any{"client_id": fmt.Sprintf("client-%d", len(f.registered)), "token_endpoint_auth_method": "none"})
	case "/authorize":
		q := r.URL.Query()
		f.authorized = append(f.authorized, q)
		back, _ := url.Parse(q.Get("redirect_uri"))
		answer := url.Values{"state": {q.Get("state")}}
		if f.iss != "" {
			answer.Set("iss", f.iss)
		}
		if f.deny {
			answer.Set("error", "access_denied")
		} else {
			f.seq++
			code := fmt.Sprintf("code-secret-%d", f.seq)
			f.codes[code] = q
			answer.Set("code", code)
		}
		back.RawQuery = answer.Encode()
		http.Redirect(w, r, back.String(), http.StatusFound)
	case "/token":
		switch {
		case f.broken:
			http.Error(w, "trouble", http.StatusBadGateway)
			return
		case f.unknown:
			bad(401, "invalid_client")
			return
		}
		form := r.PostForm
		scope := ""
		switch form.Get("grant_type") {
		case "authorization_code":
			f.exchanged = append(f.exchanged, form)
			q := f.codes[form.Get("code")]
			sum := sha256.Sum256([]byte(form.Get("code_verifier")))
			if q == nil || q.Get("code_challenge") != b64(sum[:]) || q.Get("redirect_uri") != form.Get("redirect_uri") || q.Get("client_id") != form.Get("client_id") {
				bad(400, "invalid_grant")
				return
			}
			delete(f.codes, form.Get("code"))
			scope = q.Get("scope")
		case "refresh_token":
			f.refreshed = append(f.refreshed, form)
			if !f.refresh[form.Get("refresh_token")] {
				bad(400, "invalid_grant")
				return
			}
			delete(f.refresh, form.Get("refresh_token")) // good for one use
		case "client_credentials", "urn:ietf:params:oauth:grant-type:jwt-bearer":
			form.Set("authorization", r.Header.Get("Authorization"))
			f.machines = append(f.machines, form)
			scope = form.Get("scope")
		case "urn:ietf:params:oauth:grant-type:token-exchange":
			f.machines = append(f.machines, form)
			respond(w, 200, map[string]any{"access_token": "identity-assertion", "token_type": "N_A", "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag"})
			return
		default:
			bad(400, "unsupported_grant_type")
			return
		}
		f.seq++
		access, refresh := fmt.Sprintf("access-secret-%d", f.seq), fmt.Sprintf("refresh-secret-%d", f.seq)
		f.access[access], f.refresh[refresh] = scope, true
		m := map[string]any{"access_token": access, "refresh_token": refresh, "token_type": "Bearer"}
		if scope != "" {
			m["scope"] = scope
		}
		if f.lifetime > 0 {
			m["expires_in"] = f.lifetime
		}
		if f.twist != nil {
			f.twist(m)
		}
		respond(w, 200, m)
	case "/revoke":
		f.revoked = append(f.revoked, r.PostForm)
		delete(f.refresh, r.PostForm.Get("token"))
		delete(f.access, r.PostForm.Get("token"))
		w.WriteHeader(http.StatusOK)
	default:
		http.NotFound(w, r)
	}
}

// browser is a person who is signed in already and says yes.
func browser(ctx context.Context, _, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err == nil {
		resp.Body.Close()
	}
	return err
}

// whereTo is where the page leads, without going there.
func whereTo(ctx context.Context, address string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return "", err
	}
	resp.Body.Close()
	return resp.Header.Get("Location"), nil
}
