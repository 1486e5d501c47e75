package mcp

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"patchbay/backend/core"
)

// This file is what a server offers to the outside: its list, as it was listed
// or is remembered, with the person's settings for the tools.

const agedAfter = 10 * time.Minute // a list that nobody announces changes of

// program is spec without what can change while the server runs.
func program(spec core.ServerSpec) core.ServerSpec {
	spec.TimeoutMS, spec.MaxTotalTimeoutMS, spec.ToolTimeouts = 0, 0, nil
	spec.ToolListTTLMS, spec.IdleStopMS, spec.DisabledTools = 0, 0, nil
	if len(spec.Roots) > 0 { // that there are any is told to the server once
		spec.Roots = []string{""}
	} else {
		spec.Roots = nil
	}
	return spec
}

// dress gives tools the settings of spec. The result may be tools itself.
func dress(tools []core.Tool, spec *core.ServerSpec) []core.Tool {
	if spec.TimeoutMS == 0 && spec.MaxTotalTimeoutMS == 0 && len(spec.ToolTimeouts) == 0 && len(spec.DisabledTools) == 0 {
		return tools
	}
	off := make(map[string]bool, len(spec.DisabledTools))
	for _, n := range spec.DisabledTools {
		off[n] = true
	}
	out := make([]core.Tool, len(tools))
	for i, t := range tools {
		t.TimeoutMS, t.MaxTotalMS, t.Disabled = spec.TimeoutMS, spec.MaxTotalTimeoutMS, off[t.Ref.Name]
		if ms := spec.ToolTimeouts[t.Ref.Name]; ms > 0 {
			t.TimeoutMS = ms
		}
		out[i] = t
	}
	return out
}

// offer publishes a tool list; nil takes the tools away.
func (s *server) offer(l *toolList) {
	s.seat.mu.Lock()
	defer s.seat.mu.Unlock()
	old := s.tools.Swap(l)
	if l != nil || old != nil {
		s.show(false)
	}
}

// shown is what is published of a server, and the part of it that are its own tools.
type shown struct{ all, tools []core.Tool }

// show publishes the list as it is now, with what stands for the server's other
// features, if it is another one or always is set. The caller holds the seat.
func (s *server) show(always bool) {
	var now *shown
	var all []core.Tool
	if l := s.tools.Load(); l != nil {
		now = &shown{tools: dress(l.tools, s.live.Load())}
		now.all = append(slices.Clip(now.tools), featureTools(s.spec.Name, l.features)...)
		all = now.all
	}
	if old := s.shown.Swap(now); !always && old != nil && now != nil && reflect.DeepEqual(old.all, now.all) {
		return // a server that is asked again mostly says the same
	}
	if !s.silent.Load() {
		s.m.o.Publish(s.spec.Name, all)
	}
}

// tune brings settings into effect that do not concern the program.
func (s *server) tune(spec core.ServerSpec) {
	s.live.Store(&spec)
	s.seat.mu.Lock()
	if s.tools.Load() != nil {
		s.show(false)
	}
	s.seat.mu.Unlock()
	select {
	case s.tuned <- struct{}{}:
	default:
	}
}

// recall offers what an earlier run knew, so that the tools are there before
// the server is.
func (s *server) recall() {
	r := s.m.d.memory.load(s.spec.Name, s.key)
	if r.Tools == nil || s.spec.Disabled || s.tools.Load() != nil {
		return
	}
	l := newToolList(r.Tools, nil)
	l.at, l.private, l.features = r.FetchedAt, r.Private, r.Features
	s.offer(l)
}

// remember keeps what the link and its list told. It is saved for the next run
// by serve, when the servers that are still starting no longer need the disk.
func (s *server) remember(l *link, list *toolList) {
	s.m.d.memory.change(s.key, func(r *record) {
		r.ProtocolVersion = l.version
		r.ServerTitle, r.ServerVersion = l.title()
		if list != nil {
			r.Tools, r.Features, r.FetchedAt, r.Private = list.tools, list.features, list.at, list.private
		}
	})
	s.unsaved = true
}

func (s *server) save() {
	s.unsaved = false
	if s.silent.Load() {
		return
	}
	if err := s.m.d.memory.save(s.spec.Name, s.key); err != nil {
		s.m.o.Logger.Warn("what is known of a server could not be saved", "server", s.spec.Name, "err", err)
	}
}

// dropPrivate forgets the tools that were those of a person who signed out.
func (s *server) dropPrivate() {
	private := false
	s.m.d.memory.change(s.key, func(r *record) {
		if private = r.Private; private {
			r.Tools, r.Features, r.FetchedAt, r.Private = nil, nil, time.Time{}, false
		}
	})
	if private {
		s.save()
	}
	if l := s.tools.Load(); l != nil && l.private {
		s.offer(nil)
	}
}

