package mcp

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
)

// turn makes an authorization server odd, or what guards the MCP server.
type turn func(f *fakeAuth)

// answering puts answer in the place of what stands at path.
func answering(path string, answer func(f *fakeAuth, w http.ResponseWriter, r *http.Request)) turn {
	return func(f *fakeAuth) {
		f.before = func(w http.ResponseWriter, r *http.Request, _ url.Values) bool {
			if r.URL.Path != path {
				return false
			}
			answer(f, w, r)
			return true
		}
	}
}

// saying answers with a text.
func saying(path string, status int, contentType, text string) turn {
	return answering(path, func(_ *fakeAuth, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		fmt.Fprint(w, text)
	})
}

func (f *fakeAuth) resourceMeta(issuers ...string) map[string]any {
	return map[string]any{"resource": f.mcp.URL + "/mcp", "authorization_servers": issuers}
}

func (f *fakeAuth) issuerMeta(issuer string) map[string]any {
	return map[string]any{"issuer": issuer, "authorization_endpoint": f.as.URL + "/authorize", "token_endpoint": f.as.URL + "/token", "registration_endpoint": f.as.URL + "/register",
		"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"}}
}

const (
	resourcePlace = "/.well-known/oauth-protected-resource"
	issuerPlace   = "/.well-known/oauth-authorization-server"
)

// describing changes the resource metadata.
func describing(change func(f *fakeAuth, m map[string]any)) turn {
	return answering(resourcePlace+"/mcp", func(f *fakeAuth, w http.ResponseWriter, _ *http.Request) {
		m := f.resourceMeta(f.as.URL)
		change(f, m)
		respond(w, 200, m)
	})
}

// issuing changes the metadata of the authorization server.
func issuing(change func(f *fakeAuth, m map[string]any)) turn {
	return answering(issuerPlace, func(f *fakeAuth, w http.ResponseWriter, _ *http.Request) {
		m := f.issuerMeta(f.as.URL)
		change(f, m)
		respond(w, 200, m)
	})
}

// challenged lets the server point to its metadata by a challenge only, or not at all.
func challenged(place string, challenges ...string) turn {
	return func(f *fakeAuth) {
		f.before = func(w http.ResponseWriter, r *http.Request, _ url.Values) bool {
			switch {
			case "http://"+r.Host != f.mcp.URL:
				return false
			case r.URL.Path == place:
				respond(w, 200, f.resourceMeta(f.as.URL))
			case strings.HasPrefix(r.URL.Path, "/.well-known/"):
				http.NotFound(w, r)
			case r.Header.Get("Authorization") == "":
				for _, c := range challenges {
					w.Header().Add("WWW-Authenticate", strings.ReplaceAll(c, "HERE", f.mcp.URL))
				}
				w.WriteHeader(http.StatusUnauthorized)
			default:
				return false
			}
			return true
		}
	}
}

// described lets the authorization server at path describe itself in one place
// only; the others answer with status.
func described(path, place string, status int) turn {
	return func(f *fakeAuth) {
		f.before = func(w http.ResponseWriter, r *http.Request, _ url.Values) bool {
			switch own := "http://"+r.Host == f.as.URL; {
			case !own && r.URL.Path == resourcePlace+"/mcp":
				respond(w, 200, f.resourceMeta(f.as.URL+path))
			case own && r.URL.Path == place:
				respond(w, 200, f.issuerMeta(f.as.URL+path))
			case own && (strings.Contains(r.URL.Path, "/.well-known/") || r.URL.Path == "/authorize" && place == ""):
				w.WriteHeader(status)
			default:
				return false
			}
			return true
		}
	}
}

