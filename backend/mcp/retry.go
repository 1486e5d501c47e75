package mcp

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"patchbay/backend/core"
)

const (
	// codeHeaderMismatch is the answer to arguments that the headers do not
	// repeat as the server's list says now (MCP 2026-07-28, Transports).
	codeHeaderMismatch = -32020

	busyTries  = 3                // how often a busy server is asked again
	busyAtMost = 60 * time.Second // longer than this a call does not wait; it says until when
)

// retryAfter reads the header of that name (RFC 9110, 10.2.3), 0 if there is none.
func retryAfter(h http.Header) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseInt(v, 10, 32); err == nil && n > 0 {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// harmless reports whether the tool says that running it twice is like running
// it once. A server that lies about it harms itself.
func harmless(t core.Tool) bool {
	yes := func(b *bool) bool { return b != nil && *b }
	return yes(t.Annotations.ReadOnlyHint) || yes(t.Annotations.IdempotentHint)
}

// pauseOf returns how long to wait before a call is made again, n counting the
// times so far, or false if it must not be: whatever may have run is repeated
// only for a tool that says that this does no harm.
func pauseOf(he *httpError, t core.Tool, n int) (time.Duration, bool) {
	switch he.status {
	case http.StatusTooManyRequests: // it was refused before it ran
	case http.StatusServiceUnavailable:
		if !harmless(t) {
			return 0, false
		}
	default:
		return 0, false
	}
	wait := he.after
	if wait == 0 {
		wait = time.Second << n
	}
	return wait, n < busyTries && wait <= busyAtMost
}

// pause waits for a busy server and tells the caller of the call. It returns
// false when ctx or the link ended.
func (l *link) pause(ctx context.Context, server string, he *httpError, wait time.Duration, k *sink) bool {
	until := time.Now().Add(wait)
	for {
		left := time.Until(until)
		if left <= 0 {
			return true
		}
		k.send(core.Chunk{Kind: core.ChunkStatus, Message: fmt.Sprintf("%s is busy (HTTP %d). Trying again in %d s.", server, he.status, int(left.Seconds()+0.99))})
		t := time.NewTimer(min(left, waitTick)) // lest the gate takes the silence for death
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return false
		case <-l.lost:
			t.Stop()
			return false
		}
	}
}

// busy is the error of a call that a busy server did not take.
func busy(server string, ref core.ToolRef, he *httpError) *core.Error {
	when := "Try again later."
	if he.after > 0 {
		when = fmt.Sprintf("It asks to be left alone for %d s. Try again after that.", int(he.after.Seconds()+0.99))
	}
	e := core.Errorf(core.CodeUnavailable, "The server %s is too busy to run %s (HTTP %d). %s", server, ref.Name, he.status, when)
	e.Err = he
	return e
}
