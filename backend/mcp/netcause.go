package mcp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"
)

// proxyWants is what a proxy says that lets in only whom it knows.
const proxyWants = "the proxy of this computer wants a name and a password. Put them into HTTPS_PROXY and HTTP_PROXY"

// certificateRequired is how a server ends TLS that wants to know who we are
// (RFC 8446, 6.2); the type of such an error is not exported.
const certificateRequired = "tls: certificate required"

// netCause says in plain words, to end a sentence, why no connection came about
// and, where there is something, what to do about it.
func netCause(err error) string {
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var name x509.HostnameError
	var op *net.OpError
	switch {
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return "the proxy of this computer cannot be reached. Check HTTPS_PROXY and HTTP_PROXY"
	case errors.As(err, &dns):
		return "there is no host named " + dns.Name + ", or the network is down"
	case errors.As(err, &unknown):
		return "its certificate is signed by an authority that this computer does not know. If you trust that authority, add it to those of this computer"
	case errors.As(err, &name):
		return fmt.Sprintf("its certificate is not for %s. Check the URL", name.Host)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return expired(invalid.Cert, time.Now())
	case errors.As(err, &cert):
		return "its certificate is not valid: " + cert.Err.Error()
	case errors.As(err, &op) && op.Err.Error() == certificateRequired:
		return "it wants a certificate of the client, which Patchbay does not send"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens at this address. Start the server"
	case errors.Is(err, context.DeadlineExceeded):
		return "it did not answer in time"
	case errors.Is(err, errTooLarge):
		return "its answer is too large"
	case hungUp(err):
		return "it ended the connection without an answer"
	case errors.As(err, &op):
		return op.Err.Error()
	}
	if text := plain(err); text != http.StatusText(http.StatusProxyAuthRequired) { // all that is known of a refused CONNECT
		return text
	}
	return proxyWants
}

// expired says why the time of a certificate is not now.
func expired(c *x509.Certificate, now time.Time) string {
	const clock = "Check the clock of this computer; if it is right, tell whoever runs the server"
	if c == nil {
		return "its certificate is not valid at this time. " + clock
	}
	if now.Before(c.NotBefore) {
		return "its certificate is not valid before " + c.NotBefore.Format(time.DateOnly) + ". " + clock
	}
	return "its certificate ended on " + c.NotAfter.Format(time.DateOnly) + ". " + clock
}