// secretly registers a client with a secret, and demands it at the token
// endpoint in the way of method.
func secretly(supported []string, said, method string) turn {
	return func(f *fakeAuth) {
		f.before = func(w http.ResponseWriter, r *http.Request, form url.Values) bool {
			switch r.URL.Path {
			case issuerPlace:
				m := f.issuerMeta(f.as.URL)
				m["token_endpoint_auth_methods_supported"] = supported
				respond(w, 200, m)
			case "/register":
				n := len(f.registered) + 1
				f.registered = append(f.registered, fmt.Sprint(n))
				m := map[string]any{"client_id": fmt.Sprint("c:", n), "client_secret": fmt.Sprint("s/e c", n), "client_secret_expires_at": "0"}
				if said != "" {
					m["token_endpoint_auth_method"] = said
				}
				respond(w, 200, m)
			case "/token":
				id, secret, basic := r.BasicAuth()
				id, _ = url.QueryUnescape(id)
				secret, _ = url.QueryUnescape(secret)
				if !basic {
					id, secret = form.Get("client_id"), form.Get("client_secret")
				}
				n, known := strings.CutPrefix(id, "c:")
				if good := map[string]bool{"basic": basic && secret == "s/e c"+n, "post": !basic && secret == "s/e c"+n, "none": !basic && secret == ""}[method]; !good || !known {
					respond(w, 401, map[string]any{"error": "invalid_client"})
					return true
				}
				form.Set("client_id", id)
				return false
			default:
				return false
			}
			return true
		}
	}
}

// callback lets the person's page return with query; STATE stands for the state.
func callback(query string) turn {
	return answering("/authorize", func(_ *fakeAuth, w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+strings.ReplaceAll(query, "STATE", q.Get("state")), http.StatusFound)
	})
}

