package mcp

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
)

// vault is a store of secrets whose values may change.
type vault struct {
	mu     sync.Mutex
	values map[string]string
}

func (v *vault) set(name, value string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.values[name] = value
}

func (v *vault) lookup(_ context.Context, kind, name string) (string, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s, ok := v.values[name]
	return s, ok && kind == "secret"
}

func pemOf(t *testing.T, kind string, der []byte, err error) string {
	t.Helper()
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func TestCredentialsOfTheConfiguration(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t)
	v := &vault{values: map[string]string{}}
	w := newWorld(t, func(o *Options) { o.Lookup = v.lookup })
	spec := f.spec()
	spec.Auth = &core.ServerAuth{Grant: core.GrantClientCredentials, ClientID: "robot", ClientSecret: "${secret:s/client}", Scopes: []string{"read"}}
	w.Apply([]core.ServerSpec{spec})
	st := w.until("s", core.StateNeedsValues)
	assert.Equal(t, []string{"secret:s/client"}, st.MissingValues)
	v.set("s/client", "s3cr3t")
	w.Apply([]core.ServerSpec{spec}) // the value is there
	w.until("s", core.StateConnected)
	echoes(t, w, "s")
	basic, _ := strings.CutPrefix(f.machines[0].Get("authorization"), "Basic ")
	b, err := base64.StdEncoding.DecodeString(basic)
	require.NoError(t, err)
	assert.Equal(t, "robot:s3cr3t", string(b))
	assert.Equal(t, "read", f.machines[0].Get("scope"))
	assert.NotContains(t, strings.Join(w.Log("s"), "\n"), "s3cr3t")

	// Other credentials take effect with the next Apply, and the token of the
	// former ones is not used any more.
	was := len(f.machines)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalECPrivateKey(key)
	changed := spec
	changed.Auth = &core.ServerAuth{Grant: core.GrantClientCredentials, ClientID: "other", PrivateKey: pemOf(t, "EC PRIVATE KEY", der, err)}
	w.Apply([]core.ServerSpec{changed})
	require.Eventually(t, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.machines) > was
	}, 5*time.Second, time.Millisecond)
	w.until("s", core.StateConnected)
	last := f.machines[was]
	assert.Equal(t, "urn:ietf:params:oauth:client-assertion-type:jwt-bearer", last.Get("client_assertion_type"))
	parts := strings.Split(last.Get("client_assertion"), ".")
	require.Len(t, parts, 3)
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	require.NoError(t, err)
	var c struct{ Sub string }
	require.NoError(t, json.Unmarshal(claims, &c))
	assert.Equal(t, "other", c.Sub)

	// Back to a person: the machine's token must not do.
	w.Apply([]core.ServerSpec{f.spec()})
	w.until("s", core.StateNeedsSignIn)
}

// A workload's token does not last: it is looked up each time that it is presented.
func TestAssertionIsLookedUpEachTime(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t)
	v := &vault{values: map[string]string{"jwt": "first"}}
	w := newWorld(t, func(o *Options) { o.Lookup = v.lookup })
	spec := f.spec()
	spec.Auth = &core.ServerAuth{Grant: core.GrantWorkload, Assertion: "${secret:jwt}"}
	w.start(spec)
	require.Equal(t, "first", f.machines[0].Get("assertion"))
	v.set("jwt", "second")
	f.revoke(true)
	was := len(f.machines)
	echoes(t, w, "s")
	assert.Equal(t, "second", f.machines[was].Get("assertion"))

	spec.Auth = &core.ServerAuth{Grant: core.GrantEnterprise, Assertion: "${secret:jwt}",
		IdentityProvider: &core.IdentityProvider{TokenURL: f.as.URL + "/token", ClientID: "us", ClientSecret: "${secret:jwt}"}}
	was = len(f.machines)
	w.Apply([]core.ServerSpec{spec})
	require.Eventually(t, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.machines) >= was+2
	}, 5*time.Second, time.Millisecond)
	w.until("s", core.StateConnected)
	assert.Equal(t, "second", f.machines[was].Get("subject_token"))
	assert.Equal(t, "second", f.machines[was].Get("client_secret"))
	assert.Equal(t, "identity-assertion", f.machines[was+1].Get("assertion"))
}

func TestAuthSettingsThatCannotWork(t *testing.T) {
	t.Parallel()
	f := newFakeAuth(t)
	w := newWorld(t)
	for text, auth := range map[string]*core.ServerAuth{
		"must have clientId":         {Grant: core.GrantClientCredentials},
		"must have assertion":        {Grant: core.GrantWorkload},
		"must have identityProvider": {Grant: core.GrantEnterprise, Assertion: "x"},
		"it holds no private key":    {Grant: core.GrantClientCredentials, ClientID: "a", PrivateKey: "nonsense"},
	} {
		spec := f.spec()
		spec.Auth = auth
		w.Apply([]core.ServerSpec{spec})
		require.True(t, eventually(5*time.Second, func() bool {
			st := w.status("s")
			return st.State == core.StateFailed && strings.Contains(st.Message, text)
		}), "%s: %+v", text, w.status("s"))
		assert.Equal(t, core.FixEdit, w.status("s").Fix)
		assert.Contains(t, w.SignIn(context.Background(), "s").Error(), text)
		assert.Contains(t, w.Test(context.Background(), spec, nil).Message, text)
	}
	assert.Empty(t, f.machines)
}

func TestPrivateKeys(t *testing.T) {
	t.Parallel()
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	big, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	require.NoError(t, err)
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	pkcs8 := func(k crypto.Signer) string {
		der, err := x509.MarshalPKCS8PrivateKey(k)
		return pemOf(t, "PRIVATE KEY", der, err)
	}
	der, err := x509.MarshalECPrivateKey(ec)
	sec1 := pemOf(t, "EC PRIVATE KEY", der, err)
	for name, text := range map[string]string{
		"ec": pkcs8(ec), "ed25519": pkcs8(ed), "rsa": pkcs8(rs), "sec1": sec1,
		"pkcs1":           pemOf(t, "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rs), nil),
		"with parameters": pemOf(t, "EC PARAMETERS", []byte{6, 0}, nil) + sec1,
	} {
		_, err := parseKey(text)
		assert.NoError(t, err, name)
	}
	for text, want := range map[string]string{
		"": "no private key", pkcs8(big): "P-256", pemOf(t, "PRIVATE KEY", []byte("x"), nil): "damaged",
		pemOf(t, "ENCRYPTED PRIVATE KEY", []byte("x"), nil): "password", pemOf(t, "CERTIFICATE", []byte("x"), nil): "no private key",
	} {
		_, err := parseKey(text)
		assert.ErrorContains(t, err, want)
	}
}
