package mcp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/backend/core"
)

const (
	quickTries    = 3                // of a process that exits at once
	crashes       = 5                // losses …
	crashWindow   = 30 * time.Second // … within this time are a crash loop
	healthyAfter  = time.Minute      // a link that lived this long starts the count anew
	listDebounce  = 50 * time.Millisecond
	logDelay      = 300 * time.Millisecond // the servers that are still starting come first
	logLevelLimit = 2 * time.Second
)

// server supervises one configured server. Its goroutine owns the state; what
// others read are the atomic snapshots.
type server struct {
	m    *Manager
	spec core.ServerSpec // as it was started; what is in use of its settings is in live
	key  string          // of what is remembered of it
	seat *seat
	log  *logRing
	ctx  context.Context
	stop context.CancelFunc
	done chan struct{}

	status atomic.Pointer[core.ServerStatus]
	live   atomic.Pointer[core.ServerSpec]
	tools  atomic.Pointer[toolList] // as listed
	shown  atomic.Pointer[shown]    // the same as published
	link   atomic.Pointer[link]
	silent atomic.Bool // replaced or removed: tell nobody any more

	mu        sync.Mutex
	paused    bool               // disconnected by hand
	wanted    bool               // to be connected: always, since a call, or since a person asked
	using     int                // calls that need it
	used      time.Time          // the end of the last one, or of its start
	interrupt context.CancelFunc // ends what the supervisor does now
	changed   chan struct{}      // closed at the next change of status
	watched   map[string]bool    // the resources that somebody subscribed to

	until atomic.Pointer[time.Time] // the end of the sign-in that is under way; nil for none
	poke  chan struct{}             // until changed
	tuned chan struct{}             // live changed
	drop  atomic.Bool               // forget the tools of who signed out

	unsaved bool // what was learned is not on disk yet; the supervisor's
}

// newServer makes a supervisor and its first status; run starts it.
func newServer(m *Manager, spec core.ServerSpec, place *seat) *server {
	s := &server{m: m, spec: spec, key: keyOf(spec), seat: place, log: &place.log, wanted: spec.Start == core.StartWithApp, tuned: make(chan struct{}, 1), done: make(chan struct{}), changed: make(chan struct{}), interrupt: func() {}, poke: make(chan struct{}, 1)}
	s.ctx, s.stop = context.WithCancel(m.ctx)
	s.live.Store(&spec)
	st := core.ServerStatus{Name: spec.Name, Transport: spec.Transport, State: core.StateStarting, Message: "Starting…", Since: now()}
	if spec.Disabled {
		st.State, st.Message, st.Fix = core.StateOff, "Off.", core.FixReconnect
	}
	s.status.Store(&st)
	return s
}

// follow takes over from the server of the same name that s replaces, which has
// not been stopped yet.
func (s *server) follow(prev *server) {
	if sameProgram(prev.spec, s.spec) { // its tools stay known while it restarts
		s.tools.Store(prev.tools.Load())
		s.shown.Store(prev.shown.Load())
	}
	prev.mu.Lock()
	defer prev.mu.Unlock()
	s.wanted = s.wanted || s.spec.Start == core.StartManual && prev.spec.Start == core.StartManual && prev.wanted && !prev.paused
}

func now() string { return time.Now().UTC().Format(time.RFC3339Nano) }

// update publishes the status that f makes of the last one. Only the
// supervisor calls it.
func (s *server) update(f func(*core.ServerStatus)) {
	old := s.status.Load()
	next := *old
	f(&next)
	if next.State != old.State {
		next.Since, next.Flag = now(), core.FlagNone
	}
	s.status.Store(&next)
	s.mu.Lock()
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	if next.State != old.State || next.Message != old.Message && next.State != core.StateInstalling { // which counts seconds
		s.log.add("· ", string(next.State)+": "+next.Message)
	}
	if !s.silent.Load() {
		s.m.notify(s.spec.Name)
	}
}

// set moves to a state and forgets what belonged to the one before.
func (s *server) set(state core.ServerState, msg string, fix core.Fix) {
	s.update(func(st *core.ServerStatus) {
		st.State, st.Message, st.Fix = state, msg, fix
		st.Detail, st.RetryAt, st.MissingValues = "", "", nil
	})
}

