package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"patchbay/backend/core"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// resourceMeta is what a server says about who may use it (RFC 9728).
type resourceMeta struct {
	Resource string `json:"resource"`
	Servers  texts  `json:"authorization_servers"`
	Scopes   texts  `json:"scopes_supported"`
	DPoP     bool   `json:"dpop_bound_access_tokens_required"`
	guessed  bool   // the server says nothing about itself
}

// issuerMeta is what an authorization server says about itself (RFC 8414).
type issuerMeta struct {
	Issuer       string `json:"issuer"`
	Authorize    string `json:"authorization_endpoint"`
	Token        string `json:"token_endpoint"`
	Register     string `json:"registration_endpoint"`
	Revoke       string `json:"revocation_endpoint"`
	Scopes       texts  `json:"scopes_supported"`
	Methods      texts  `json:"token_endpoint_auth_methods_supported"`
	Challenges   texts  `json:"code_challenge_methods_supported"`
	Documents    bool   `json:"client_id_metadata_document_supported"`
	SendsIssuer  bool   `json:"authorization_response_iss_parameter_supported"` // RFC 9207
	undocumented bool   // the endpoints are guesses
}

// target is where a token comes from, and what it will be good for.
type target struct {
	resource string
	scopes   []string // that the server supports
	dpop     bool     // bound tokens are demanded
	guessed  bool     // the server says nothing about itself
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
	issuers := []string(pr.Servers)
	for _, known := range []string{a.cfg.Issuer, issuerOf(a.tok.Load())} {
		if i := slices.IndexFunc(issuers, func(s string) bool { return sameIssuer(s, known) }); i >= 0 {
			issuers = issuers[i : i+1]
			break
		}
	}
	// Which of several to use is for the client to say (RFC 9728, 7.6): the first
	// that says how, else the first that can be guessed at.
	var as *issuerMeta
	var why error
	for _, id := range issuers {
		found, err := a.issuer(ctx, id)
		if err == nil && (as == nil || !found.undocumented) {
			as = found
		}
		if why == nil {
			why = err
		}
		if as != nil && !as.undocumented || ctx.Err() != nil {
			break
		}
	}
	if as == nil {
		return nil, why
	}
	return &target{resource: pr.Resource, scopes: pr.Scopes, dpop: pr.DPoP, guessed: pr.guessed, as: *as}, nil
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
		if u, err := a.url.Parse(p); err == nil { // some leave the host out
			u.User = nil
			p = u.String()
		}
		places = append(places, p)
	}
	root.Path, root.RawPath = "", ""
	const wellKnown = "/.well-known/oauth-protected-resource"
	if path != "" {
		places = append(places, root.String()+wellKnown+path)
	}
	places = append(places, root.String()+wellKnown)
	var wrong, trouble error
	for i, p := range places {
		if slices.Contains(places[:i], p) {
			continue
		}
		var m resourceMeta
		err := a.document(ctx, p, &m)
		switch {
		case errors.Is(err, errAbsent):
			continue
		case ctx.Err() != nil:
			return nil, authFailed(false, ctx.Err(), "%s took too long to say how to sign in to %s.", a.url.Host, a.server)
		case err != nil:
			a.say("%s cannot be read: %v", p, err)
			trouble = err
			continue
		case m.Resource == "": // RFC 9728, 2: required
			wrong = authFailed(true, nil, "%s does not say in its metadata for which resource one signs in, so no token is asked for. Tell whoever runs %s, or add the key it takes to its headers.", a.url.Host, a.server)
			continue
		case !a.covers(m.Resource):
			a.say("%s is about another resource, %s", p, core.Clip(m.Resource, 200))
			wrong = authFailed(true, nil, "%s says that it is %s, which is not the address of %s. A token for it is not asked for. Check the URL; if it is right, tell whoever runs the server.", a.url.Host, core.Clip(m.Resource, 200), a.server)
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
		return nil, authFailed(errors.As(trouble, new(unusable)), trouble, "%s does not say how to sign in to %s: %s%s", a.url.Host, a.server, sentence(netCause(trouble)), wayOut(trouble))
	}
	// MCP 2025-03-26, Authorization: the server is its own authorization server.
	a.say("there is no resource metadata; taking the server for its own authorization server")
	own := *a.url
	own.User, own.Fragment, own.RawFragment = nil, "", "" // RFC 8707, 2
	return &resourceMeta{Resource: own.String(), Servers: texts{root.String()}, guessed: true}, nil
}

