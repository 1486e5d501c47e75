package mcp

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"net/url"
	"sync"
	"time"
)

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// signJWT makes a compact JWT (RFC 7519) signed with ES256, RS256 or EdDSA,
// whichever the key is for.
func signJWT(key crypto.Signer, header, claims map[string]any) (string, error) {
	var alg string
	switch k := key.(type) {
	case *ecdsa.PrivateKey:
		if k.Curve != elliptic.P256() {
			return "", errors.New("of the elliptic curves only P-256 is supported")
		}
		alg = "ES256"
	case *rsa.PrivateKey:
		alg = "RS256"
	case ed25519.PrivateKey:
		alg = "EdDSA"
	default:
		return "", errors.New("it is neither an ECDSA, an RSA nor an Ed25519 key")
	}
	header["alg"] = alg
	h, err := json.Marshal(header)
	if err != nil {
		return "", err
	}
	c, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	text := b64(h) + "." + b64(c)
	if alg == "EdDSA" {
		sig, err := key.Sign(nil, []byte(text), crypto.Hash(0))
		return text + "." + b64(sig), err
	}
	sum := sha256.Sum256([]byte(text))
	sig, err := key.Sign(rand.Reader, sum[:], crypto.SHA256)
	if err != nil {
		return "", err
	}
	if alg == "ES256" { // JWS wants the two numbers side by side (RFC 7518, 3.4)
		var n struct{ R, S *big.Int }
		if _, err := asn1.Unmarshal(sig, &n); err != nil {
			return "", err
		}
		sig = append(n.R.FillBytes(make([]byte, 32)), n.S.FillBytes(make([]byte, 32))...)
	}
	return text + "." + b64(sig), nil
}

// clientJWT proves that we are the client called id (RFC 7523, 2.2).
func clientJWT(key crypto.Signer, id, audience string) (string, error) {
	at := time.Now()
	return signJWT(key, map[string]any{"typ": "JWT"}, map[string]any{
		"iss": id, "sub": id, "aud": audience, "jti": rand.Text(), "iat": at.Unix(), "exp": at.Add(5 * time.Minute).Unix(),
	})
}

// prover makes the proofs that a token which is bound to its key is sent by
// whom it was given to (RFC 9449).
type prover struct {
	key  []byte // PKCS #8
	priv *ecdsa.PrivateKey
	jwk  map[string]any

	mu     sync.Mutex
	nonces map[string]string // by origin
}

func newProver() (*prover, error) {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		return nil, err
	}
	return loadProver(der)
}

// loadProver restores a prover from its key.
func loadProver(der []byte) (*prover, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, err
	}
	k, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || k.Curve != elliptic.P256() {
		return nil, errors.New("not a key on P-256")
	}
	point, err := k.PublicKey.Bytes()
	if err != nil {
		return nil, err
	}
	return &prover{key: der, priv: k, nonces: map[string]string{},
		jwk: map[string]any{"kty": "EC", "crv": "P-256", "x": b64(point[1:33]), "y": b64(point[33:])}}, nil
}

// sign makes a proof for one request. access is the token that goes with it; ""
// for none.
func (p *prover) sign(method string, u *url.URL, access string) string {
	claims := map[string]any{"jti": rand.Text(), "htm": method, "htu": u.Scheme + "://" + u.Host + u.EscapedPath(), "iat": time.Now().Unix()}
	if access != "" {
		sum := sha256.Sum256([]byte(access))
		claims["ath"] = b64(sum[:])
	}
	p.mu.Lock()
	nonce := p.nonces[u.Scheme+"://"+u.Host]
	p.mu.Unlock()
	if nonce != "" {
		claims["nonce"] = nonce
	}
	jwt, _ := signJWT(p.priv, map[string]any{"typ": "dpop+jwt", "jwk": p.jwk}, claims) // signing with a key of ours does not fail
	return jwt
}

// learn takes the nonce that the next proof for this origin must carry (RFC 9449, 8 and 9).
func (p *prover) learn(u *url.URL, h http.Header) {
	if n := h.Get("DPoP-Nonce"); n != "" && len(n) < 1024 {
		p.mu.Lock()
		p.nonces[u.Scheme+"://"+u.Host] = n
		p.mu.Unlock()
	}
}