// wait returns a channel that is closed at the next change of status.
func (s *server) wait() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// connect and disconnect are what a person asks for. They wait for nothing.

func (s *server) connect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused, s.wanted, s.used = false, true, time.Now()
	s.interrupt()
}

func (s *server) disconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused, s.wanted = true, s.spec.Start == core.StartWithApp
	s.interrupt()
}

// epoch begins a stretch of work that connect, disconnect and demand interrupt.
func (s *server) epoch() (ctx context.Context, cancel context.CancelFunc, paused, wanted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel = context.WithCancel(s.ctx)
	s.interrupt = cancel
	return ctx, cancel, s.paused, s.wanted
}

// run supervises until the server is stopped. after is the supervisor that it
// replaces, whose process must be gone first; nil for none.
func (s *server) run(after *server) {
	defer close(s.done)
	s.recall()
	if after != nil {
		<-after.done
		s.seat.mu.Lock()
		s.show(true) // with its own settings; or none, if those were the tools of another program
		s.seat.mu.Unlock()
	}
	if s.spec.Start == core.StartOnDemand && s.m.d.memory.get(s.key).Tools == nil {
		s.demand() // once, to learn its tools
	}
	for s.ctx.Err() == nil {
		ctx, cancel, paused, wanted := s.epoch()
		if s.drop.Swap(false) {
			s.dropPrivate()
		}
		switch {
		case paused, s.spec.Disabled:
			s.rest(core.StateOff, "Off.", core.FixReconnect)
			<-ctx.Done()
		case !wanted && s.spec.Start == core.StartManual:
			s.rest(core.StateOff, "Off. It starts when you connect it.", core.FixReconnect)
			<-ctx.Done()
		case !wanted:
			s.doze()
			<-ctx.Done()
		default:
			s.keep(ctx)
		}
		cancel()
	}
	s.rest(core.StateOff, "Off.", core.FixReconnect)
}

// rest is a state without tools.
func (s *server) rest(state core.ServerState, msg string, fix core.Fix) {
	s.offer(nil)
	s.update(func(st *core.ServerStatus) {
		*st = core.ServerStatus{Name: st.Name, Transport: st.Transport, State: state, Message: msg, Fix: fix, Since: st.Since, VerifiedAt: st.VerifiedAt}
	})
}

