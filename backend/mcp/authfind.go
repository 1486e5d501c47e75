package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"patchbay/backend/core"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// resourceMeta is what a server says about who may use it (RFC 9728).
type resourceMeta struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`
	DPoP     bool     `json:"dpop_bound_access_tokens_required"`
}

// issuerMeta is what an authorization server says about itself (RFC 8414).
type issuerMeta struct {
	Issuer       string   `json:"issuer"`
	Authorize    string   `json:"authorization_endpoint"`
	Token        string   `json:"token_endpoint"`
	Register     string   `json:"registration_endpoint"`
	Revoke       string   `json:"revocation_endpoint"`
	Scopes       []string `json:"scopes_supported"`
	Methods      []string `json:"token_endpoint_auth_methods_supported"`
	Challenges   []string `json:"code_challenge_methods_supported"`
	Documents    bool     `json:"client_id_metadata_document_supported"`
	SendsIssuer  bool     `json:"authorization_response_iss_parameter_supported"` // RFC 9207
	undocumented bool     // the endpoints are guesses
}

// target is where a token comes from, and what it will be good for.
type target struct {
	resource string
	scopes   []string // that the server supports
	dpop     bool     // bound tokens are demanded
	as       issuerMeta
}

// bind says what g is good for.
func (t *target) bind(g *grant, a *authorizer) {
	g.Server, g.Issuer, g.Resource, g.TokenURL, g.Methods = a.url.String(), t.as.Issuer, t.resource, t.as.Token, t.as.Methods
	g.Grant, g.Revoke = a.cfg.Grant, t.as.Revoke
}

// discover finds out where to get a token (MCP 2025-11-25, Authorization,
// Authorization Server Discovery). The error is an *authError.
func (a *authorizer) discover(ctx context.Context) (*target, error) {
	a.locate(ctx)
	pr, err := a.resource(ctx)
	if err != nil {
		return nil, err
	}
	issuer := pr.Servers[0]
	for _, known := range []string{a.cfg.Issuer, issuerOf(a.tok.Load())} {
		if i := slices.IndexFunc(pr.Servers, func(s string) bool { return sameIssuer(s, known) }); i >= 0 {
			issuer = pr.Servers[i]
			break
		}
	}
	as, err := a.issuer(ctx, issuer)
	if err != nil {
		return nil, err
	}
	return &target{resource: pr.Resource, scopes: pr.Scopes, dpop: pr.DPoP, as: *as}, nil
}

func issuerOf(g *grant) string {
	if g == nil {
		return ""
	}
	return g.Issuer
}

// sameIssuer compares two identifiers, of which one may lack its last slash, as
// it happens when servers copy them.
func sameIssuer(a, b string) bool {
	return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/")
}

// resource reads the server's metadata, from where it pointed us to, else from
// the well-known places (MCP 2025-11-25, Protected Resource Metadata Discovery
// Requirements).
func (a *authorizer) resource(ctx context.Context) (*resourceMeta, error) {
	root := *a.url
	root.RawQuery, root.Fragment, root.User = "", "", nil
	path := strings.TrimSuffix(root.EscapedPath(), "/")
	var places []string
	if p := a.refused.Load().param("resource_metadata"); p != "" {
		places = append(places, p)
	}
	root.Path, root.RawPath = "", ""
	const wellKnown = "/.well-known/oauth-protected-resource"
	if path != "" {
		places = append(places, root.String()+wellKnown+path)
	}
	places = append(places, root.String()+wellKnown)
	var wrong, trouble error
	for _, p := range places {
		var m resourceMeta
		err := a.document(ctx, p, &m)
		switch {
		case errors.Is(err, errAbsent):
			continue
		case ctx.Err() != nil:
			return nil, authFailed(false, ctx.Err(), "%s took too long to say how to sign in.", a.url.Host)
		case err != nil:
			a.say("%s cannot be read: %v", p, err)
			trouble = err
			continue
		case !a.covers(m.Resource):
			a.say("%s is about another resource, %s", p, core.Clip(m.Resource, 200))
			wrong = authFailed(true, nil, "%s says that it is %s, which is not the address of %s. A token for it is not asked for. Check the URL.", a.url.Host, core.Clip(m.Resource, 200), a.server)
			continue
		case len(m.Servers) == 0:
			return nil, authFailed(true, nil, "%s wants you to sign in but does not say where. Add the key it asks for to its headers.", a.server)
		}
		a.say("resource metadata found at %s", p)
		return &m, nil
	}
	if wrong != nil {
		return nil, wrong
	}
	if trouble != nil {
		return nil, authFailed(false, trouble, "%s does not say how to sign in: %s", a.url.Host, sentence(netCause(trouble)))
	}
	// MCP 2025-03-26, Authorization: the server is its own authorization server.
	a.say("there is no resource metadata; taking the server for its own authorization server")
	return &resourceMeta{Resource: a.url.String(), Servers: []string{root.String()}}, nil
}

// covers reports whether resource is the server's address or, on the same host,
// a path above it: then a token for it goes nowhere else (RFC 9728, 3.3; RFC
// 8707, 2).
func (a *authorizer) covers(resource string) bool {
	r, err := url.Parse(resource)
	if err != nil || !strings.EqualFold(r.Scheme, a.url.Scheme) || !strings.EqualFold(r.Host, a.url.Host) || r.User != nil {
		return false
	}
	above, path := strings.TrimSuffix(r.EscapedPath(), "/")+"/", strings.TrimSuffix(a.url.EscapedPath(), "/")+"/"
	return strings.HasPrefix(path, above) && (r.RawQuery == "" || r.RawQuery == a.url.RawQuery)
}

// issuer reads an authorization server's metadata (MCP 2025-11-25,
// Authorization Server Metadata Discovery).
func (a *authorizer) issuer(ctx context.Context, id string) (*issuerMeta, error) {
	u, err := url.Parse(id)
	if err != nil || a.checkEndpoint(id) != nil {
		return nil, authFailed(true, err, "%s names an authorization server that must not be used: %s.", a.server, core.Clip(id, 200))
	}
	base, path := u.Scheme+"://"+u.Host, strings.TrimSuffix(u.EscapedPath(), "/")
	places := []string{base + "/.well-known/oauth-authorization-server" + path, base + "/.well-known/openid-configuration" + path}
	if path != "" {
		places = append(places, base+path+"/.well-known/openid-configuration")
	}
	for _, p := range places {
		var m issuerMeta
		err := a.document(ctx, p, &m)
		switch {
		case errors.Is(err, errAbsent):
			continue
		case err != nil:
			return nil, authFailed(ctx.Err() == nil && errors.Is(err, errPrivate), err, "%s, where you sign in to %s, cannot be reached: %s", u.Host, a.server, sentence(netCause(err)))
		case !sameIssuer(m.Issuer, id):
			// MCP 2026-07-28, Authorization: metadata of somebody else must not be used.
			return nil, authFailed(true, nil, "%s claims to be another authorization server, %s. Patchbay does not sign in there.", u.Host, core.Clip(m.Issuer, 200))
		}
		for _, e := range []string{m.Authorize, m.Token, m.Register} {
			if err := a.checkEndpoint(e); e != "" && err != nil {
				return nil, authFailed(true, err, "%s names an address that must not be used: %s", u.Host, sentence(err.Error()))
			}
		}
		if m.Revoke != "" && a.checkEndpoint(m.Revoke) != nil {
			m.Revoke = "" // a token can do without
		}
		if m.Token == "" {
			return nil, authFailed(true, nil, "%s does not say where it gives out tokens.", u.Host)
		}
		a.say("authorization server %s found at %s", m.Issuer, p)
		return &m, nil
	}
	// MCP 2025-03-26, Authorization, Fallbacks for Servers without Metadata Discovery.
	a.say("%s describes itself nowhere; taking the usual addresses", base)
	return &issuerMeta{Issuer: id, Authorize: base + "/authorize", Token: base + "/token", Register: base + "/register", undocumented: true}, nil
}

// scopes are what to ask for (MCP 2025-11-25, Scope Selection Strategy): what
// the server demanded, else all that it supports, else nothing; and what was
// granted before, lest a step up costs it (MCP 2026-07-28, Step-Up Authorization Flow).
func (a *authorizer) scopes(t *target, old *grant) []string {
	want := a.refused.Load().scopes()
	if len(want) == 0 {
		want = t.scopes
	}
	want = union(want, a.cfg.Scopes)
	if a.cfg.Grant == GrantPerson && slices.Contains(t.as.Scopes, "offline_access") {
		want = union(want, []string{"offline_access"}) // else there may be no refresh token (SEP-2207)
	}
	if old != nil && old.Issuer == t.as.Issuer {
		want = union(old.Scopes, want)
	}
	return want
}

// prover returns a key for the token, nil if it need not be bound to one.
func (a *authorizer) prover(t *target) (*prover, error) {
	bound := a.cfg.DPoP || t.dpop
	if r := a.refused.Load(); r != nil {
		bound = bound || slices.ContainsFunc(r.challenges, func(c oauthex.Challenge) bool { return c.Scheme == "dpop" })
	}
	if !bound {
		return nil, nil
	}
	p, err := newProver()
	if err != nil {
		return nil, authFailed(false, err, "A key for %s could not be made: %s", a.server, sentence(err.Error()))
	}
	return p, nil
}

// configured is the client of the configuration. methods is what the
// authorization server supports.
func (a *authorizer) configured(issuer string, methods []string) (*oauthClient, error) {
	if a.cfg.Issuer != "" && !sameIssuer(a.cfg.Issuer, issuer) {
		return nil, authFailed(true, nil, "The client id for %s belongs to %s, but the server now wants you to sign in at %s. Get a client id there.", a.server, a.cfg.Issuer, issuer)
	}
	c := &oauthClient{ID: a.cfg.ClientID, Secret: a.cfg.ClientSecret, issuer: issuer}
	switch {
	case a.cfg.PrivateKey != nil:
		c.Method = "private_key_jwt"
	case c.Secret != "" && slices.Contains(methods, "client_secret_post") && !slices.Contains(methods, "client_secret_basic"):
		c.Method = "client_secret_post"
	}
	return c, nil
}

// clientName is where the registration with an issuer is stored.
func clientName(issuer string) string {
	sum := sha256.Sum256([]byte(issuer))
	return "oauth/client/" + hex.EncodeToString(sum[:16])
}

func (a *authorizer) storedClient(ctx context.Context, issuer string) *oauthClient {
	text, ok, err := a.o.Tokens.Get(ctx, clientName(issuer))
	c := &oauthClient{dynamic: true}
	if err != nil || !ok || decodeStored(text, c) != nil || c.ID == "" || !c.Expiry.IsZero() && time.Now().After(c.Expiry) {
		return nil
	}
	return c
}

func (a *authorizer) forgetClient(ctx context.Context, issuer string) {
	if err := a.o.Tokens.Delete(ctx, clientName(issuer)); err != nil {
		a.say("the registration could not be forgotten: %v", err)
		return
	}
	a.say("registration with %s forgotten", issuer)
}

// clientOf is the client that a token was given to.
func (a *authorizer) clientOf(ctx context.Context, g *grant) (*oauthClient, error) {
	if a.cfg.ClientID != "" && g.ClientID == a.cfg.ClientID {
		return a.configured(g.Issuer, g.Methods)
	}
	if c := a.storedClient(ctx, g.Issuer); c != nil && c.ID == g.ClientID {
		return c, nil
	}
	return &oauthClient{ID: g.ClientID}, nil
}

// client decides what the authorization server shall know us by (MCP
// 2026-07-28, Client Registration Approaches): what it was told beforehand, our
// description, or a registration, which is made once per issuer and address to
// return to.
func (a *authorizer) client(ctx context.Context, t *target, redirect string) (*oauthClient, error) {
	switch {
	case a.cfg.ClientID != "":
		return a.configured(t.as.Issuer, t.as.Methods)
	case a.cfg.MetadataURL != "" && t.as.Documents:
		return &oauthClient{ID: a.cfg.MetadataURL}, nil
	}
	if c := a.storedClient(ctx, t.as.Issuer); c != nil && c.Redirect == redirect {
		return c, nil
	}
	if t.as.Register == "" {
		return nil, authFailed(true, nil, "%s does not let programs introduce themselves. Get a client id for Patchbay there and enter it.", t.as.Issuer)
	}
	return a.register(ctx, t, redirect)
}

// register introduces us (RFC 7591).
func (a *authorizer) register(ctx context.Context, t *target, redirect string) (*oauthClient, error) {
	meta := map[string]any{
		"client_name": a.o.ClientName, "redirect_uris": []string{redirect}, "application_type": "native",
		"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"},
	}
	for _, m := range []string{"none", "client_secret_basic", "client_secret_post"} {
		if slices.Contains(t.as.Methods, m) {
			meta["token_endpoint_auth_method"] = m
			break
		}
	}
	body, err := json.Marshal(meta)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.as.Register, bytes.NewReader(body))
	if err != nil {
		return nil, authFailed(true, err, "%s names no usable address for registrations.", t.as.Issuer)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	host := req.URL.Host
	status, _, body, err := answer(a.http(), req)
	if err != nil {
		return nil, authFailed(false, err, "%s cannot be reached to introduce Patchbay: %s", host, sentence(netCause(err)))
	}
	if status/100 != 2 {
		te := &tokenError{status: status, host: host}
		_ = json.Unmarshal(body, te)
		return nil, authFailed(true, te, "%s does not let Patchbay introduce itself (HTTP %d %s). Get a client id there and enter it.", host, status, core.Clip(te.Code+" "+te.Description, 200))
	}
	var w struct {
		ID      string `json:"client_id"`
		Secret  string `json:"client_secret"`
		Method  string `json:"token_endpoint_auth_method"`
		Expires int64  `json:"client_secret_expires_at"`
	}
	if json.Unmarshal(body, &w) != nil || w.ID == "" {
		return nil, authFailed(true, nil, "%s answered the introduction of Patchbay without a client id.", host)
	}
	c := &oauthClient{ID: w.ID, Secret: w.Secret, Method: w.Method, Redirect: redirect, dynamic: true}
	if w.Method == "none" {
		c.Secret = ""
	}
	if w.Expires > 0 {
		c.Expiry = time.Unix(w.Expires, 0)
	}
	a.say("client registered with %s", t.as.Issuer)
	if err := a.o.Tokens.Set(ctx, clientName(t.as.Issuer), encodeStored(c)); err != nil {
		a.say("the registration could not be stored: %v", err)
	}
	return c, nil
}
