package llm

import (
	"time"

	"patchbay/backend/core"
)

// ErrorKind says what went wrong between us and a model.
type ErrorKind string

const (
	ErrAuth          ErrorKind = "auth"
	ErrRateLimit     ErrorKind = "rate_limit"
	ErrOverloaded    ErrorKind = "overloaded"
	ErrServer        ErrorKind = "server"
	ErrBadRequest    ErrorKind = "bad_request"
	ErrContextLength ErrorKind = "context_length"
	ErrFiltered      ErrorKind = "filtered"
	ErrTruncated     ErrorKind = "truncated" // the stream ended before its terminal event
	ErrProtocol      ErrorKind = "protocol"  // the endpoint does not speak as it should
	ErrNetwork       ErrorKind = "network"
)

// Error is a failure of a provider. Message names the provider and its address
// and says what to do; it is fit to show to a person.
type Error struct {
	Kind       ErrorKind
	Status     int           // of HTTP; 0 if there was no answer
	RetryAfter time.Duration // as the endpoint asks; 0 if it does not
	Sent       bool          // some output was delivered before
	Message    string
	Err        error // the cause; may be nil
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause and, so that [core.CodeOf] knows how to react, a
// *core.Error with the same message.
func (e *Error) Unwrap() []error {
	out := []error{&core.Error{Code: e.code(), Message: e.Message, Err: e.Err}}
	if e.Err != nil {
		out = append(out, e.Err)
	}
	return out
}

func (e *Error) code() core.Code {
	switch e.Kind {
	case ErrAuth:
		return core.CodeNeedsAuth
	case ErrBadRequest, ErrFiltered:
		return core.CodeInvalid
	case ErrContextLength:
		return core.CodeTooLarge
	}
	return core.CodeUnavailable
}
