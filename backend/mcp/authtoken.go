package mcp

import (
	"bytes"
	"context"
	"encoding/base64"
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
)

// tokenLimit bounds one exchange with an authorization server, discovery included.
const tokenLimit = 30 * time.Second

// oauthClient is what an authorization server knows us by.
type oauthClient struct {
	ID       string    `json:"id"`
	Secret   string    `json:"secret,omitempty"`
	Method   string    `json:"method,omitempty"`   // of authentication at the token endpoint (RFC 7591, 2)
	Redirect string    `json:"redirect,omitempty"` // that was registered
	Expiry   time.Time `json:"expiry,omitzero"`    // of the secret
	dynamic  bool      // we introduced ourselves
	issuer   string    // whom a signature is for
}

// tokenError is an answer of a token endpoint that is no token (RFC 6749, 5.2).
type tokenError struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
	status      int
	host        string
}

func (e *tokenError) Error() string {
	s := e.Code
	if e.Description != "" {
		s += ": " + core.Clip(e.Description, 200)
	}
	if s == "" {
		s = http.StatusText(e.status)
	}
	return fmt.Sprintf("%s refused the request for a token (HTTP %d): %s", e.host, e.status, s)
}

// dead reports whether the same request will be refused for ever.
func (e *tokenError) dead() bool { return e.Code != "" && e.status < 500 && !passing(e.Code) }

// passing reports whether an error says of itself that it will not last (RFC
// 6749, 4.1.2.1; RFC 8628, 3.5).
func passing(code string) bool {
	return slices.Contains([]string{"server_error", "temporarily_unavailable", "slow_down", "authorization_pending", "use_dpop_nonce"}, code)
}

// token makes one request for a token. c authenticates us; nil for not at all.
// proof binds the token to a key; nil for not. What the grant is good for is
// for the caller to fill in. The error is a *tokenError or an *authError.
func (a *authorizer) token(ctx context.Context, endpoint string, form url.Values, c *oauthClient, proof *prover) (*grant, error) {
	for k, v := range form {
		if v[0] == "" {
			delete(form, k)
		}
	}
	header := http.Header{}
	if c != nil {
		if err := a.identify(form, header, c); err != nil {
			return nil, err
		}
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return nil, authFailed(true, err, "The token endpoint %s is not a usable address.", core.Clip(endpoint, 200))
	}
	for again := false; ; again = true {
		if proof != nil {
			header.Set("DPoP", proof.sign(http.MethodPost, u, ""))
		}
		status, answer, body, err := postForm(ctx, a.http(), endpoint, form, header)
		if err != nil {
			return nil, authFailed(false, err, "%s cannot be reached to get a token for %s: %s", u.Host, a.server, sentence(netCause(err)))
		}
		if proof != nil {
			proof.learn(u, answer)
		}
		body = unformed(body)
		te := &tokenError{status: status, host: u.Host}
		_ = json.Unmarshal(body, te)
		if status/100 == 2 && te.Code == "" { // some say so even to what they refuse
			return a.readToken(body, u.Host, form.Has("requested_token_type"), proof)
		}
		if te.Code == "use_dpop_nonce" && proof != nil && !again {
			continue
		}
		if te.Code == "" || status >= 500 || status == http.StatusTooManyRequests {
			return nil, authFailed(false, nil, "%s, where you sign in to %s, gave no token: HTTP %d (%s).", u.Host, a.server, status, http.StatusText(status))
		}
		return nil, te
	}
}

// unformed makes JSON of an answer that is a form, as some give it whatever is
// asked for. Any other is returned as it is.
func unformed(body []byte) []byte {
	if text := string(bytes.TrimSpace(body)); !strings.ContainsAny(text, "{<\"\n ") {
		if q, err := url.ParseQuery(text); err == nil && (q.Has("access_token") || q.Has("error")) {
			flat := map[string]string{}
			for k := range q {
				flat[k] = q.Get(k)
			}
			if b, err := json.Marshal(flat); err == nil {
				return b
			}
		}
	}
	return unmarked(body)
}

// identify adds what proves who we are (RFC 6749, 2.3; RFC 7523, 2.2).
func (a *authorizer) identify(form url.Values, header http.Header, c *oauthClient) error {
	switch {
	case c.Method == "private_key_jwt":
		jwt, err := clientJWT(a.cfg.PrivateKey, c.ID, c.issuer)
		if err != nil {
			return authFailed(true, err, "The private key for %s cannot sign: %s", a.server, sentence(err.Error()))
		}
		form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		form.Set("client_assertion", jwt)
	case c.Secret == "":
		form.Set("client_id", c.ID)
	case c.Method == "client_secret_post":
		form.Set("client_id", c.ID)
		form.Set("client_secret", c.Secret)
	default:
		header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(c.ID)+":"+url.QueryEscape(c.Secret))))
	}
	return nil
}

