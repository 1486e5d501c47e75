package config

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/moby/sys/atomicwriter"

	"patchbay/backend/core"
	"patchbay/internal/syncdir"
)

// lockWait is how long a change waits for another process to end its own.
const lockWait = 10 * time.Second

// read returns the text on disk. An error is a *core.Error or fs.ErrNotExist.
func (s *Store) read() ([]byte, error) {
	f, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, core.Errorf(core.CodeUnavailable, "%s cannot be read: %w", s.path, err)
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, core.Errorf(core.CodeUnavailable, "%s cannot be read: %w", s.path, err)
	}
	return raw, nil
}

// target resolves links, because a link must not be replaced by a file: people
// keep their configuration elsewhere and link to it.
func (s *Store) target() (string, error) {
	path := s.path
	for range 40 {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		if err != nil {
			return "", err
		}
		next, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(path), next)
		}
		path = next
	}
	return "", errors.New("too many links")
}

// lock keeps other processes from writing. The lock is on a file beside the
// configuration, because the configuration itself is replaced.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	select {
	case s.writer <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l := flock.New(s.path+".lock", flock.SetPermissions(0o600))
	wait, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	ok, err := l.TryLockContext(wait, 20*time.Millisecond)
	if err != nil || !ok {
		<-s.writer
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, core.Errorf(core.CodeUnavailable, "%s is being written by another program, or its folder cannot be written. Try again: %w", s.path, err)
	}
	return func() {
		_ = l.Unlock()
		<-s.writer
	}, nil
}

// create writes the first file.
func (s *Store) create() error {
	unlock, err := s.lock(context.Background())
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Stat(s.path); err == nil { // another process was faster
		return nil
	}
	return s.write(nil, []byte(skeleton))
}

// change edits the newest text on disk and writes it. Nothing is written when
// that text cannot be parsed or edit fails.
func (s *Store) change(ctx context.Context, edit func(*parsed) error) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	raw, err := s.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.mu.RLock()
		raw = bytes.Clone(s.goodRaw)
		s.mu.RUnlock()
	case err != nil:
		return err
	}
	before := raw
	if len(bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")))) == 0 { // nothing that could be lost
		raw = []byte(skeleton)
	}
	p, err := decode(raw)
	if err != nil {
		s.remember(raw, nil, err)
		return refused(err)
	}
	if err := edit(p); err != nil {
		return err
	}
	out := p.doc.Bytes()
	next, err := decode(out)
	if err != nil {
		return core.Errorf(core.CodeInternal, "The change would have made tools.json unreadable and was not written: %w", err)
	}
	if !bytes.Equal(out, before) || os.IsNotExist(statErr(s.path)) {
		if err := s.write(before, out); err != nil {
			return err
		}
	}
	s.remember(out, next, nil)
	s.mu.Lock()
	s.announced = s.hash // the caller knows of its own change
	s.mu.Unlock()
	return nil
}

func statErr(path string) error {
	_, err := os.Stat(path)
	return err
}

func refused(err error) error {
	var e *core.Error
	if !errors.As(err, &e) {
		return err
	}
	c := *e
	c.Message = "Nothing was changed, because the file cannot be read. " + e.Message
	c.Err = err
	return &c
}

// write replaces the file by out in one step and keeps before beside it. The
// file's mode stays; a new file is for its owner only.
func (s *Store) write(before, out []byte) error {
	target, err := s.target()
	if err != nil {
		return core.Errorf(core.CodeUnavailable, "%s cannot be written: %w", s.path, err)
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(target); err == nil {
		mode = info.Mode().Perm()
	}
	if len(before) > 0 {
		if err := atomicwriter.WriteFile(s.path+".bak", before, mode); err != nil {
			return core.Errorf(core.CodeUnavailable, "The copy of tools.json from before the change cannot be written to %s.bak, so nothing was changed: %w", s.path, err)
		}
	}
	if err := atomicwriter.WriteFile(target, out, mode); err != nil {
		return core.Errorf(core.CodeUnavailable, "%s cannot be written: %w", target, err)
	}
	if err := syncdir.Dir(filepath.Dir(target)); err != nil {
		return core.Errorf(core.CodeUnavailable, "%s was written, but may be lost if the computer fails now: %w", target, err)
	}
	return nil
}
