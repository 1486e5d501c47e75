package llm

import (
	"context"
	"errors"
	"iter"
	"net"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Limits of the one policy of retries. A wait that the endpoint asks for is
// honoured up to maxWait; beyond, the error is returned at once.
const (
	maxTries = 3
	maxWait  = 30 * time.Second
)

// Retry runs attempt, and again when it fails in a way that may pass by itself,
// but only as long as nothing of its output was delivered. Errors that come
// later have Sent set.
func Retry(ctx context.Context, attempt func(context.Context) iter.Seq2[Event, error]) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		sent := false
		var final error
		delays := backoff.NewExponentialBackOff()
		_, err := backoff.Retry(ctx, func() (struct{}, error) {
			final = nil
			for ev, err := range attempt(ctx) {
				if err == nil {
					sent = true
					if !yield(ev, nil) {
						return struct{}{}, nil
					}
					continue
				}
				final = err
				var e *Error
				if !errors.As(err, &e) {
					return struct{}{}, backoff.Permanent(err)
				}
				e.Sent = e.Sent || sent
				switch {
				case sent || !passing(e) || e.RetryAfter > maxWait:
					return struct{}{}, backoff.Permanent(err)
				case e.RetryAfter > 0:
					return struct{}{}, &backoff.RetryAfterError{Duration: e.RetryAfter}
				}
				return struct{}{}, err
			}
			return struct{}{}, nil
		}, backoff.WithBackOff(delays), backoff.WithMaxTries(maxTries), backoff.WithMaxElapsedTime(2*time.Minute))
		switch {
		case err == nil:
		case ctx.Err() != nil:
			yield(Event{}, ctx.Err())
		default:
			yield(Event{}, final)
		}
	}
}

// passing reports whether an error may be gone a moment later.
func passing(e *Error) bool {
	switch e.Kind {
	case ErrRateLimit, ErrOverloaded, ErrServer:
		return true
	case ErrNetwork:
		var dns *net.DNSError
		return !refused(e.Err) && !errors.As(e.Err, &dns)
	}
	return false
}
