package custom

import (
	"sync"
	"time"
)

// clock runs out after a limit. While it is held, because a person is asked, it
// stands.
type clock struct {
	out chan struct{} // closed when the time is over

	mu    sync.Mutex
	left  time.Duration
	since time.Time
	holds int
	timer *time.Timer
	once  sync.Once
}

func startClock(limit time.Duration) *clock {
	c := &clock{out: make(chan struct{}), left: limit, since: time.Now()}
	c.timer = time.AfterFunc(limit, c.end)
	return c
}

func (c *clock) end() { c.once.Do(func() { close(c.out) }) }

func (c *clock) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds++; c.holds == 1 && c.timer.Stop() {
		c.left -= time.Since(c.since)
	}
}

func (c *clock) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds--; c.holds == 0 {
		c.since = time.Now()
		c.timer.Reset(max(c.left, 0))
	}
}

func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holds++ // so that a late release does not start it again
	c.timer.Stop()
}
