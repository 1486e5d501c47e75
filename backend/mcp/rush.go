package mcp

import (
	"context"
	"sync"
	"time"
)

// rushPatience is how long a second try lets the first ones of other servers go first.
const rushPatience = 500 * time.Millisecond

// rush counts the servers that are on their first way up. A server that failed
// steps back for them, since each start costs all others time. The zero value is
// ready.
type rush struct {
	mu   sync.Mutex
	n    int
	calm chan struct{} // closed when n falls to 0; nil while it is
}

// enter counts a server until the returned function is first called.
func (r *rush) enter() (leave func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n++; r.n == 1 {
		r.calm = make(chan struct{})
	}
	return sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.n--; r.n == 0 {
			close(r.calm)
			r.calm = nil
		}
	})
}

// wait returns when nobody is on the way up, after rushPatience, or when ctx ends.
func (r *rush) wait(ctx context.Context) {
	r.mu.Lock()
	calm := r.calm
	r.mu.Unlock()
	if calm == nil {
		return
	}
	t := time.NewTimer(rushPatience)
	defer t.Stop()
	select {
	case <-calm:
	case <-t.C:
	case <-ctx.Done():
	}
}
