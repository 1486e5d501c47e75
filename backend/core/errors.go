package core

import (
	"context"
	"errors"
	"fmt"
)

// Code tells a caller how to react to an [Error].
type Code string

const (
	CodeInvalid     Code = "invalid"     // the input is wrong; repeating it will not help
	CodeNotFound    Code = "not_found"   // the thing named does not exist
	CodeConflict    Code = "conflict"    // the thing exists already, or changed meanwhile
	CodeDenied      Code = "denied"      // a rule or a person said no
	CodeNeedsAuth   Code = "needs_auth"  // sign in first
	CodeNeedsValue  Code = "needs_value" // a value is missing; ask the person for it
	CodeUnavailable Code = "unavailable" // not now; retrying may help
	CodeTimeout     Code = "timeout"     // a limit of time ran out
	CodeCanceled    Code = "canceled"    // the caller gave up
	CodeTooLarge    Code = "too_large"   // a limit of size was passed
	CodeInternal    Code = "internal"    // a fault of ours
)

// Error is a failure that a caller can act on. Message names the thing, says
// what happened and what to do next, and is fit to show to a person. Err is the
// cause, may be nil, and is for logs.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	// Line and Column (1-based) and Path (a JSON pointer or a field name) say
	// where in a text the fault lies. Zero and "" mean that no place is known.
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Path   string `json:"path,omitempty"`
	Err    error  `json:"-"`
}

// Error returns the message; the cause is not repeated in it.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause, nil where there is none.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error of the given code. A %w verb sets its cause.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Err: errors.Unwrap(err)}
}

// CodeOf returns the code of the first [Error] in err's chain. A context error
// is CodeTimeout or CodeCanceled, any other error CodeInternal, nil is "".
func CodeOf(err error) Code {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Code
	case errors.Is(err, context.DeadlineExceeded):
		return CodeTimeout
	case errors.Is(err, context.Canceled):
		return CodeCanceled
	}
	return CodeInternal
}