// covers reports whether resource is the server's address or, on the same host,
// a path above it: then a token for it goes nowhere else (RFC 9728, 3.3; RFC
// 8707, 2).
func (a *authorizer) covers(resource string) bool {
	r, err := url.Parse(resource)
	if err != nil || !strings.EqualFold(r.Scheme, a.url.Scheme) || !strings.EqualFold(plainHost(r), plainHost(a.url)) || r.User != nil {
		return false
	}
	above, path := strings.TrimSuffix(r.EscapedPath(), "/")+"/", strings.TrimSuffix(a.url.EscapedPath(), "/")+"/"
	return strings.HasPrefix(path, above) && (r.RawQuery == "" || r.RawQuery == a.url.RawQuery)
}

// wayOut is what to do about err, "" where trying again is.
func wayOut(err error) string {
	if errors.As(err, new(unusable)) {
		return " Tell whoever runs it."
	}
	return ""
}

// plainHost is the host of u, with its port unless that is the usual one.
func plainHost(u *url.URL) string {
	if p := map[string]string{"https": ":443", "http": ":80"}[strings.ToLower(u.Scheme)]; p != "" {
		return strings.TrimSuffix(u.Host, p)
	}
	return u.Host
}

// issuer reads an authorization server's metadata (MCP 2025-11-25,
// Authorization Server Metadata Discovery).
func (a *authorizer) issuer(ctx context.Context, id string) (*issuerMeta, error) {
	u, err := url.Parse(id)
	if err != nil || a.checkEndpoint(id) != nil {
		return nil, authFailed(true, err, "%s names an authorization server that must not be used, %s. Tell whoever runs %s, or add the key it takes to its headers.", a.server, core.Clip(id, 200), a.server)
	}
	base, path := u.Scheme+"://"+u.Host, strings.TrimSuffix(u.EscapedPath(), "/")
	places := []string{base + "/.well-known/oauth-authorization-server" + path, base + "/.well-known/openid-configuration" + path}
	if path != "" {
		places = append(places, base+path+"/.well-known/openid-configuration", base+path+"/.well-known/oauth-authorization-server")
	}
	var trouble error
	for _, p := range places {
		var m issuerMeta
		err := a.document(ctx, p, &m)
		switch {
		case errors.Is(err, errAbsent):
			continue
		case errors.As(err, new(*url.Error)): // another place of the same host is no better
			return nil, authFailed(errors.As(err, new(unusable)), err, "%s, where you sign in to %s, cannot be reached: %s%s", u.Host, a.server, sentence(netCause(err)), wayOut(err))
		case err != nil:
			trouble = err
			continue
		case m.Issuer == "": // RFC 8414, 2: required
			return nil, authFailed(true, nil, "%s does not say in its metadata who it is, so Patchbay does not sign in to %s there. Tell whoever runs it.", u.Host, a.server)
		case !sameIssuer(m.Issuer, id):
			// MCP 2026-07-28, Authorization: metadata of somebody else must not be used.
			return nil, authFailed(true, nil, "%s claims to be another authorization server, %s. Patchbay does not sign in to %s there. Tell whoever runs it.", u.Host, core.Clip(m.Issuer, 200), a.server)
		}
		for _, e := range []string{m.Authorize, m.Token, m.Register} {
			if err := a.checkEndpoint(e); e != "" && err != nil {
				return nil, authFailed(true, err, "%s, where you sign in to %s, names an address that must not be used: %s Tell whoever runs it.", u.Host, a.server, sentence(err.Error()))
			}
		}
		if m.Revoke != "" && a.checkEndpoint(m.Revoke) != nil {
			m.Revoke = "" // a token can do without
		}
		if m.Token == "" {
			return nil, authFailed(true, nil, "%s does not say where it gives out tokens for %s. Tell whoever runs it.", u.Host, a.server)
		}
		a.say("authorization server %s found at %s", m.Issuer, p)
		return &m, nil
	}
	if trouble != nil {
		return nil, authFailed(false, trouble, "%s does not say how to sign in to %s: %s", u.Host, a.server, sentence(netCause(trouble)))
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
		return nil, authFailed(true, nil, "The client id for %s belongs to %s, but the server now wants you to sign in at %s. Get a client id there and enter it in its settings.", a.server, a.cfg.Issuer, issuer)
	}
	c := &oauthClient{ID: a.cfg.ClientID, Secret: a.cfg.ClientSecret, issuer: issuer}
	switch {
	case a.cfg.PrivateKey != nil:
		c.Method = "private_key_jwt"
	case c.Secret != "" && postOnly(methods):
		c.Method = "client_secret_post"
	}
	return c, nil
}

