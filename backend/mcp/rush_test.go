package mcp

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// A second try waits for the first ones of the others, but not for one that hangs.
func TestSecondTriesStepBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r rush
		took := func(ctx context.Context) time.Duration {
			began := time.Now()
			r.wait(ctx)
			return time.Since(began)
		}
		assert.Zero(t, took(t.Context()), "nobody is on the way")
		a, b := r.enter(), r.enter()
		time.AfterFunc(10*time.Millisecond, a)
		time.AfterFunc(30*time.Millisecond, b)
		assert.Equal(t, 30*time.Millisecond, took(t.Context()))
		a() // again, which must not count twice
		c := r.enter()
		assert.Equal(t, rushPatience, took(t.Context()), "one hangs")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		assert.Zero(t, took(ctx))
		c()
		assert.Zero(t, took(t.Context()))
	})
}