// Whatever is odd about a server or its authorization server, as long as it can
// be understood and is safe, a person can sign in.
func TestSignInsThatWorkAllTheSame(t *testing.T) {
	t.Parallel()
	token := func(change func(m map[string]any)) turn { return func(f *fakeAuth) { f.twist = change } }
	for name, odd := range map[string]turn{
		"metadata at the path":         challenged(resourcePlace+"/mcp", "Bearer"),
		"metadata at the root":         challenged(resourcePlace, `Bearer realm="x"`),
		"metadata at the root, unsaid": challenged(resourcePlace),
		"metadata by challenge":        challenged("/prm", `Bearer resource_metadata="HERE/prm"`),
		"metadata without quotes":      challenged("/prm", `Bearer resource_metadata=HERE/prm`),
		"metadata without a host":      challenged("/prm", `Bearer resource_metadata="/prm"`),
		"metadata in capitals":         challenged("/prm", `BEARER Resource_Metadata="HERE/prm"`),
		"metadata in the second":       challenged("/prm", `Basic realm="x"`, `Bearer error="invalid_token", error_description="No, sir", resource_metadata="HERE/prm"`),
		"metadata in one of two":       challenged("/prm", `Basic realm="x", Bearer resource_metadata="HERE/prm"`),
		"resource with a slash":        describing(func(f *fakeAuth, m map[string]any) { m["resource"] = f.mcp.URL + "/mcp/" }),
		"resource above":               describing(func(f *fakeAuth, m map[string]any) { m["resource"] = f.mcp.URL }),
		"resource in capitals": describing(func(f *fakeAuth, m map[string]any) {
			m["resource"] = strings.Replace(f.mcp.URL, "http", "HTTP", 1) + "/mcp"
		}),
		"one issuer as a text": describing(func(f *fakeAuth, m map[string]any) { m["authorization_servers"] = f.as.URL }),
		"the first issuer is gone": describing(func(f *fakeAuth, m map[string]any) {
			m["authorization_servers"] = []string{"http://127.0.0.1:1", f.as.URL}
		}),
		"the first issuer is private": describing(func(f *fakeAuth, m map[string]any) {
			m["authorization_servers"] = []string{"https://10.0.0.1", f.as.URL}
		}),
		"issuer with a slash":          describing(func(f *fakeAuth, m map[string]any) { m["authorization_servers"] = []string{f.as.URL + "/"} }),
		"issuer slash in its metadata": issuing(func(f *fakeAuth, m map[string]any) { m["issuer"] = f.as.URL + "/" }),
		"OpenID at the root":           described("", "/.well-known/openid-configuration", 404),
		"OAuth before the path":        described("/t", issuerPlace+"/t", 404),
		"OpenID before the path":       described("/t", "/.well-known/openid-configuration/t", 404),
		"OpenID after the path":        described("/t", "/t/.well-known/openid-configuration", 404),
		"OAuth after the path":         described("/t", "/t"+issuerPlace, 404),
		"trouble in the first place":   described("", "/.well-known/openid-configuration", 500),
		"lists as texts": issuing(func(_ *fakeAuth, m map[string]any) {
			m["code_challenge_methods_supported"], m["scopes_supported"] = "S256", "a b"
		}),
		"a member of another type":      issuing(func(_ *fakeAuth, m map[string]any) { m["client_id_metadata_document_supported"] = "yes" }),
		"a query in the address":        issuing(func(f *fakeAuth, m map[string]any) { m["authorization_endpoint"] = f.as.URL + "/authorize?audience=x" }),
		"registration with 200":         saying("/register", 200, "application/json", `{"client_id":"c"}`),
		"registration of another":       saying("/register", 201, "application/json", `{"client_id":"c","redirect_uris":["http://localhost/callback"]}`),
		"a secret in the header":        secretly([]string{"client_secret_basic"}, "client_secret_basic", "basic"),
		"a secret in the body":          secretly([]string{"client_secret_post"}, "client_secret_post", "post"),
		"a secret in the body, unsaid":  secretly([]string{"client_secret_post"}, "", "post"),
		"a secret, nothing said at all": secretly(nil, "", "basic"),
		"a secret for nothing":          secretly([]string{"none"}, "none", "none"),
		"times as texts":                token(func(m map[string]any) { m["expires_in"], m["token_type"] = "3600", "bearer" }),
		"scopes in a list":              token(func(m map[string]any) { m["scope"] = []string{"a", "b"} }),
		"no type":                       token(func(m map[string]any) { delete(m, "token_type") }),
		"nothing but a token":           token(func(m map[string]any) { maps.DeleteFunc(m, func(k string, _ any) bool { return k != "access_token" }) }),
		"nulls":                         token(func(m map[string]any) { m["expires_in"], m["refresh_token"], m["scope"] = nil, nil, nil }),
		"a form for a token": answering("/token", func(f *fakeAuth, w http.ResponseWriter, _ *http.Request) {
			f.access["gho_1"] = ""
			w.Header().Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
			fmt.Fprint(w, "access_token=gho_1&scope=repo%2Cgist&token_type=bearer")
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeAuth(t)
			odd(f)
			w, _, _ := signedIn(t, f)
			echoes(t, w, "s")
			f.set(func() {
				if len(f.authorized) > 0 {
					assert.NotEmpty(t, f.authorized[0].Get("resource"))
				}
				if strings.Contains(name, "query") {
					assert.Equal(t, "x", f.authorized[0].Get("audience"))
				}
			})
			if name == "registration of another" {
				assert.Contains(t, strings.Join(w.Log("s"), "\n"), "noted another address to return to, http://localhost/callback")
			}
		})
	}
}