// keep holds the server connected until ctx ends, or until it is idle and starts
// on demand: it dials, serves, and decides after every failure and loss what
// comes next.
func (s *server) keep(ctx context.Context) {
	pause := &backoff.ExponentialBackOff{InitialInterval: s.m.o.Limits.BackoffMin, MaxInterval: s.m.o.Limits.BackoffMax, Multiplier: 2, RandomizationFactor: 0.5}
	pause.Reset()
	var losses []time.Time
	fails, attempt, ever := 0, 0, false
	starting := core.StateStarting
	for ctx.Err() == nil {
		attempt++
		n := attempt
		s.update(func(st *core.ServerStatus) {
			st.State, st.Attempt, st.RetryAt, st.Fix, st.MissingValues = starting, n, "", core.FixNone, nil
			if starting == core.StateStarting && n == 1 {
				st.Message, st.Detail = "Starting…", ""
				if told := s.cachedTools(st); told != "" {
					st.Message += " " + told
				}
			} else if starting == core.StateReconnecting {
				st.Message = "Connecting again…"
			}
		})
		l, err := s.dial(ctx, starting)
		if err == nil {
			began := time.Now()
			ever, fails = true, 0
			reason, idle := s.serve(ctx, l)
			if ctx.Err() != nil || idle {
				return
			}
			if l.denied.Load() {
				s.await(ctx, needsSignIn(s.spec, l.auth, 401))
				return
			}
			if time.Since(began) > healthyAfter {
				losses, attempt = nil, 0
				pause.Reset()
			}
			losses = append(losses, time.Now())
			for len(losses) > 0 && time.Since(losses[0]) > crashWindow {
				losses = losses[1:]
			}
			starting = core.StateReconnecting
			if len(losses) >= crashes && s.spec.Transport == core.TransportStdio { // starting a process costs; asking a host later does not
				de := &dialError{state: core.StateCrashLoop, fix: core.FixShowLog, detail: l.tail(&s.log.secrets)}
				de.message = fmt.Sprintf("%s crashed %d times within %s and was stopped. %s", s.spec.Name, len(losses), seconds(crashWindow), reason)
				s.await(ctx, de)
				return
			}
			// One loss is an accident: straight back, but not all servers at the same moment.
			wait := rand.N(500 * time.Millisecond)
			if len(losses) > 1 {
				wait = pause.NextBackOff()
			}
			s.retry(ctx, core.StateReconnecting, "Connection lost. "+reason+" Connecting again.", l.tail(&s.log.secrets), core.FixReconnect, wait)
			continue
		}
		if ctx.Err() != nil {
			return
		}
		var de *dialError
		if !errors.As(err, &de) {
			de = failed(stepHandshake, core.FixReconnect, false, "%s could not be reached: %s", s.spec.Name, sentence(err.Error()))
		}
		fails++
		stdio := s.spec.Transport == core.TransportStdio
		switch {
		case de.final && !ever, de.state != core.StateFailed, stdio && !ever && fails >= quickTries, stdio && fails >= 6:
			s.await(ctx, de)
			return
		case stdio && !ever: // a process that exits at once may be luckier the next time
			wait := s.m.o.Limits.BackoffMin << (fails - 1) / 2
			s.retry(ctx, core.StateStarting, fmt.Sprintf("%s Trying again (%d of %d).", de.message, fails+1, quickTries), de.detail, core.FixShowLog, wait)
		default:
			starting = core.StateReconnecting
			s.retry(ctx, core.StateFailed, de.message, de.detail, de.fix, pause.NextBackOff())
			if _, over := s.unused(); over {
				return
			}
		}
	}
}

// dial makes one attempt, from placeholders to a tool list.
func (s *server) dial(ctx context.Context, starting core.ServerState) (*link, error) {
	spec, err := s.m.d.expandSpec(ctx, s.spec, &s.log.secrets)
	if err != nil {
		return nil, err
	}
	a := &attempt{spec: spec, key: s.key, log: s.log}
	if starting == core.StateStarting { // a reconnect shows as just that
		a.state = func(state core.ServerState, msg string) { s.set(state, msg, core.FixNone) }
		a.leave = s.m.d.rush.enter()
		defer a.leave()
	}
	l, err := s.m.d.dial(ctx, a)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	list, err := s.m.d.firstList(ctx, l, spec)
	if err != nil && ctx.Err() == nil && l.denied.Load() {
		l.close()
		return nil, needsSignIn(s.spec, l.auth, 401)
	}
	if err != nil && (ctx.Err() != nil || errors.Is(err, errLost)) {
		why := l.lostListing(ctx, s.spec.Name)
		l.close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		de := failed(stepList, core.FixShowLog, false, "%s", why)
		de.detail = l.tail(&s.log.secrets)
		return nil, de
	}
	s.connected(l, list, err, time.Since(began))
	return l, nil
}

// lostListing says why a link was lost while the server listed its tools.
func (l *link) lostListing(ctx context.Context, server string) string {
	select {
	case <-l.lost:
		return server + " ended while it listed its tools. " + l.reason
	case <-time.After(time.Second):
	case <-ctx.Done():
	}
	return server + " ended while it listed its tools."
}

