package config

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"patchbay/backend/core"
)

// settle is how long the file must be quiet before it is read: editors write in
// several steps.
const settle = 100 * time.Millisecond

// poll is how often the file is read where changes are not reported, as on some
// network drives.
const poll = 2 * time.Second

// Watch reads the file again whenever it changes on disk and calls changed when
// its text is new, be it good or not. Changes made through this Store are not
// told. It blocks until ctx is done and then returns nil; changed runs on
// Watch's goroutine.
func (s *Store) Watch(ctx context.Context, changed func()) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return s.pollLoop(ctx, changed)
	}
	defer func() { _ = w.Close() }()
	// The folder is watched, not the file: a watch on a file ends with its
	// first atomic replacement.
	watched := map[string]bool{}
	watch := func() {
		dirs := []string{filepath.Dir(s.path)}
		if t, err := s.target(); err == nil {
			dirs = append(dirs, filepath.Dir(t))
		}
		for _, d := range dirs {
			if !watched[d] && w.Add(d) == nil {
				watched[d] = true
			}
		}
	}
	watch()
	if len(watched) == 0 {
		return s.pollLoop(ctx, changed)
	}
	s.announce(changed) // what changed before the watch began
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case ev, ok := <-w.Events:
			if !ok {
				return core.Errorf(core.CodeInternal, "The watch on %s ended.", s.path)
			}
			if s.concerns(ev.Name) { // a busy neighbour must not put the reading off
				timer.Reset(settle)
			}
		case err, ok := <-w.Errors:
			if !ok {
				return core.Errorf(core.CodeInternal, "The watch on %s ended.", s.path)
			}
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				timer.Reset(settle)
			}
		case <-timer.C:
			watch()
			s.announce(changed)
		}
	}
}

// concerns reports whether name is the file or what it links to.
func (s *Store) concerns(name string) bool {
	if name == s.path {
		return true
	}
	t, err := s.target()
	return err == nil && name == t
}

func (s *Store) pollLoop(ctx context.Context, changed func()) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		s.announce(changed)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// announce reads the file and calls changed if its text is not known there.
func (s *Store) announce(changed func()) {
	if _, err := s.Reload(); err != nil {
		s.mu.Lock()
		s.hash, s.err = "unreadable", err
		s.mu.Unlock()
	}
	s.mu.Lock()
	news := s.hash != s.announced
	s.announced = s.hash
	s.mu.Unlock()
	if news && changed != nil {
		changed()
	}
}