// What is unsafe or cannot be understood ends at once, with a sentence that names
// who is at fault and what to do.
func TestSignInsThatFailInWords(t *testing.T) {
	t.Parallel()
	const enter, tell, later = "enter it in the settings of s.", "ell whoever runs it", "Try again later."
	hangUp := func(path string) turn {
		return answering(path, func(*fakeAuth, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	}
	for name, c := range map[string]struct {
		odd  turn
		code core.Code
		want []string
	}{
		"nothing said at all": {challenged("/none"), core.CodeDenied, []string{"s wants you to sign in but does not say where. Add the key it asks for to its headers"}},
		"metadata elsewhere":  {challenged("/none", `Bearer resource_metadata="http://169.254.169.254/latest"`), core.CodeDenied, []string{"http://169.254.169.254/latest is not an https address", tell}},
		"metadata that leads away": {answering(resourcePlace+"/mcp", func(_ *fakeAuth, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://10.1.2.3/x", http.StatusFound)
		}), core.CodeDenied, []string{"private network", tell}},
		"no resource": {describing(func(_ *fakeAuth, m map[string]any) { delete(m, "resource") }), core.CodeDenied, []string{"does not say in its metadata for which resource"}},
		"resource with encryption": {describing(func(f *fakeAuth, m map[string]any) {
			m["resource"] = strings.Replace(f.mcp.URL, "http", "https", 1) + "/mcp"
		}), core.CodeDenied, []string{"which is not the address of s", "Check the URL; if it is right, tell whoever runs the server."}},
		"no issuer":               {describing(func(_ *fakeAuth, m map[string]any) { m["authorization_servers"] = []string{} }), core.CodeDenied, []string{"does not say where. Add the key"}},
		"private issuers only":    {describing(func(_ *fakeAuth, m map[string]any) { m["authorization_servers"] = []string{"https://10.0.0.1", "as"} }), core.CodeDenied, []string{"must not be used, https://10.0.0.1. Tell whoever runs s"}},
		"an issuer that is gone":  {describing(func(_ *fakeAuth, m map[string]any) { m["authorization_servers"] = []string{"http://127.0.0.1:1"} }), core.CodeUnavailable, []string{"127.0.0.1:1, where you sign in to s, cannot be reached", later}},
		"issuer unnamed":          {issuing(func(_ *fakeAuth, m map[string]any) { delete(m, "issuer") }), core.CodeDenied, []string{"does not say in its metadata who it is", tell}},
		"trouble everywhere":      {described("", "/none", 500), core.CodeUnavailable, []string{"does not say how to sign in to s: it answered HTTP 500", later}},
		"metadata without an end": {saying(issuerPlace, 200, "application/json", `{"issuer":"`+strings.Repeat("x", 3<<20)+`"}`), core.CodeUnavailable, []string{"its answer is too large"}},
		"metadata that leads on": {answering(issuerPlace, func(_ *fakeAuth, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}), core.CodeDenied, []string{"it redirects too often", tell}},
		"no introduction":           {issuing(func(_ *fakeAuth, m map[string]any) { delete(m, "registration_endpoint") }), core.CodeDenied, []string{"does not let programs introduce themselves", enter}},
		"no PKCE":                   {issuing(func(_ *fakeAuth, m map[string]any) { delete(m, "code_challenge_methods_supported") }), core.CodeDenied, []string{"does not protect sign-ins (PKCE with S256)", tell}},
		"a page without encryption": {issuing(func(_ *fakeAuth, m map[string]any) { m["authorization_endpoint"] = "http://as.example/a" }), core.CodeDenied, []string{"http://as.example/a is not an https address", tell}},
		"a page that is a script":   {issuing(func(_ *fakeAuth, m map[string]any) { m["authorization_endpoint"] = "javascript:alert(1)" }), core.CodeDenied, []string{"javascript:alert(1) is not an https address", tell}},
		"no page":                   {issuing(func(_ *fakeAuth, m map[string]any) { delete(m, "authorization_endpoint") }), core.CodeDenied, []string{"does not say where people sign in to s", tell}},
		"no tokens":                 {issuing(func(_ *fakeAuth, m map[string]any) { delete(m, "token_endpoint") }), core.CodeDenied, []string{"does not say where it gives out tokens for s", tell}},
		"introduction refused":      {saying("/register", 400, "application/json", `{"error":"invalid_redirect_uri","error_description":"only https"}`), core.CodeDenied, []string{"(HTTP 400, invalid_redirect_uri only https)", enter}},
		"introduction forbidden":    {saying("/register", 403, "application/json", `{"error":"insufficient_scope","error_description":"Policy 'Trusted Hosts' rejected request"}`), core.CodeDenied, []string{"Trusted Hosts", enter}},
		"introduction in trouble":   {saying("/register", 503, "text/html", `<h1>`), core.CodeUnavailable, []string{"has trouble (HTTP 503), so Patchbay could not introduce itself there for s", later}},
		"introduction cut off":      {hangUp("/register"), core.CodeUnavailable, []string{"it ended the connection without an answer", later}},
		"introduced as nobody":      {saying("/register", 201, "application/json", `{}`), core.CodeDenied, []string{"without a client id", enter}},
		"no answer":                 {callback("state=STATE"), core.CodeDenied, []string{"ended the sign-in to s without saying yes or no"}},
		"a resource unknown":        {callback("state=STATE&error=invalid_target&error_description=AADSTS9010010"), core.CodeDenied, []string{"invalid_target AADSTS9010010.", tell}},
		"trouble at the page":       {callback("state=STATE&error=temporarily_unavailable"), core.CodeUnavailable, []string{"has trouble with the sign-in to s: temporarily_unavailable.", later}},
		"a code refused":            {saying("/token", 400, "application/json", `{"error":"invalid_grant"}`), core.CodeDenied, []string{"invalid_grant. Sign in again."}},
		"a code refused with 200":   {saying("/token", 200, "application/json", `{"error":"bad_verification_code","error_description":"The code is incorrect"}`), core.CodeDenied, []string{"bad_verification_code: The code is incorrect. Sign in again."}},
		"a code refused in a form":  {saying("/token", 200, "application/x-www-form-urlencoded", `error=bad_verification_code&error_description=The+code`), core.CodeDenied, []string{"bad_verification_code: The code. Sign in again."}},
		"no token for the resource": {saying("/token", 400, "application/json", `{"error":"invalid_target"}`), core.CodeDenied, []string{"gives no token for http://", "invalid_target. Tell whoever runs it."}},
		"trouble with tokens":       {saying("/token", 500, "text/html", `<h1>`), core.CodeUnavailable, []string{"where you sign in to s, gave no token: HTTP 500", later}},
		"a page for a token":        {saying("/token", 200, "text/html", `<h1>`), core.CodeDenied, []string{"without a usable token for s", tell}},
		"tokens elsewhere": {answering("/token", func(_ *fakeAuth, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/x", http.StatusTemporaryRedirect)
		}), core.CodeUnavailable, []string{"HTTP 307"}},
		"a token cut off": {hangUp("/token"), core.CodeUnavailable, []string{"cannot be reached to get a token for s: it ended the connection", later}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeAuth(t)
			c.odd(f)
			w := newWorld(t, withPerson(&human{open: browser}))
			w.Apply([]core.ServerSpec{f.spec()})
			w.until("s", core.StateNeedsSignIn)
			err := w.SignIn(t.Context(), "s")
			require.Error(t, err)
			assert.Equal(t, c.code, core.CodeOf(err), "%v", err)
			for _, want := range c.want {
				assert.Contains(t, err.Error(), want)
			}
			f.set(func() { assert.Empty(t, f.access) })
			w.until("s", core.StateNeedsSignIn)
		})
	}
}

// What a refused refresh means: either a person must sign in, or it is tried again.
func TestRefreshesThatFail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		text   string
		code   core.Code
	}{
		"invalid_request":   {400, `{"error":"invalid_request"}`, core.CodeNeedsAuth},
		"refused with 200":  {200, `{"error":"bad_refresh_token"}`, core.CodeNeedsAuth},
		"trouble":           {500, `{"error":"invalid_grant"}`, core.CodeUnavailable},
		"too many requests": {429, `{"error":"slow_down"}`, core.CodeUnavailable},
		"nobody there":      {404, `<h1>`, core.CodeUnavailable},
		"worthless":         {200, `{"access_token":"worthless","refresh_token":"r"}`, core.CodeNeedsAuth},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeAuth(t)
			w, _, store := signedIn(t, f)
			refreshed := 0
			f.set(func() {
				f.before = func(rw http.ResponseWriter, r *http.Request, form url.Values) bool {
					if r.URL.Path != "/token" {
						return false
					}
					refreshed++
					rw.WriteHeader(c.status)
					fmt.Fprint(rw, c.text)
					return true
				}
			})
			f.revoke(false)
			_, err := w.call("s", "echo", `{}`)
			require.Error(t, err)
			assert.Equal(t, c.code, core.CodeOf(err), "%v", err)
			_, kept, _ := store.Get(t.Context(), "oauth/token/s")
			if c.code == core.CodeUnavailable {
				assert.True(t, kept, "it may be of use later")
				assert.Contains(t, err.Error(), "where you sign in to s, gave no token: HTTP ")
				return
			}
			st := w.until("s", core.StateNeedsSignIn)
			f.set(func() { assert.LessOrEqual(t, refreshed, 2, "one for the call, and one for the handshake after it") })
			if name == "worthless" {
				assert.Contains(t, st.Message, "s refused the token that 127.0.0.1:")
			}
		})
	}
}

