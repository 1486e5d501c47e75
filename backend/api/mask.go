package api

import (
	"patchbay/backend/api/wire"
	"patchbay/backend/core"
)

// authSecrets lists what the page must not see of how a server is signed in to,
// by its place. a may be nil; the pointers lead into it.
func authSecrets(a *core.ServerAuth) map[string]*string {
	if a == nil {
		return nil
	}
	out := map[string]*string{"clientSecret": &a.ClientSecret, "privateKey": &a.PrivateKey, "assertion": &a.Assertion}
	if a.IdentityProvider != nil {
		out["identityProvider.clientSecret"] = &a.IdentityProvider.ClientSecret
	}
	return out
}

// maskedAuth is a copy of a with its literal secrets masked; nil for nil.
func maskedAuth(a *core.ServerAuth) *core.ServerAuth {
	a = copyAuth(a)
	for _, s := range authSecrets(a) {
		if *s != "" && !isReference(*s) {
			*s = wire.Mask
		}
	}
	return a
}

// unmaskedAuth is a copy of a with the values of old where it holds masks.
func unmaskedAuth(a, old *core.ServerAuth) *core.ServerAuth {
	a = copyAuth(a)
	saved := authSecrets(old)
	for at, s := range authSecrets(a) {
		if was := saved[at]; *s == wire.Mask && was != nil && *was != "" {
			*s = *was
		}
	}
	return a
}

func copyAuth(a *core.ServerAuth) *core.ServerAuth {
	if a == nil {
		return nil
	}
	out := *a
	if a.IdentityProvider != nil {
		idp := *a.IdentityProvider
		out.IdentityProvider = &idp
	}
	return &out
}
