package worker

import (
	"os"
	"sync"
	"time"

	"patchbay/backend/tools/custom/frame"
)

const (
	lookEvery = 10 * time.Millisecond
	// late is how long the engine may take to notice that it was interrupted.
	late = 40 * time.Millisecond
)

// guard watches one script from a second goroutine and ends the process where
// the engine cannot be stopped: some of its native loops do not look up.
type guard struct {
	mem  *memory
	quit chan struct{}
	gone chan struct{}

	mu   sync.Mutex
	over time.Time // when the current stretch of JavaScript must have ended; zero outside of one
}

func newGuard(mem *memory) *guard {
	g := &guard{mem: mem, quit: make(chan struct{}), gone: make(chan struct{})}
	go g.watch()
	return g
}

func (g *guard) stop() {
	close(g.quit)
	<-g.gone
}

func (g *guard) begin(left time.Duration) { g.set(time.Now().Add(left + late)) }
func (g *guard) end()                     { g.set(time.Time{}) }

func (g *guard) set(over time.Time) {
	g.mu.Lock()
	g.over = over
	g.mu.Unlock()
}

func (g *guard) watch() {
	defer close(g.gone)
	parent := os.Getppid()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-g.quit:
			return
		case <-tick.C:
		}
		g.mu.Lock()
		over := g.over
		g.mu.Unlock()
		switch {
		case os.Getppid() != parent:
			os.Exit(0)
		case !over.IsZero() && time.Now().After(over):
			os.Exit(frame.ExitTime)
		case g.mem.held() > hardMemory:
			os.Exit(frame.ExitMemory)
		}
	}
}
