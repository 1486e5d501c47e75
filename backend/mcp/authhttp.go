package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"patchbay/backend/core"
	"slices"
	"strings"
	"syscall"
	"time"
)

// maxAuthAnswer bounds what is read of an authorization server's answers.
const maxAuthAnswer = 1 << 20

// unusable says why an address that a server named must not be used, now or later.
type unusable string

func (e unusable) Error() string { return string(e) }

const errPrivate = unusable("it leads into a private network, which a server must not send us to")

// documentLimit bounds the reading of one document: a place that never answers
// must leave time for the others.
const documentLimit = 10 * time.Second

// carrierNAT is shared address space (RFC 6598), as private as those of RFC 1918.
func carrierNAT(ip netip.Addr) bool {
	return ip.Is4() && ip.As4()[0] == 100 && ip.As4()[1]&0xc0 == 64
}

// guardedClient makes the client for addresses that servers name: it reaches
// public ones only, so that a server cannot use us to get at what lies beside
// us (MCP 2025-11-25, Security Best Practices, Server-Side Request Forgery).
// admit reports why an address must not be reached, check why one must not be named.
func guardedClient(admit func(netip.Addr) error, check func(address string) error) *http.Client {
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.DisableKeepAlives = true // a few requests in a lifetime
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return admit(ap.Addr())
	}}
	if !behindProxy(base) { // else what is dialed is the proxy, which is where the person wants it
		base.DialContext = dialer.DialContext
	}
	return &http.Client{Transport: base, Timeout: tokenLimit, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		switch {
		case len(via) >= 5:
			return unusable("it redirects too often")
		case via[0].Method != http.MethodGet: // it would carry a secret along
			return http.ErrUseLastResponse
		case via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https":
			return unusable("it redirects to an address without encryption")
		}
		return check(req.URL.String()) // dialing is not ours to watch behind a proxy
	}}
}

func behindProxy(t *http.Transport) bool {
	r, err := http.NewRequest(http.MethodGet, "https://authorization.example", nil)
	if err != nil || t.Proxy == nil {
		return false
	}
	p, err := t.Proxy(r)
	return err == nil && p != nil
}

// admit reports why an address that the server named must not be reached: this
// computer is for servers that run on it, and a private network for servers in it.
func (a *authorizer) admit(ip netip.Addr) error {
	ip = ip.Unmap()
	switch {
	case ip.IsLoopback() && isLoopback(a.url.Hostname()), private(ip) && a.inside.Load():
		return nil
	case ip.IsLoopback(), private(ip), ip.IsLinkLocalUnicast(), ip.IsMulticast(), ip.IsUnspecified():
		return errPrivate
	}
	return nil
}

func private(ip netip.Addr) bool {
	ip = ip.Unmap()
	return ip.IsPrivate() || carrierNAT(ip)
}

// locate finds out whether the server is in a private network.
func (a *authorizer) locate(ctx context.Context) {
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", a.url.Hostname())
	a.inside.Store(err == nil && slices.ContainsFunc(ips, private))
}

// isLoopback reports whether a host, without port, is this computer.
func isLoopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// checkScheme demands encryption of all but this computer.
func checkScheme(u *url.URL) error {
	if u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
		return unusable(core.Clip(u.Redacted(), 200) + " is not an https address")
	}
	return nil
}

// checkEndpoint reports why an address that a server named must not be used;
// nil if it may.
func (a *authorizer) checkEndpoint(raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return unusable(fmt.Sprintf("%q is not an address", core.Clip(raw, 200)))
	}
	if err := checkScheme(u); err != nil {
		return err
	}
	if u.User != nil || u.Fragment != "" {
		return unusable(core.Clip(u.Redacted(), 200) + " is not a plain address")
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
		return a.admit(ip)
	}
	if isLoopback(u.Hostname()) && !isLoopback(a.url.Hostname()) {
		return errPrivate
	}
	return nil
}

// errAbsent says that there is no document at an address.
var errAbsent = errors.New("there is nothing at this address")

// document reads a JSON document into v. The error is errAbsent for an answer
// with a status of 4xx. A member of a type that v does not expect is left out.
func (a *authorizer) document(ctx context.Context, address string, v any) error {
	if err := a.checkEndpoint(address); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, documentLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("MCP-Protocol-Version", versionLegacy)
	resp, err := a.http().Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 == 4 {
		return errAbsent
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("it answered HTTP %d (%s)", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	body, err := readAll(resp.Body, -1, maxAuthAnswer)
	if err != nil {
		return err
	}
	if body = unmarked(body); !lenient(body, v) {
		return errAbsent // a page of a web site that answers to everything
	}
	return nil
}

// lenient decodes a JSON object into v, leaving out members whose type v does
// not expect. false means that body is no such object.
func lenient(body []byte, v any) bool {
	var te *json.UnmarshalTypeError
	err := json.Unmarshal(body, v)
	return err == nil || errors.As(err, &te) && te.Field != ""
}

// texts is a list of words, which some servers write as one text.
type texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *texts) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = strings.Fields(one)
		return nil
	}
	return json.Unmarshal(b, (*[]string)(t))
}

// postForm sends a form and returns the answer, whatever its status.
func postForm(ctx context.Context, c *http.Client, address string, form url.Values, header http.Header) (int, http.Header, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, nil, nil, err
	}
	req.Header = header.Clone()
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	return answer(c, req)
}

func answer(c *http.Client, req *http.Request) (int, http.Header, []byte, error) {
	resp, err := c.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAuthAnswer))
	return resp.StatusCode, resp.Header, body, err
}
