package mcp

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"math/big"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAddressesThatServersMayName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		server, address string
		ok              bool
	}{
		{"https://mcp.example/mcp", "https://as.example/token", true},
		{"https://mcp.example/mcp", "http://as.example/token", false},
		{"https://mcp.example/mcp", "javascript:alert(1)", false},
		{"https://mcp.example/mcp", "file:///etc/passwd", false},
		{"https://mcp.example/mcp", "https://10.0.0.1/token", false},
		{"https://mcp.example/mcp", "https://169.254.169.254/latest", false},
		{"https://mcp.example/mcp", "http://127.0.0.1:8080/token", false},
		{"https://mcp.example/mcp", "http://localhost/token", false},
		{"https://mcp.example/mcp", "https://[fe80::1]/token", false},
		{"https://mcp.example/mcp", "https://[::ffff:10.0.0.1]/token", false},
		{"https://mcp.example/mcp", "https://u:p@as.example/token", false},
		{"https://intra.example/mcp", "https://10.0.0.1/token", true}, // the server is in that network itself
		{"https://intra.example/mcp", "https://169.254.169.254/latest", false},
		{"http://127.0.0.1:1/mcp", "http://localhost:2/token", true},
		{"http://127.0.0.1:1/mcp", "https://192.168.1.1/token", false},
	} {
		u, err := url.Parse(c.server)
		require.NoError(t, err)
		a := &authorizer{url: u}
		a.inside.Store(strings.HasPrefix(u.Host, "intra."))
		assert.Equal(t, c.ok, a.checkEndpoint(c.address) == nil, "%s → %s", c.server, c.address)
	}
	a := &authorizer{url: &url.URL{Scheme: "https", Host: "mcp.example"}}
	assert.Error(t, a.admit(netip.MustParseAddr("100.64.0.1")))
	assert.NoError(t, a.admit(netip.MustParseAddr("93.184.216.34")))
}

func TestResourcesThatCoverAServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		server, resource string
		ok               bool
	}{
		{"https://a.example/mcp", "https://a.example/mcp", true},
		{"https://a.example/mcp", "https://a.example/mcp/", true},
		{"https://a.example/mcp", "https://a.example", true},
		{"https://a.example/mcp", "https://A.EXAMPLE/", true},
		{"https://a.example/x/mcp", "https://a.example/x", true},
		{"https://a.example/mcp", "https://a.example/mcp2", false},
		{"https://a.example/mcp", "https://a.example/mcp/x", false},
		{"https://a.example/mcp", "http://a.example/mcp", false},
		{"https://a.example/mcp", "https://a.example:8443/mcp", false},
		{"https://a.example/mcp", "https://a.example.evil/mcp", false},
		{"https://a.example/mcp", "https://u@a.example/mcp", false},
		{"https://a.example/mcp", "", false},
		{"https://a.example/mcp", "https://a.example:443/mcp", true},
		{"https://a.example:443/mcp", "https://A.example/mcp", true},
		{"http://a.example:80/mcp", "http://a.example/mcp", true},
		{"https://a.example:80/mcp", "https://a.example/mcp", false},
		{"https://[2001:db8::1]/mcp", "https://[2001:db8::1]:443/mcp", true},
	} {
		u, err := url.Parse(c.server)
		require.NoError(t, err)
		assert.Equal(t, c.ok, (&authorizer{url: u}).covers(c.resource), "%s ← %s", c.server, c.resource)
	}
}

func TestTokenAnswers(t *testing.T) {
	t.Parallel()
	proof, err := newProver()
	require.NoError(t, err)
	for text, ok := range map[string]bool{
		`{"access_token":"a","token_type":"Bearer"}`:                     true,
		`{"access_token":"a","token_type":"bearer","expires_in":"3600"}`: true,
		`{"access_token":"a","expires_in":3600.5,"scope":"x y"}`:         true,
		`{"access_token":"a","token_type":"DPoP"}`:                       true,
		`{"access_token":"a","token_type":"mac"}`:                        false,
		`{"access_token":"a","token_type":"N_A"}`:                        false,
		`{"access_token":"a\r\nX-Evil: 1","token_type":"Bearer"}`:        false,
		`{"access_token":"","token_type":"Bearer"}`:                      false,
		`<html>`: false,
	} {
		g, err := (&authorizer{}).readToken([]byte(text), "as.example", false, proof)
		assert.Equal(t, ok, err == nil, text)
		if strings.Contains(text, "3600") {
			assert.WithinDuration(t, time.Now().Add(time.Hour), g.Expiry, 5*time.Second)
		}
	}
	_, err = (&authorizer{}).readToken([]byte(`{"access_token":"a","token_type":"DPoP"}`), "as.example", false, nil)
	assert.Error(t, err, "bound to a key that we do not have")
}

// The signatures must be those that others expect, not merely those of Go.
func TestSignatures(t *testing.T) {
	t.Parallel()
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	rk, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	pub, ed, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	for alg, c := range map[string]struct {
		key   crypto.Signer
		check func(text, sig []byte) bool
	}{
		"ES256": {ec, func(text, sig []byte) bool {
			sum := sha256.Sum256(text)
			return len(sig) == 64 && ecdsa.Verify(&ec.PublicKey, sum[:], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:]))
		}},
		"RS256": {rk, func(text, sig []byte) bool {
			sum := sha256.Sum256(text)
			return rsa.VerifyPKCS1v15(&rk.PublicKey, crypto.SHA256, sum[:], sig) == nil
		}},
		"EdDSA": {ed, func(text, sig []byte) bool { return ed25519.Verify(pub, text, sig) }},
	} {
		jwt, err := clientJWT(c.key, "me", "https://as.example")
		require.NoError(t, err)
		parts := strings.Split(jwt, ".")
		require.Len(t, parts, 3)
		sig, err := base64.RawURLEncoding.DecodeString(parts[2])
		require.NoError(t, err)
		assert.True(t, c.check([]byte(parts[0]+"."+parts[1]), sig), alg)
		head, err := base64.RawURLEncoding.DecodeString(parts[0])
		require.NoError(t, err)
		assert.Contains(t, string(head), alg)
	}
}

func TestMirrorProblems(t *testing.T) {
	t.Parallel()
	for schema, ok := range map[string]bool{
		`{"type":"object"}`: true,
		`{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}`:                                          true,
		`{"properties":{"o":{"type":"object","properties":{"a":{"type":"integer","x-mcp-header":"A"}}}}}`:    true,
		`{"properties":{"x-mcp-header":{"type":"string","default":{"x-mcp-header":1}}}}`:                     true,
		`{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}`:                                          false,
		`{"properties":{"a":{"type":"string","x-mcp-header":""}}}`:                                           false,
		`{"properties":{"a":{"type":"string","x-mcp-header":"A B"}}}`:                                        false,
		`{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}`: false,
		`{"properties":{"l":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}}`:                 false,
		`{"oneOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}`:                              false,
		`{"$defs":{"d":{"type":"string","x-mcp-header":"A"}},"properties":{"a":{"$ref":"#/$defs/d"}}}`:       false,
	} {
		assert.Equal(t, ok, mirrorProblem([]byte(schema)) == "", schema)
	}
}