// connected publishes a fresh link and its tools.
func (s *server) connected(l *link, list *toolList, listErr error, took time.Duration) {
	info := l.session.InitializeResult()
	if list == nil {
		list = newToolList(nil, nil)
		list.unread = listErr != nil
	}
	list.private, list.features = l.private(list), l.features()
	l.tools.Store(list)
	known := s.tools.Load()
	if !list.unread || known == nil { // what is known is better than nothing
		s.offer(list)
		known = list
	}
	if list.unread {
		s.remember(l, nil)
	} else {
		s.remember(l, list)
	}
	s.mu.Lock()
	s.used = time.Now() // the time without a call begins
	s.mu.Unlock()
	s.link.Store(l)
	for _, n := range list.notes {
		s.log.add("· ", n)
	}
	s.update(func(st *core.ServerStatus) {
		*st = core.ServerStatus{Name: st.Name, Transport: st.Transport, State: core.StateConnected, Since: st.Since,
			VerifiedAt: now(), LatencyMS: took.Milliseconds(), ToolCount: len(known.tools), ProtocolVersion: l.version, EraReason: l.why, Features: list.features,
			Message: countMessage(len(known.tools), took), Instructions: info.Instructions, Detail: strings.Join(append(l.notes(), list.notes...), "\n")}
		st.ServerTitle, st.ServerVersion = l.title()
		if listErr != nil {
			if known != list {
				s.cachedTools(st)
			}
			st.Message, st.Fix = "Connected, but its tools cannot be listed: "+sentence(reason(listErr)), core.FixReconnect
		}
	})
}

func countMessage(n int, took time.Duration) string {
	return fmt.Sprintf("%d %s, %d ms", n, plural(n, "tool", "tools"), took.Milliseconds())
}

// serve keeps the tool list fresh until the link is lost or ctx ends, closes
// the link and says why it was lost. idle says that it was for want of calls.
func (s *server) serve(ctx context.Context, l *link) (reason string, idle bool) {
	defer func() {
		s.link.CompareAndSwap(l, nil)
		if s.unsaved {
			s.save()
		}
		l.close()
	}()
	hear := time.NewTimer(logDelay)
	defer hear.Stop()
	var calm <-chan time.Time // the end of a burst of announcements; nil for none
	rest := listDebounce
	var last time.Time // that the list was read for being announced
	for {
		stale := l.stale
		if calm != nil {
			stale = nil
		}
		wait, timed := s.chore(l)
		chore := time.NewTimer(wait)
		if !timed {
			chore.Stop()
		}
		select {
		case <-ctx.Done():
			chore.Stop()
			return "", false
		case <-l.lost:
			chore.Stop()
			return l.reason, false
		case <-hear.C:
			if s.unsaved {
				s.save()
			}
			l.hear(ctx, s.log)
			s.watchAgain(l)
		case answer := <-l.asked:
			answer <- s.relist(l)
		case <-s.tuned:
			s.tellRoots(ctx, l)
		case <-l.noted:
			s.update(func(st *core.ServerStatus) { st.Flag = l.flag() })
		case <-chore.C:
			if s.sleepy(l) {
				s.log.add("· ", "stopped, since nobody used it")
				return "", true
			}
			if s.expired(l) <= 0 {
				_ = s.relist(l) // told in the log
			}
		case <-stale:
			// Servers announce every change by itself: let a burst pass. One that
			// never ends must not have the list read all the time.
			if time.Since(last) < 2*rest {
				rest = min(2*rest, max(listDebounce, s.m.o.Limits.ListGap))
			} else {
				rest = listDebounce
			}
			calm = time.After(rest)
		case <-calm:
			select {
			case <-l.stale:
			default:
			}
			_ = s.relist(l) // told in the log
			calm, last = nil, time.Now()
		}
		chore.Stop()
	}
}

// chore returns when serve has something to do next; false means never.
func (s *server) chore(l *link) (time.Duration, bool) {
	wait, timed := s.idle(l)
	if s.live.Load().ToolListTTLMS > 0 {
		if left := s.expired(l); !timed || left < wait {
			wait, timed = left, true
		}
	}
	return max(wait, 10*time.Millisecond), timed
}

// expired returns how long the person's settings let the list count as good.
func (s *server) expired(l *link) time.Duration {
	ms := s.live.Load().ToolListTTLMS
	if ms == 0 {
		return time.Hour
	}
	read := l.tools.Load().at
	if tried := l.tried; tried.After(read) { // a list that cannot be read is not asked for all the time
		read = tried
	}
	return max(time.Duration(ms)*time.Millisecond, s.m.o.Limits.ListGap) - time.Since(read)
}