// postOnly reports whether a secret can go into the body only.
func postOnly(methods []string) bool {
	return slices.Contains(methods, "client_secret_post") && !slices.Contains(methods, "client_secret_basic")
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
	if g.Client != nil && g.Client.ID == g.ClientID {
		return g.Client, nil
	}
	if c := a.storedClient(ctx, g.Issuer); c != nil && c.ID == g.ClientID { // of a token that an earlier version stored
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
		return nil, authFailed(true, nil, "%s does not let programs introduce themselves. Get a client id for Patchbay there and enter it in the settings of %s.", t.as.Issuer, a.server)
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
		return nil, authFailed(true, err, "%s names no usable address for registrations. Get a client id there and enter it in the settings of %s.", t.as.Issuer, a.server)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	host := req.URL.Host
	status, _, body, err := answer(a.http(), req)
	if err != nil {
		return nil, authFailed(false, err, "%s cannot be reached to introduce Patchbay for %s: %s", host, a.server, sentence(netCause(err)))
	}
	if status/100 != 2 {
		return nil, a.notIntroduced(t, host, status, body)
	}
	var w struct {
		ID        string          `json:"client_id"`
		Secret    string          `json:"client_secret"`
		Method    string          `json:"token_endpoint_auth_method"`
		Expires   json.RawMessage `json:"client_secret_expires_at"` // some send it as a string
		Redirects texts           `json:"redirect_uris"`
	}
	if !lenient(unmarked(body), &w) || w.ID == "" {
		return nil, authFailed(true, nil, "%s answered the introduction of Patchbay without a client id. Get one there and enter it in the settings of %s.", host, a.server)
	}
	c := &oauthClient{ID: w.ID, Secret: w.Secret, Method: w.Method, Redirect: redirect, dynamic: true}
	switch {
	case w.Method == "none":
		c.Secret = ""
	case w.Method == "" && w.Secret != "" && postOnly(t.as.Methods):
		c.Method = "client_secret_post"
	}
	if n, err := strconv.ParseInt(strings.Trim(string(w.Expires), `"`), 10, 64); err == nil && n > 0 {
		c.Expiry = time.Unix(n, 0)
	}
	if len(w.Redirects) > 0 && !slices.Contains(w.Redirects, redirect) {
		a.say("%s noted another address to return to, %s in the place of %s, so the sign-in may be refused there", host, core.Clip(w.Redirects[0], 200), redirect)
	}
	a.say("client registered with %s", t.as.Issuer)
	if err := a.o.Tokens.Set(ctx, clientName(t.as.Issuer), encodeStored(c)); err != nil {
		a.say("the registration could not be stored: %v", err)
	}
	return c, nil
}

// notIntroduced is the error of an introduction that was answered with status.
func (a *authorizer) notIntroduced(t *target, host string, status int, body []byte) error {
	te := &tokenError{status: status, host: host}
	_ = json.Unmarshal(body, te)
	said := fmt.Sprintf("HTTP %d", status)
	if text := strings.TrimSpace(te.Code + " " + te.Description); text != "" {
		said += ", " + core.Clip(text, 200)
	}
	switch {
	case status >= 500, status == http.StatusTooManyRequests:
		return authFailed(false, te, "%s has trouble (%s), so Patchbay could not introduce itself there for %s.", host, said, a.server)
	case t.guessed && t.as.undocumented:
		return authFailed(true, te, "%s wants you to sign in but does not say where. Add the key it asks for to its headers, or enter a client id for it in its settings.", a.server)
	}
	return authFailed(true, te, "%s does not let Patchbay introduce itself (%s). Get a client id there and enter it in the settings of %s.", host, said, a.server)
}
