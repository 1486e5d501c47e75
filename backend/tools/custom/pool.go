package custom

import (
	"context"
	"sync"
	"time"

	"patchbay/backend/core"
)

// pool keeps workers warm. A worker has one user at a time, and none that was
// stopped by force is used again.
type pool struct {
	start  func() (*process, error)
	uses   int           // calls of one worker
	idle   time.Duration // how long one waits for work before it ends
	places [maxDepth]chan struct{}

	wg     sync.WaitGroup // ends and starts in the background
	mu     sync.Mutex
	free   []*process // the one used last is at the end
	warm   bool       // one is being started ahead
	closed bool
	sweep  *time.Timer
}

func newPool(start func() (*process, error), atOnce, uses int, idle time.Duration) *pool {
	p := &pool{start: start, uses: uses, idle: idle}
	// A call waits for the calls that it makes. Were they to share their
	// places, a few parents could hold all of them and wait for ever.
	for i := range p.places {
		p.places[i] = make(chan struct{}, atOnce)
	}
	p.sweep = time.AfterFunc(time.Hour, p.endIdle)
	p.sweep.Stop()
	return p
}

// take returns a worker that is ready, for a call that is depth calls below a
// person's or an agent's. It waits until there is a place for it.
func (p *pool) take(ctx context.Context, depth int) (*process, error) {
	select {
	case p.places[depth] <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	w, err := p.worker(ctx)
	if err != nil {
		<-p.places[depth]
		return nil, err
	}
	w.calls++
	return w, nil
}

func (p *pool) worker(ctx context.Context) (*process, error) {
	for {
		p.mu.Lock()
		if p.closed {
			p.mu.Unlock()
			return nil, core.Errorf(core.CodeUnavailable, "Patchbay is closing, so no tool is started any more.")
		}
		var w *process
		if n := len(p.free); n > 0 {
			w = p.free[n-1]
			p.free = p.free[:n-1]
		}
		p.mu.Unlock()
		fresh := w == nil
		if fresh {
			var err error
			if w, err = p.start(); err != nil {
				return nil, err
			}
		}
		err := w.await(ctx)
		if err == nil {
			p.ahead()
			return w, nil
		}
		p.discard(w)
		if fresh || ctx.Err() != nil {
			return nil, err
		}
	}
}

// give returns a worker; one that is not good any more ends.
func (p *pool) give(w *process, depth int, good bool) {
	<-p.places[depth]
	w.ready = false // the VM is used up; a new one is being made
	p.keep(w, good && w.calls < p.uses)
}

func (p *pool) keep(w *process, good bool) {
	p.mu.Lock()
	if good = good && !p.closed && !w.dead(); good {
		w.idle = time.Now()
		p.free = append(p.free, w)
		if len(p.free) == 1 {
			p.sweep.Reset(p.idle)
		}
	}
	p.mu.Unlock()
	if !good {
		p.discard(w)
	}
}

// discard ends a worker in the background.
func (p *pool) discard(w *process) { p.wg.Go(w.end) }

// ahead starts a worker for the next call when none is waiting.
func (p *pool) ahead() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.warm || len(p.free) > 0 {
		return
	}
	p.warm = true
	p.wg.Go(func() {
		w, err := p.start()
		p.mu.Lock()
		p.warm = false
		p.mu.Unlock()
		if err == nil { // otherwise the next call will say so
			p.keep(w, true)
		}
	})
}

// endIdle ends what nobody needed for long.
func (p *pool) endIdle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	kept := p.free[:0]
	for _, w := range p.free {
		if time.Since(w.idle) >= p.idle || w.dead() {
			p.discard(w)
			continue
		}
		kept = append(kept, w)
	}
	clear(p.free[len(kept):])
	if p.free = kept; len(kept) > 0 {
		p.sweep.Reset(max(time.Until(kept[0].idle.Add(p.idle)), time.Second))
	}
}

// close ends all workers that wait and waits for them. Those at work must have
// been given back before.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.sweep.Stop()
	for _, w := range p.free {
		p.discard(w)
	}
	p.free = nil
	p.mu.Unlock()
	p.wg.Wait()
}