func (s *server) give(de *dialError) {
	s.update(func(st *core.ServerStatus) {
		st.State, st.Message, st.Detail, st.Fix, st.RetryAt, st.MissingValues = de.state, de.message, de.detail, de.fix, "", de.missing
	})
}

// await gives up until ctx ends, in a state that only a person leaves; a server
// that starts on demand forgets after a while that it failed. The tools stay
// listed. Meanwhile it shows when a person signs in.
func (s *server) await(ctx context.Context, de *dialError) {
	s.give(de)
	forgets := s.spec.Start == core.StartOnDemand && (de.state == core.StateFailed || de.state == core.StateCrashLoop)
	tired := time.NewTimer(time.Hour)
	defer tired.Stop()
	for {
		if forgets {
			left, over := s.unused()
			if over {
				return
			}
			tired.Reset(max(left, 10*time.Millisecond))
		}
		if until := s.until.Load(); until != nil {
			s.update(func(st *core.ServerStatus) {
				st.State, st.Fix, st.Detail, st.RetryAt = core.StateSigningIn, core.FixNone, "", ""
				st.Message = "Finish in your browser, before " + until.Local().Format("15:04") + "."
			})
		} else if s.status.Load().State == core.StateSigningIn {
			s.give(de)
		}
		select {
		case <-ctx.Done():
			return
		case <-s.poke:
		case <-tired.C:
		}
	}
}

// signing says until when a person has time to sign in; nil that nobody does any more.
func (s *server) signing(until *time.Time) {
	s.until.Store(until)
	select {
	case s.poke <- struct{}{}:
	default:
	}
}

// retry shows what went wrong and waits for the next attempt.
func (s *server) retry(ctx context.Context, state core.ServerState, msg, detail string, fix core.Fix, wait time.Duration) {
	at := time.Now().Add(wait).UTC().Format(time.RFC3339Nano)
	s.update(func(st *core.ServerStatus) {
		st.State, st.Message, st.Detail, st.Fix, st.RetryAt, st.MissingValues = state, msg, detail, fix, at, nil
	})
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// firstList lists the tools of a new link. nil, nil means that the server
// offers none.
func (d *dialer) firstList(ctx context.Context, l *link, spec core.ServerSpec) (*toolList, error) {
	if caps := l.session.InitializeResult().Capabilities; caps == nil || caps.Tools == nil {
		return nil, nil
	}
	lctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.ctx, cancel)()
	list, err := listTools(lctx, l, spec.Name, d.o.Limits)
	if err != nil && l.ctx.Err() != nil && ctx.Err() == nil {
		return nil, errLost
	}
	return list, err
}

// hear asks a server of the older revisions for its log (MCP 2025-11-25,
// Logging); without being asked it may stay silent.
func (l *link) hear(ctx context.Context, log *logRing) {
	caps := l.session.InitializeResult().Capabilities
	//lint:ignore SA1019 the servers of the older revisions are the point
	if l.version >= versionModern || caps == nil || caps.Logging == nil {
		return
	}
	c, cancel := context.WithTimeout(ctx, logLevelLimit)
	defer cancel()
	defer context.AfterFunc(l.ctx, cancel)()
	//lint:ignore SA1019 as above
	if err := l.session.SetLoggingLevel(c, &sdk.SetLoggingLevelParams{Level: "info"}); err != nil {
		log.add("· ", "the server refused to send its log: "+err.Error())
	}
}

// notes says what was odd about the link, though it works.
func (l *link) notes() []string {
	if r, ok := l.rpc.(*stdioRPC); ok {
		if n := r.conn.junked.Load(); n > 0 {
			return []string{fmt.Sprintf("It printed %d %s on stdout that %s not MCP; %s skipped. See its log.", n, plural(int(n), "line", "lines"), plural(int(n), "is", "are"), plural(int(n), "it was", "they were"))}
		}
	}
	return nil
}

// tail is the end of the server's stderr, "" where there is none.
func (l *link) tail(hide *redactor) string {
	if r, ok := l.rpc.(*stdioRPC); ok {
		return hide.hide(lastLines(strings.TrimSpace(r.conn.proc.stderr.String()), 40))
	}
	return ""
}
