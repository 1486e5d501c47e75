package mcp

import (
	"context"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"reflect"

	"patchbay/backend/core"
)

// authConfig is how to sign in to the server of spec, whose values are expanded
// but for the assertion: that is looked up each time it is presented, since it
// does not last. base is for what is not configured.
func (d *dialer) authConfig(spec core.ServerSpec) (AuthConfig, *dialError) {
	var cfg AuthConfig
	if d.o.Auth != nil {
		cfg = d.o.Auth(spec.Name)
	}
	s := spec.Auth
	if s == nil {
		return cfg, nil
	}
	cfg.Grant, cfg.ClientID, cfg.ClientSecret = Grant(s.Grant), s.ClientID, s.ClientSecret
	cfg.Issuer, cfg.RedirectURL, cfg.Scopes, cfg.DPoP = s.Issuer, s.RedirectURL, s.Scopes, s.DPoP
	if s.PrivateKey != "" {
		key, err := parseKey(s.PrivateKey)
		if err != nil {
			return cfg, failed(stepCheck, core.FixEdit, true, "The private key for signing in to %s cannot be used: %s. Give a key in PEM form, with its BEGIN and END lines.", spec.Name, err)
		}
		cfg.PrivateKey = key
	}
	if idp := s.IdentityProvider; idp != nil {
		cfg.IdentityProvider = IdentityProvider{TokenURL: idp.TokenURL, ClientID: idp.ClientID, ClientSecret: idp.ClientSecret}
	}
	missing := ""
	switch {
	case cfg.Grant == GrantClient && cfg.ClientID == "":
		missing = "clientId"
	case (cfg.Grant == GrantWorkload || cfg.Grant == GrantEnterprise) && s.Assertion == "":
		missing = "assertion"
	case cfg.Grant == GrantEnterprise && cfg.IdentityProvider.TokenURL == "":
		missing = "identityProvider with its tokenUrl"
	}
	if missing != "" {
		return cfg, failed(stepCheck, core.FixEdit, true, "To sign in to %s by %s, its settings must have %s. Add it.", spec.Name, cfg.Grant, missing)
	}
	cfg.Assertion = func(ctx context.Context, _ string) (string, error) {
		e := &expander{ctx: ctx, lookup: d.o.Lookup}
		text := e.text(s.Assertion)
		if len(e.missing) > 0 {
			return "", errors.New("there is no value for " + e.missing[0])
		}
		return text, nil
	}
	return cfg, nil
}

// parseKey reads a private key in PEM form.
func parseKey(text string) (crypto.Signer, error) {
	for rest := []byte(text); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, errors.New("it holds no private key")
		}
		var key any
		var err error
		switch block.Type {
		case "PRIVATE KEY":
			key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		case "EC PRIVATE KEY":
			key, err = x509.ParseECPrivateKey(block.Bytes)
		case "RSA PRIVATE KEY":
			key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
		case "ENCRYPTED PRIVATE KEY":
			return nil, errors.New("it is protected by a password")
		default:
			continue // such as the parameters of a curve, or a certificate
		}
		if err != nil {
			return nil, errors.New("it is damaged")
		}
		signer, ok := key.(crypto.Signer)
		if !ok {
			return nil, errors.New("it cannot sign")
		}
		// Whether this kind of key is supported shows now and not at the first sign-in.
		if _, err := clientJWT(signer, "", ""); err != nil {
			return nil, err
		}
		return signer, nil
	}
}

// auth expands how to sign in, but for the assertion, of which it only notes
// what is missing.
func (e *expander) auth(in *core.ServerAuth) *core.ServerAuth {
	if in == nil {
		return nil
	}
	out := *in
	for _, s := range []*string{&out.ClientID, &out.ClientSecret, &out.PrivateKey, &out.Issuer, &out.RedirectURL} {
		*s = e.text(*s)
	}
	out.Scopes = nil
	for _, s := range in.Scopes {
		out.Scopes = append(out.Scopes, e.text(s))
	}
	e.text(in.Assertion)
	if in.IdentityProvider != nil {
		idp := *in.IdentityProvider
		idp.TokenURL, idp.ClientID, idp.ClientSecret = e.text(idp.TokenURL), e.text(idp.ClientID), e.text(idp.ClientSecret)
		out.IdentityProvider = &idp
	}
	return &out
}

// sameAuth reports whether both say the same about signing in.
func sameAuth(a, b *core.ServerAuth) bool { return reflect.DeepEqual(a, b) }

// good reports whether a token of an earlier run is one that the configuration
// would give now.
func (a *authorizer) good(g *grant) bool {
	return g.Server == a.url.String() && g.Grant == a.cfg.Grant && (a.cfg.ClientID == "" || g.ClientID == a.cfg.ClientID) &&
		(a.cfg.Issuer == "" || sameIssuer(a.cfg.Issuer, g.Issuer))
}
