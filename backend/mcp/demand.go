package mcp

import (
	"time"

	"patchbay/backend/core"
)

// idleStop is how long a server that starts on demand runs on without a call.
const idleStop = 5 * time.Minute

// use notes that somebody needs the server, until the returned function is
// called: it does not stop for want of calls meanwhile.
func (s *server) use() (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.using++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.using--
		s.used = time.Now()
	}
}

// demand starts a server that waits for its first call.
func (s *server) demand() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.wanted {
		s.wanted, s.used = true, time.Now()
		s.interrupt()
	}
}

// idle returns how long the server may still run without a call. ok is false
// for a server that does not stop when idle. l is its link; nil for none.
func (s *server) idle(l *link) (left time.Duration, ok bool) {
	if s.spec.Start != core.StartOnDemand {
		return 0, false
	}
	limit := idleStop
	if ms := s.live.Load().IdleStopMS; ms > 0 {
		limit = time.Duration(ms) * time.Millisecond
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.using > 0 || l != nil && (len(s.watched) > 0 || l.asks.open()) {
		return limit, true // who watches a resource waits for its news
	}
	return limit - time.Since(s.used), true
}

// sleepy decides that the server stops until it is used again; false if it is
// in use. From then on no call gets the link.
func (s *server) sleepy(l *link) bool {
	if left, ok := s.idle(l); !ok || left > 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.using > 0 || len(s.watched) > 0 {
		return false
	}
	s.wanted = false
	s.link.CompareAndSwap(l, nil)
	return true
}

// unused decides that a server which starts on demand and cannot be reached is
// not tried any longer, until it is used again. left is how long to go on.
func (s *server) unused() (left time.Duration, over bool) {
	left, ok := s.idle(nil)
	if !ok || left > 0 {
		return left, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted = s.using > 0
	return 0, !s.wanted
}

// doze is the state of a server that waits for its first call. Its tools stay listed.
func (s *server) doze() {
	r := s.m.d.memory.get(s.key)
	trouble := ""
	if st := s.status.Load(); st.State == core.StateFailed || st.State == core.StateCrashLoop {
		trouble = st.Message
	}
	s.update(func(st *core.ServerStatus) {
		*st = core.ServerStatus{Name: st.Name, Transport: st.Transport, State: core.StateOnDemand, Since: st.Since, VerifiedAt: st.VerifiedAt,
			ServerTitle: r.ServerTitle, ServerVersion: r.ServerVersion, ProtocolVersion: r.ProtocolVersion, Features: r.Features}
		st.Message = "Ready, starts when used."
		if told := s.cachedTools(st); told != "" {
			st.Message = "Ready, starts when used, " + told + "."
		}
		if trouble != "" {
			st.Message, st.Detail = "Starts when used. The last start failed.", trouble
		}
	})
}