// readToken reads a successful answer (RFC 6749, 5.1). assertion says that no
// access token was asked for but something to trade for one (RFC 8693, 2.2.1).
func (a *authorizer) readToken(body []byte, host string, assertion bool, proof *prover) (*grant, error) {
	var w struct {
		Access  string          `json:"access_token"`
		Type    string          `json:"token_type"`
		Expires json.RawMessage `json:"expires_in"` // some send it as a string
		Refresh string          `json:"refresh_token"`
		Scope   texts           `json:"scope"`
	}
	if !lenient(body, &w) || w.Access == "" || strings.ContainsFunc(w.Access, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, authFailed(true, nil, "%s answered without a usable token for %s. Tell whoever runs it.", host, a.server)
	}
	g := &grant{Access: w.Access, Refresh: w.Refresh, Scopes: w.Scope}
	if len(g.Scopes) == 0 {
		g.Scopes = nil
	}
	if n, err := strconv.ParseFloat(strings.Trim(string(w.Expires), `"`), 64); err == nil && n > 0 && n < 1e9 {
		g.Expiry = time.Now().Add(time.Duration(n * float64(time.Second))).Round(0)
	}
	switch kind := strings.ToLower(w.Type); {
	case kind == "dpop" && proof != nil:
		g.proof, g.Key = proof, proof.key
	case kind == "bearer", kind == "", assertion && kind == "n_a":
	default:
		return nil, authFailed(true, nil, "%s answered with a token of the unknown type %q, which cannot be used for %s. Tell whoever runs it.", host, core.Clip(w.Type, 40), a.server)
	}
	a.hidden.learn([]string{g.Access, g.Refresh})
	return g, nil
}

// machine gets a token without a person.
func (a *authorizer) machine(ctx context.Context, old *grant) (*grant, error) {
	t, err := a.discover(ctx)
	if err != nil {
		return nil, err
	}
	scopes := a.scopes(t, old)
	form := url.Values{"scope": {strings.Join(scopes, " ")}, "resource": {t.resource}}
	var c *oauthClient
	if a.cfg.ClientID != "" {
		if c, err = a.configured(t.as.Issuer, t.as.Methods); err != nil {
			return nil, err
		}
	}
	switch a.cfg.Grant {
	case GrantClient:
		if c == nil {
			return nil, authFailed(true, nil, "To sign in to %s with credentials of its own, Patchbay needs a client id. Enter it.", a.server)
		}
		form.Set("grant_type", "client_credentials")
	case GrantWorkload, GrantEnterprise:
		form.Set("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer")
		assertion, err := a.assertion(ctx, t)
		if err != nil {
			return nil, err
		}
		form.Set("assertion", assertion)
	default:
		return nil, authFailed(true, nil, "Signing in to %s by %q is not known to Patchbay. Correct its configuration.", a.server, a.cfg.Grant)
	}
	proof, err := a.prover(t)
	if err != nil {
		return nil, err
	}
	g, err := a.token(ctx, t.as.Token, form, c, proof)
	if err != nil {
		var te *tokenError
		if errors.As(err, &te) {
			return nil, authFailed(te.dead(), te, "%s cannot be used: %s", a.server, sentence(te.Error()))
		}
		return nil, err
	}
	t.bind(g, a)
	if c != nil {
		g.ClientID = c.ID
	}
	if g.Scopes == nil {
		g.Scopes = scopes
	}
	g.Refresh = "" // the credentials themselves are at hand
	a.say("token received")
	return g, nil
}

// assertion returns the token to present for another one.
func (a *authorizer) assertion(ctx context.Context, t *target) (string, error) {
	if a.cfg.Assertion == nil {
		return "", authFailed(true, nil, "There is no identity to present to %s. Correct its configuration.", a.server)
	}
	jwt, err := a.cfg.Assertion(ctx, t.as.Issuer)
	if err != nil {
		return "", authFailed(false, err, "There is no identity to present to %s: %s", a.server, sentence(err.Error()))
	}
	if a.cfg.Grant == GrantWorkload {
		return jwt, nil
	}
	// MCP extension enterprise-managed-authorization: an identity assertion grant
	// for this authorization server and this resource.
	idp := a.cfg.IdentityProvider
	if err := a.checkEndpoint(idp.TokenURL); err != nil {
		return "", authFailed(true, err, "The address of the identity provider for %s cannot be used: %s", a.server, sentence(err.Error()))
	}
	g, err := a.token(ctx, idp.TokenURL, url.Values{
		"grant_type":           {"urn:ietf:params:oauth:grant-type:token-exchange"},
		"requested_token_type": {"urn:ietf:params:oauth:token-type:id-jag"},
		"audience":             {t.as.Issuer},
		"resource":             {t.resource},
		"subject_token":        {jwt},
		"subject_token_type":   {"urn:ietf:params:oauth:token-type:id_token"},
	}, &oauthClient{ID: idp.ClientID, Secret: idp.ClientSecret, Method: "client_secret_post"}, nil)
	if err != nil {
		var te *tokenError
		if errors.As(err, &te) {
			return "", authFailed(te.dead(), te, "Your organisation does not let you use %s: %s", a.server, sentence(te.Error()))
		}
		return "", err
	}
	a.say("identity assertion received")
	return g.Access, nil
}

func encodeStored(v any) string {
	b, _ := json.Marshal(v) // of our own types, which all can be encoded
	return string(b)
}

func decodeStored(text string, v any) error { return json.Unmarshal([]byte(text), v) }

// revoke gives a token back in the background (RFC 7009): what ended here should
// not be of use to anybody else. c may be nil.
func (a *authorizer) revoke(g *grant, c *oauthClient) {
	if g.Revoke == "" || c == nil {
		return
	}
	form := url.Values{"token": {g.Refresh}, "token_type_hint": {"refresh_token"}} // the access tokens end with it (2.1)
	if g.Refresh == "" {
		form = url.Values{"token": {g.Access}, "token_type_hint": {"access_token"}}
	}
	a.work.run(tokenLimit, func(ctx context.Context) {
		header := http.Header{}
		if err := a.identify(form, header, c); err != nil {
			a.say("the token was not revoked: %v", err)
			return
		}
		status, _, _, err := postForm(ctx, a.http(), g.Revoke, form, header)
		switch {
		case err != nil:
			a.say("the token was not revoked: %s", netCause(err))
		case status/100 != 2:
			a.say("the token was not revoked: HTTP %d", status)
		default:
			a.say("token revoked")
		}
	})
}