// A server that is content with no token must not be asked for ever.
func TestTokensThatAreNeverGoodEnough(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t)
	f.before = func(w http.ResponseWriter, r *http.Request, _ url.Values) bool {
		if "http://"+r.Host != f.mcp.URL || r.URL.Path != "/mcp" {
			return false
		}
		f.unauthorized++
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token", resource_metadata="`+f.mcp.URL+resourcePlace+`/mcp"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	h := &human{open: browser}
	w := newWorld(t, withPerson(h))
	w.Apply([]core.ServerSpec{f.spec()})
	w.until("s", core.StateNeedsSignIn)
	require.NoError(t, w.SignIn(t.Context(), "s"))
	require.True(t, eventually(patience, func() bool {
		st := w.status("s")
		return st.State == core.StateNeedsSignIn && strings.Contains(st.Message, "refused the token that")
	}), "%+v", w.status("s"))
	_, _, opened := h.count()
	assert.Equal(t, 1, opened)
	f.set(func() { assert.LessOrEqual(t, len(f.refreshed), 2) })

	// The same for one permission.
	g := newFakeAuth(t)
	v, _, _ := signedIn(t, g)
	g.set(func() {
		g.before = func(w http.ResponseWriter, r *http.Request, _ url.Values) bool {
			if "http://"+r.Host != g.mcp.URL || !isCall(r) {
				return false
			}
			w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="write"`)
			w.WriteHeader(http.StatusForbidden)
			return true
		}
	})
	_, err := v.call("s", "echo", `{}`)
	assert.Equal(t, core.CodeNeedsAuth, core.CodeOf(err))
	require.NoError(t, v.SignIn(t.Context(), "s"))
	_, err = v.call("s", "echo", `{}`)
	assert.Equal(t, core.CodeDenied, core.CodeOf(err))
	assert.ErrorContains(t, err, "for want of a permission (write) that the sign-in gave already")
}

// Servers with the same authorization server share its registration, but what
// one of them was given must outlast a registration that takes its place.
func TestTwoServersOfOneIssuer(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t)
	secretly([]string{"client_secret_basic"}, "client_secret_basic", "basic")(f)
	w, _, _ := signedIn(t, f)
	_, a, err := w.authorizer(t.Context(), "s")
	require.NoError(t, err)
	u, err := url.Parse(a.tok.Load().Client.Redirect)
	require.NoError(t, err)
	taken, err := net.Listen("tcp", u.Host) // as by the sign-in to another server at the same time
	require.NoError(t, err)
	defer taken.Close()

	other := f.spec()
	other.Name = "other"
	w.Apply([]core.ServerSpec{f.spec(), other})
	w.until("other", core.StateNeedsSignIn)
	require.NoError(t, w.SignIn(t.Context(), "other"))
	w.until("other", core.StateConnected)
	f.set(func() { require.Len(t, f.registered, 2) })
	f.revoke(false)
	echoes(t, w, "s")
	echoes(t, w, "other")
	assert.Equal(t, core.StateConnected, w.status("s").State)
}

// A second answer of the browser, as by its reload, changes nothing.
func TestAnswerThatComesTwice(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t)
	h := &human{}
	h.open = func(ctx context.Context, server, address string) error {
		back, err := whereTo(ctx, address)
		if err != nil {
			return err
		}
		err = browser(ctx, server, back)
		_ = browser(ctx, server, back) // perhaps nobody listens any more
		return err
	}
	w := newWorld(t, withPerson(h))
	w.Apply([]core.ServerSpec{f.spec()})
	w.until("s", core.StateNeedsSignIn)
	require.NoError(t, w.SignIn(t.Context(), "s"))
	w.until("s", core.StateConnected)
	f.set(func() { assert.Len(t, f.exchanged, 1) })
}

// That the issuer does not take a token back must not keep a person signed in.
func TestSignOutWithoutRevocation(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t)
	w, _, store := signedIn(t, f)
	f.set(func() { saying("/revoke", 503, "text/html", "")(f) })
	require.NoError(t, w.SignOut(t.Context(), "s"))
	w.until("s", core.StateNeedsSignIn)
	_, there, _ := store.Get(t.Context(), "oauth/token/s")
	assert.False(t, there)
	require.Eventually(t, func() bool {
		return strings.Contains(strings.Join(w.Log("s"), "\n"), "the token was not revoked: HTTP 503")
	}, patience, time.Millisecond)
}

// The resource of a token never holds what is secret in a URL, nor what is not sent.
func TestResourceOfAServerThatSaysNothing(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t)
	f.as.URL = f.mcp.URL // it is its own authorization server
	const seen = "X-Seen"
	f.before = func(w http.ResponseWriter, r *http.Request, _ url.Values) bool {
		switch {
		case r.URL.Path == "/mcp" || r.Header.Get(seen) != "":
			return false
		case strings.HasPrefix(r.URL.Path, resourcePlace):
			http.NotFound(w, r)
			return true
		}
		r.Header.Set(seen, "1")
		f.mu.Unlock()
		defer f.mu.Lock()
		f.serveAS(w, r)
		return true
	}
	spec := f.spec()
	spec.URL = strings.Replace(spec.URL, "http://", "http://u:p@", 1) + "?k=v#here"
	w := newWorld(t, withPerson(&human{open: browser}))
	w.Apply([]core.ServerSpec{spec})
	w.until("s", core.StateNeedsSignIn)
	require.NoError(t, w.SignIn(t.Context(), "s"))
	w.until("s", core.StateConnected)
	echoes(t, w, "s")
	f.set(func() { assert.Equal(t, f.mcp.URL+"/mcp?k=v", f.authorized[0].Get("resource")) })
}

// Trouble at the token endpoint does not pass for wrong credentials of our own,
// which nobody tries again.
func TestTroubleWithCredentials(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		text   string
		again  bool
	}{
		{502, "<h1>", true}, {400, `{"error":"temporarily_unavailable"}`, true}, {401, `{"error":"invalid_client"}`, false},
	} {
		f := newFakeAuth(t)
		saying("/token", c.status, "application/json", c.text)(f)
		w := newWorld(t, func(o *Options) {
			o.Auth = func(string) AuthConfig {
				return AuthConfig{Grant: GrantClient, ClientID: "mine", ClientSecret: "secret"}
			}
		})
		w.Apply([]core.ServerSpec{f.spec()})
		require.True(t, eventually(patience, func() bool { return w.status("s").State == core.StateFailed }), "%+v", w.status("s"))
		st := w.status("s")
		assert.Equal(t, c.again, st.RetryAt != "", st.Message)
		assert.Equal(t, c.again, st.Fix == core.FixReconnect, st.Message)
	}
}