// cachedTools tells of the tools that are offered without the server. nothing
// is done where there are none.
func (s *server) cachedTools(st *core.ServerStatus) (told string) {
	l := s.tools.Load()
	if l == nil {
		return ""
	}
	st.ToolCount, st.Features, st.ToolsCachedAt = len(l.tools), l.features, l.at.UTC().Format(time.RFC3339Nano)
	return fmt.Sprintf("%d %s (cached %s)", st.ToolCount, plural(st.ToolCount, "tool", "tools"), ago(time.Since(l.at)))
}

// ago says how long something is past.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

// relist reads the tool list again and publishes it.
func (s *server) relist(l *link) error {
	defer l.checked()
	began := time.Now()
	l.tried = began
	list, err := listTools(l.ctx, l, s.spec.Name, s.m.o.Limits)
	if l.ctx.Err() != nil {
		return errLost
	}
	if err != nil {
		s.log.add("· ", "the tool list could not be read again: "+err.Error())
		var he *httpError
		if errors.As(err, &he) {
			s.suspect(l, he)
		} else if errors.Is(err, context.DeadlineExceeded) && s.spec.Transport != core.TransportStdio {
			l.lose("The server no longer answers.")
		}
		return err
	}
	took := time.Since(began)
	list.private, list.features = l.private(list), l.features()
	l.tools.Store(list)
	s.offer(list)
	s.remember(l, list)
	s.save()
	s.update(func(st *core.ServerStatus) {
		st.ToolCount, st.ToolsCachedAt, st.VerifiedAt, st.LatencyMS = len(list.tools), "", now(), took.Milliseconds()
		st.Message, st.Detail, st.Fix = countMessage(len(list.tools), took), strings.Join(list.notes, "\n"), core.FixNone
	})
	return nil
}

// freshen has an old list read again, for the calls that follow (MCP
// 2026-07-28, Caching: ttlMs).
func (s *server) freshen(l *link) {
	list := l.tools.Load()
	limit := list.ttl
	if limit == 0 && !l.announces() {
		limit = agedAfter
	}
	if limit > 0 && time.Since(list.at) > max(limit, s.m.o.Limits.ListGap) {
		l.touch()
	}
}

// Refresh lists the tools of a server anew and returns when they are published.
// A server that is still starting, or starts on demand, is waited for.
//
// Errors: CodeNotFound, CodeNeedsAuth and CodeNeedsValue as for Call,
// CodeUnavailable (off, failed, lost, or the list cannot be read), CodeTimeout
// and CodeCanceled if ctx ended.
func (m *Manager) Refresh(ctx context.Context, name string) error {
	s, err := m.find(name)
	if err != nil {
		return err
	}
	defer s.use()()
	began := time.Now()
	l, err := s.ready(ctx, "The tools of "+name+" cannot be listed", "its tools were to be listed", nil, time.Time{})
	if err != nil {
		return err
	}
	if !l.tools.Load().at.Before(began) {
		return nil // it has just been started for this
	}
	if err := l.relist(ctx); err != nil {
		if ctx.Err() != nil {
			return ended(ctx, "Listing the tools of "+name)
		}
		return core.Errorf(core.CodeUnavailable, "The tools of %s could not be listed: %w. Try again, or reconnect the server.", name, err)
	}
	return nil
}

// relist has the supervisor read the list again and waits for it.
func (l *link) relist(ctx context.Context) error {
	answer := make(chan error, 1)
	select {
	case l.asked <- answer:
	case <-l.lost:
		return errLost
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-answer:
		return err
	case <-l.lost:
		return errLost
	case <-ctx.Done():
		return ctx.Err()
	}
}

// confirm checks that ref is a tool of the link that may be called, and the one
// that the caller knows: an approval is for a definition, not for a name.
func (l *link) confirm(ref core.ToolRef) (core.Tool, error) {
	list := l.tools.Load()
	t, known := list.get(ref.Name)
	switch {
	case known && t.Broken != "":
		return t, core.Errorf(core.CodeUnavailable, "The tool %s cannot be called. %s", ref, t.Broken)
	case ref.Digest == "":
		return t, nil
	case list.unread:
		return t, core.Errorf(core.CodeUnavailable, "The tool %s was not called: its server does not list its tools, so whether this is still the tool that you know cannot be checked. Reconnect the server.", ref)
	case !known:
		return t, core.Errorf(core.CodeNotFound, "The server %s no longer has the tool %s. Look at its tools again.", ref.Server, ref.Name)
	case t.Ref.Digest != ref.Digest:
		return t, core.Errorf(core.CodeConflict, "The definition of %s changed since it was remembered, so it was not called. Look at it again, then repeat the call.", ref)
	}
	return t, nil
}
