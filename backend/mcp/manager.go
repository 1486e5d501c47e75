package mcp

import (
	"context"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"patchbay/backend/core"
	"patchbay/backend/event"
)

// Manager runs the configured servers. Its methods are safe for concurrent use.
// Whoever makes one must Close it.
type Manager struct {
	o      Options
	d      *dialer
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup // supervisors

	mu     sync.Mutex // serialises Apply and Close; never held while waiting
	closed bool
	seats  map[string]*seat
	swept  bool // memory was swept

	fleet atomic.Pointer[fleet]

	changeMu sync.Mutex
	change   chan struct{} // closed at the next change of any status
}

// seat is what a server of a name shares with those before and after it.
type seat struct {
	log logRing
	mu  sync.Mutex // orders what is published
}

// fleet is one immutable set of supervisors.
type fleet struct {
	order []*server
	named map[string]*server
}

// New makes a manager without servers. It ends what a former run of the program
// left behind according to the ledger in Options.StateDir.
func New(o Options) *Manager {
	o = o.withDefaults()
	m := &Manager{o: o, seats: map[string]*seat{}, change: make(chan struct{})}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.d = &dialer{o: o, paths: newPathFinder(m.ctx, o.Shell), slots: make(chan struct{}, max(4, runtime.NumCPU())), ledger: newLedger(o.StateDir), memory: newMemory(o.CacheDir), work: &workers{ctx: m.ctx}}
	m.d.guardian = &guardian{program: o.Guardian, ledger: m.d.ledger, calm: m.d.rush.wait, ctx: m.ctx, logger: o.Logger}
	m.fleet.Store(&fleet{named: map[string]*server{}})
	m.wg.Go(m.watchClock)
	if n := m.d.ledger.sweep(); n > 0 {
		o.Logger.Info("ended servers that an earlier run left behind", "count", n)
	}
	return m
}

// Apply makes specs the configured servers: it starts the new ones, stops those
// that are gone, restarts those that changed and leaves the others alone. What
// does not concern the program, such as time limits and tools that are turned
// off, changes without a restart. It returns at once. Of several specs with one
// name the first counts.
func (m *Manager) Apply(specs []core.ServerSpec) {
	tuned, ok := m.apply(specs)
	for s, spec := range tuned {
		s.tune(spec)
	}
	if ok {
		m.notify("")
	}
}

// apply returns the servers whose settings change, and false when the manager is
// closed.
func (m *Manager) apply(specs []core.ServerSpec) (tuned map[*server]core.ServerSpec, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, false
	}
	tuned = map[*server]core.ServerSpec{}
	old := m.fleet.Load()
	next := &fleet{named: make(map[string]*server, len(specs))}
	var gone []string
	type start struct{ s, after *server }
	var starts []start
	for _, spec := range specs {
		if next.named[spec.Name] != nil {
			continue
		}
		prev := old.named[spec.Name]
		s := prev
		if prev == nil || !reflect.DeepEqual(program(prev.spec), program(spec)) {
			place := m.seats[spec.Name]
			if place == nil {
				place = &seat{}
				place.log.line = func(a core.Activity) { m.o.Line(spec.Name, a) }
				place.log.news = func() { m.o.Emit(event.ServerActivity{Server: spec.Name}) }
				m.seats[spec.Name] = place
			}
			s = newServer(m, spec, place)
			starts = append(starts, start{s, prev})
			if prev != nil {
				prev.silent.Store(true)
				s.follow(prev)
				prev.stop()
			}
		} else if !reflect.DeepEqual(*prev.live.Load(), spec) {
			tuned[prev] = spec
		} else if prev.status.Load().State == core.StateNeedsValues {
			prev.connect() // the value may be there by now
		}
		next.named[spec.Name] = s
		next.order = append(next.order, s)
	}
	for name, s := range old.named {
		if next.named[name] == nil {
			s.silent.Store(true)
			s.stop()
			delete(m.seats, name)
			m.d.memory.forget(name)
			gone = append(gone, name)
		}
	}
	if !m.swept {
		m.swept = true
		names := make(map[string]bool, len(next.named))
		for n := range next.named {
			names[n] = true
		}
		m.wg.Go(func() { m.d.memory.sweep(names) })
	}
	keys := make(map[string]bool, len(next.order))
	for _, s := range next.order {
		keys[s.key] = true
	}
	m.d.memory.keep(keys)
	m.fleet.Store(next)
	for _, st := range starts {
		m.wg.Go(func() { st.s.run(st.after) })
	}
	for _, name := range gone {
		m.wg.Go(func() {
			<-old.named[name].done // a list that is being published now must not come last
			m.mu.Lock()
			again := m.fleet.Load().named[name] != nil
			m.mu.Unlock()
			if !again {
				s := old.named[name]
				s.seat.mu.Lock()
				defer s.seat.mu.Unlock()
				m.o.Publish(name, nil)
			}
		})
	}
	return tuned, true
}

