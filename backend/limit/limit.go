// Package limit bounds how often tools are called, so that a model in a loop
// cannot hammer a server.
package limit

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"patchbay/backend/core"
)

const (
	perMinute  = 300 // calls of one run, on average
	burst      = 60
	atOnce     = 16 // calls of one run at the same time
	forgetting = 10 * time.Minute
)

// Limiter keeps one allowance for each run, and one for each kind of caller
// that is not a run. It is safe for concurrent use.
type Limiter struct {
	mu   sync.Mutex
	runs map[string]*allowance
}

type allowance struct {
	rate  *rate.Limiter
	slots *semaphore.Weighted
	used  time.Time
}

// New makes a limiter with the product's limits.
func New() *Limiter { return &Limiter{runs: map[string]*allowance{}} }

// Take waits for a slot and for its turn. release gives the slot back and must
// be called once. It fails when ctx ends first. A nested call counts against the
// rate, but needs no slot: its parent has one, and were both to need one, some
// parents could hold all and wait for their children for ever.
func (l *Limiter) Take(ctx context.Context, p core.Principal, _ core.ToolRef, nested bool) (release func(), err error) {
	a := l.of(p)
	release = func() {}
	if !nested {
		if err := a.slots.Acquire(ctx, 1); err != nil {
			return nil, err
		}
		release = func() { a.slots.Release(1) }
	}
	if err := a.rate.Wait(ctx); err != nil {
		release()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, core.Errorf(core.CodeUnavailable, "Too many tool calls: the limit is %d a minute. Wait a little.", perMinute)
	}
	return release, nil
}

func (l *Limiter) of(p core.Principal) *allowance {
	key := string(p.Kind) + "/" + p.RunID
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.runs[key]
	if a == nil {
		for k, old := range l.runs {
			if time.Since(old.used) > forgetting {
				delete(l.runs, k)
			}
		}
		a = &allowance{rate: rate.NewLimiter(rate.Limit(perMinute)/60, burst), slots: semaphore.NewWeighted(atOnce)}
		l.runs[key] = a
	}
	a.used = time.Now()
	return a
}
