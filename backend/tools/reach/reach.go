// Package reach says which addresses and which files tools may get at.
package reach

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"patchbay/backend/core"
)

// MaxRedirects is how often one request may be sent on.
const MaxRedirects = 10

// Public reports whether a is an address of the internet at large.
func Public(a netip.Addr) bool {
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.Zone() != "" {
		return false
	}
	for _, p := range reserved() {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// PrivateHost reports whether host, a name or an address without a port, names
// this machine or a private network literally.
func PrivateHost(host string) bool {
	host = strings.TrimSuffix(strings.Trim(strings.ToLower(host), "[]"), ".")
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && !Public(a.Unmap())
}

// reserved are the ranges beside the private ones that lead to no host of the internet.
func reserved() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
		netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"),
		netip.MustParsePrefix("::/96"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/32"),
		netip.MustParsePrefix("fec0::/10"),
	}
}

// Judge says of an address, a host with its port, whether it may lead to this
// machine or a private network. An error means that it may not be reached at all.
type Judge func(address string) (private bool, err error)

// Dial returns a dialer that connects as judge allows. It looks at the address
// when the connection is made: what a name led to before may not be what it
// leads to then. remedy says to a person, in a sentence, how to allow a private address.
func Dial(judge Judge, remedy string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		private, err := judge(address)
		if err != nil {
			return nil, err
		}
		d := &net.Dialer{Timeout: 30 * time.Second, Control: func(_, to string, _ syscall.RawConn) error {
			ap, err := netip.ParseAddrPort(to)
			if err != nil {
				return err
			}
			if a := ap.Addr().Unmap(); !private && !Public(a) {
				return core.Errorf(core.CodeDenied, "%s leads to %s, an address of this machine or a private network. %s", address, a, remedy)
			}
			return nil
		}}
		return d.DialContext(ctx, network, address)
	}
}

// Transport returns a transport for one request that connects by dial. The
// caller closes its idle connections.
func Transport(dial func(ctx context.Context, network, address string) (net.Conn, error)) *http.Transport {
	// No proxy: behind one, nobody could look at the address.
	return &http.Transport{DialContext: dial, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 1 << 20, TLSHandshakeTimeout: 15 * time.Second}
}