// sameProgram reports whether both configurations reach the same server.
func sameProgram(a, b core.ServerSpec) bool {
	return !b.Disabled && a.Transport == b.Transport && a.Command == b.Command && slices.Equal(a.Args, b.Args) && a.URL == b.URL
}

// notify tells that the status of a server changed; "" means any of them.
func (m *Manager) notify(name string) {
	m.changeMu.Lock()
	close(m.change)
	m.change = make(chan struct{})
	m.changeMu.Unlock()
	if name == "" {
		m.o.Emit(event.ServersChanged{Servers: []string{}})
		return
	}
	m.o.Emit(event.ServersChanged{Servers: []string{name}})
}

// Status returns what is known of every server, in the order of Apply. It never
// waits, and what it returns never changes.
func (m *Manager) Status() []core.ServerStatus {
	f := m.fleet.Load()
	out := make([]core.ServerStatus, len(f.order))
	for i, s := range f.order {
		out[i] = *s.status.Load()
	}
	return out
}

// Tools returns the tools of a server as they were last listed, now or in an
// earlier run, in the server's order, or nil if there is no such server, or it is
// off or was never reached. It never waits. The
// slice is shared and must not be modified.
func (m *Manager) Tools(server string) []core.Tool {
	if s := m.fleet.Load().named[server]; s != nil {
		if l := s.shown.Load(); l != nil {
			return l.tools
		}
	}
	return nil
}

// Reconnect starts or restarts a server, also one that was disconnected, failed
// or waits for its next attempt. It waits for nothing. The error is CodeNotFound,
// or CodeConflict for a server that is disabled in the configuration.
func (m *Manager) Reconnect(_ context.Context, name string) error {
	s, err := m.find(name)
	if err != nil {
		return err
	}
	if s.spec.Disabled {
		return core.Errorf(core.CodeConflict, "The server %s is disabled. Enable it first.", name)
	}
	s.connect()
	return nil
}

// Disconnect stops a server. It stays off until Reconnect, or until its
// configuration changes. It waits for nothing. The error is CodeNotFound.
func (m *Manager) Disconnect(_ context.Context, name string) error {
	s, err := m.find(name)
	if err != nil {
		return err
	}
	s.disconnect()
	return nil
}

// Activity returns the timeline of a server after the entry with the number
// after, the oldest first; 0 means from the begin. The error is CodeNotFound.
func (m *Manager) Activity(name string, after int64) ([]core.Activity, error) {
	s, err := m.find(name)
	if err != nil {
		return nil, err
	}
	return s.log.activity(after), nil
}

// ClearActivity forgets the timeline of a server. The error is CodeNotFound.
func (m *Manager) ClearActivity(name string) error {
	s, err := m.find(name)
	if err != nil {
		return err
	}
	s.log.clear()
	return nil
}

func (m *Manager) find(name string) (*server, error) {
	if s := m.fleet.Load().named[name]; s != nil {
		return s, nil
	}
	return nil, core.Errorf(core.CodeNotFound, "There is no server named %q. Check the name, or add the server.", name)
}

// WaitSettled waits until no server is on its way to a state (see
// core.ServerState.Settled), or until ctx ends, whose error it then returns.
func (m *Manager) WaitSettled(ctx context.Context) error {
	for {
		m.changeMu.Lock()
		change := m.change
		m.changeMu.Unlock()
		settled := true
		for _, st := range m.Status() {
			settled = settled && st.State.Settled()
		}
		if settled {
			return nil
		}
		select {
		case <-change:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close ends every call and every server and waits until no process is left, or
// until ctx ends, whose error it then returns; what still runs then is killed.
// The manager is of no use afterwards.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.wg.Wait()
		m.d.work.wait()
		m.d.paths.end()
		m.d.guardian.end()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	m.d.procs.Range(func(p, _ any) bool {
		p.(*process).kill()
		return true
	})
	return ctx.Err()
}

const (
	clockTick = 5 * time.Second
	clockJump = 15 * time.Second
)

// watchClock notices that the computer slept: the wall clock then moved on
// without the other one.
func (m *Manager) watchClock() {
	t := time.NewTicker(clockTick)
	defer t.Stop()
	last := time.Now()
	for {
		select {
		case <-m.ctx.Done():
			return
		case <-t.C:
		}
		at := time.Now()
		if at.Round(0).Sub(last.Round(0)) > clockJump { // Round(0) drops the monotonic reading
			m.wake()
		}
		last = at
	}
}

// wake verifies what may have died while the computer slept: live links by a
// request, and those between two attempts by trying at once. They spread over a
// second, so that a network that has just come back is not flooded.
func (m *Manager) wake() {
	for _, s := range m.fleet.Load().order {
		m.wg.Go(func() {
			select {
			case <-time.After(rand.N(time.Second)):
			case <-m.ctx.Done():
				return
			}
			if l := s.link.Load(); l != nil {
				l.check()
			} else if s.status.Load().RetryAt != "" {
				s.connect()
			}
		})
	}
}
