package llm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Endpoint names an address of a provider and makes its errors.
type Endpoint struct {
	Name    string // of the provider, for people
	BaseURL string
	// Hint says what to do when nothing answers at the address.
	Hint string
}

func (e Endpoint) String() string {
	address := e.BaseURL
	if u, err := url.Parse(address); err == nil {
		address = u.Redacted()
	}
	return e.Name + " at " + address
}

// Network makes the error for a request that got no answer, or whose answer
// broke off. A context's error is returned as it is.
func (e Endpoint) Network(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	hint := e.Hint
	if hint == "" {
		hint = "Check the address in Settings and your connection."
	}
	msg := fmt.Sprintf("Cannot reach %s. %s", e, hint)
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		msg = fmt.Sprintf("Cannot reach %s: the host %s is not known. Check the address in Settings and your connection.", e, dns.Name)
	case !refused(err):
		msg = fmt.Sprintf("The connection to %s failed: %s. Try again.", e, plain(err))
	}
	return &Error{Kind: ErrNetwork, Message: msg, Err: err}
}

// plain takes the method and address away that net/http puts before an error.
func plain(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return strings.TrimSuffix(err.Error(), ".")
}

func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// Truncated makes the error for a stream that ended before its terminal event.
func (e Endpoint) Truncated(err error) *Error {
	return &Error{Kind: ErrTruncated, Message: fmt.Sprintf("The reply of %s broke off before its end. Try again.", e), Err: err}
}

// Protocol makes the error for an answer that is not what the wire prescribes.
func (e Endpoint) Protocol(what string, err error) *Error {
	return &Error{Kind: ErrProtocol, Message: fmt.Sprintf("%s answered with something that cannot be understood (%s). Check that the address in Settings is that of a model server.", e, what), Err: err}
}

// Status makes the error for an answer with that HTTP status (0 for an error
// that came inside a stream). message is the endpoint's own, model the one asked for.
func (e Endpoint) Status(status int, header http.Header, message, model string) *Error {
	message = clean(message)
	out := &Error{Status: status, RetryAfter: retryAfter(header), Err: fmt.Errorf("HTTP status %d: %s", status, message)}
	said := ""
	if message != "" {
		said = ": " + message
	}
	lower := strings.ToLower(message)
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		out.Kind, out.Message = ErrAuth, fmt.Sprintf("%s refused the key%s. Enter the right key in Settings.", e, said)
	case containsAny(lower, "context length", "context_length", "context window", "maximum context", "too many tokens", "exceeds the available context", "prompt is too long"):
		out.Kind, out.Message = ErrContextLength, fmt.Sprintf("The conversation is too long for %s%s. Start a new one, or choose a model with a larger context.", model, said)
	case containsAny(lower, "content_filter", "content filter", "content management policy"):
		out.Kind, out.Message = ErrFiltered, fmt.Sprintf("%s blocked this by its content filter%s. Word the request otherwise.", e, said)
	case status == http.StatusTooManyRequests:
		out.Kind, out.Message = ErrRateLimit, fmt.Sprintf("%s is limiting how often it may be asked%s. Wait a moment and try again.", e, said)
	case status == http.StatusServiceUnavailable || status == 529 || containsAny(lower, "overloaded"):
		out.Kind, out.Message = ErrOverloaded, fmt.Sprintf("%s is overloaded%s. Try again in a moment.", e, said)
	case status >= 500 || status == 0:
		out.Kind, out.Message = ErrServer, fmt.Sprintf("%s reported an error of its own%s. Try again.", e, said)
	case status == http.StatusNotFound && model != "" && strings.Contains(lower, "model"):
		out.Kind, out.Message = ErrBadRequest, fmt.Sprintf("%s has no model %q%s. Choose another model in Settings.", e, model, said)
	case status == http.StatusNotFound:
		out.Kind, out.Message = ErrBadRequest, fmt.Sprintf("There is no model server at %s (HTTP status 404)%s. Check the address in Settings.", e, said)
	case containsAny(lower, "does not support tools", "tool use is not supported", "does not support function"):
		out.Kind, out.Message = ErrBadRequest, fmt.Sprintf("The model %s cannot use tools%s. Choose another model, or an agent without tools.", model, said)
	default:
		out.Kind, out.Message = ErrBadRequest, fmt.Sprintf("%s refused the request (HTTP status %d)%s.", e, status, said)
	}
	return out
}

func containsAny(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// clean makes one short line of an endpoint's message, which may be a web page.
func clean(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if strings.HasPrefix(s, "<") {
		return ""
	}
	if r := []rune(s); len(r) > 300 {
		s = string(r[:300]) + "…"
	}
	return strings.TrimRight(s, ".")
}

// retryAfter reads the header in both its forms.
func retryAfter(h http.Header) time.Duration {
	v := h.Get("Retry-After")
	if v == "" {
		return 0
	}
	if n, err := strconv.ParseFloat(v, 64); err == nil && n >= 0 && n < 1e6 {
		return time.Duration(n * float64(time.Second))
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(0, time.Until(t))
	}
	return 0
}
