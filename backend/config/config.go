// Package config keeps tools.json, the person's own file of servers and custom
// tools. It reads what is good in it, says where the rest is wrong, edits it in
// place so that comments, order and unknown fields survive, and notices when it
// is edited by hand.
package config

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tailscale/hujson"

	"patchbay/backend/core"
)

// MaxBytes is the largest tools.json that is read.
const MaxBytes = 16 << 20

//go:embed tools.schema.json
var schema string

// Schema returns the JSON Schema (2020-12) of tools.json.
func Schema() []byte { return []byte(schema) }

// CustomTool is a tool of the person's own.
type CustomTool = core.CustomTool

// Skipped is an entry that cannot be used. It stays in the file.
type Skipped struct {
	Kind  string      `json:"kind"` // "server" or "tool"
	Name  string      `json:"name"` // "" when it has none
	Error *core.Error `json:"error"`
}

// File is the content of tools.json at one moment.
type File struct {
	Servers []core.ServerSpec `json:"servers"` // in the order of the file
	Tools   []CustomTool      `json:"tools"`
	// Warnings are sentences about what was read otherwise than written, one
	// for each skipped entry among them.
	Warnings []string  `json:"warnings"`
	Skipped  []Skipped `json:"skipped"`
	// Revision identifies the text that this was read from; "" when none could be read yet.
	Revision string `json:"revision"`
}

// clone copies f so that a caller may change it.
func (f File) clone() File {
	f.Servers = slices.Clone(f.Servers)
	for i := range f.Servers {
		s := &f.Servers[i]
		s.Args, s.Env, s.Headers = slices.Clone(s.Args), maps.Clone(s.Env), maps.Clone(s.Headers)
		s.AllowLoaders = slices.Clone(s.AllowLoaders)
	}
	f.Tools, f.Warnings, f.Skipped = slices.Clone(f.Tools), slices.Clone(f.Warnings), slices.Clone(f.Skipped)
	for i := range f.Tools {
		t := &f.Tools[i]
		t.Parameters = bytes.Clone(t.Parameters)
		t.Hosts, t.Folders, t.WriteFolders, t.Secrets = slices.Clone(t.Hosts), slices.Clone(t.Folders), slices.Clone(t.WriteFolders), slices.Clone(t.Secrets)
		if t.HTTP != nil {
			c := *t.HTTP
			c.Headers, c.Query, c.Body = maps.Clone(c.Headers), maps.Clone(c.Query), bytes.Clone(c.Body)
			c.Cookies, c.Files = maps.Clone(c.Cookies), slices.Clone(c.Files)
			if c.Auth != nil {
				auth := *c.Auth
				c.Auth = &auth
			}
			t.HTTP = &c
		}
		if t.Tools != nil {
			names := slices.Clone(*t.Tools)
			t.Tools = &names
		}
	}
	return f
}

// Store is the one reader and writer of a tools.json in this process. Other
// processes may have their own. It is safe for concurrent use and holds no
// resources between calls, so there is nothing to close.
type Store struct {
	path   string
	writer chan struct{} // held by the one change that is under way

	mu        sync.RWMutex
	good      File
	goodRaw   []byte // the text of good
	hash      string // of the newest text seen, good or not
	err       error  // why the newest text cannot be used
	announced string // the hash that the callback of Watch knows of
	removed   map[string]removedServer
}

type removedServer struct {
	spec core.ServerSpec
	raw  hujson.Value
}

const skeleton = "{\n  \"tools\": [],\n  \"mcpServers\": []\n}\n"

// Open reads the file at path, which may be a symbolic link. The folder and a
// first file (mode 0600) are made when they are missing. A file that cannot be
// parsed is not an error of Open: see [Store.Current].
func Open(path string) (*Store, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, core.Errorf(core.CodeInvalid, "The path %q of tools.json cannot be used: %w", path, err)
	}
	s := &Store{path: abs, writer: make(chan struct{}, 1), removed: map[string]removedServer{}}
	if err := os.MkdirAll(filepath.Dir(abs), 0o700); err != nil {
		return nil, core.Errorf(core.CodeUnavailable, "The folder %s for tools.json cannot be made: %w", filepath.Dir(abs), err)
	}
	if _, err := os.Stat(abs); errors.Is(err, fs.ErrNotExist) {
		if err := s.create(); err != nil {
			return nil, err
		}
	}
	if _, err := s.Reload(); err != nil {
		return nil, err
	}
	s.announced = s.hash
	return s, nil
}

// Path returns the absolute path of the file, links not resolved.
func (s *Store) Path() string { return s.path }

// Current returns the last good content. The error, a [core.Error] with line and
// column, is that of the newest text on disk; the content is then that of the
// text before it, empty if there was none. It never waits for the disk. The
// caller owns the result.
func (s *Store) Current() (File, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.good.clone(), s.err
}

// Reload reads the file anew and reports whether its text differs from what was
// known. A text that cannot be used is told by [Store.Current], not by the
// error, which says that the file itself cannot be read.
func (s *Store) Reload() (changed bool, err error) {
	// Not during a change of ours, whose outcome would be taken back by what
	// was read before it.
	s.writer <- struct{}{}
	defer func() { <-s.writer }()
	raw, err := s.read()
	if errors.Is(err, fs.ErrNotExist) {
		return s.gone(), nil
	}
	if err != nil {
		return false, err
	}
	s.mu.RLock()
	same := s.hash == hashOf(raw)
	s.mu.RUnlock()
	if same {
		return false, nil
	}
	parsed, perr := decode(raw)
	s.remember(raw, parsed, perr)
	return true, nil
}

// gone notes that the file was taken away; the last good content stays in use.
func (s *Store) gone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hash == "gone" {
		return false
	}
	s.hash = "gone"
	s.err = core.Errorf(core.CodeNotFound, "%s is gone. Its last content is still in use and is written again with the next change.", s.path)
	return true
}

// remember takes a text that was read, with what became of it.
func (s *Store) remember(raw []byte, p *parsed, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hash, s.err = hashOf(raw), err
	if err == nil {
		s.good, s.goodRaw = p.file, raw
	}
}

func hashOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// AddServer adds spec at the end. Its transport is inferred when it is "". The
// error has code invalid when the server cannot be used, conflict when the name
// is taken; a file that cannot be parsed is never written.
func (s *Store) AddServer(ctx context.Context, spec core.ServerSpec) error {
	return s.AddServerAt(ctx, -1, spec)
}

// AddServerAt is AddServer at position at among the servers; a negative or too
// large position means the end. A server that was removed through this Store
// and is unchanged comes back with its comments and unknown fields.
func (s *Store) AddServerAt(ctx context.Context, at int, spec core.ServerSpec) error {
	spec, err := checkServer(spec)
	if err != nil {
		return err
	}
	return s.change(ctx, func(p *parsed) error {
		if p.server(spec.Name) != nil {
			return taken("server", spec.Name)
		}
		return p.insertServer(at, spec, s.rawOf(spec))
	})
}

func (s *Store) rawOf(spec core.ServerSpec) *hujson.Value {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if r, ok := s.removed[spec.Name]; ok && sameServer(r.spec, spec) {
		return &r.raw
	}
	return nil
}

// UpdateServer replaces what the server called name is set to by spec, which
// may have another name. Fields of the entry that are not known here stay.
func (s *Store) UpdateServer(ctx context.Context, name string, spec core.ServerSpec) error {
	spec, err := checkServer(spec)
	if err != nil {
		return err
	}
	return s.change(ctx, func(p *parsed) error {
		e := p.server(name)
		switch {
		case e == nil:
			return notFound("server", name)
		case spec.Name != name && p.server(spec.Name) != nil:
			return taken("server", spec.Name)
		}
		return p.updateServer(e, spec)
	})
}

// RemoveServer takes the server called name out of the file, also one that
// cannot be used.
func (s *Store) RemoveServer(ctx context.Context, name string) error {
	var gone *removedServer
	err := s.change(ctx, func(p *parsed) error {
		e := p.server(name)
		if e == nil {
			return notFound("server", name)
		}
		if e.ok {
			gone = &removedServer{spec: e.spec, raw: e.value.Clone()}
		}
		p.remove(e)
		return nil
	})
	if err == nil && gone != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.removed) > 50 { // undo is for the last few
			clear(s.removed)
		}
		s.removed[name] = *gone
	}
	return err
}

// AddTool adds t at the end; see [Store.AddServer] for the errors.
func (s *Store) AddTool(ctx context.Context, t CustomTool) error {
	t, err := checkTool(t)
	if err != nil {
		return err
	}
	return s.change(ctx, func(p *parsed) error {
		if p.tool(t.Name) != nil {
			return taken("tool", t.Name)
		}
		return p.insertTool(t)
	})
}

// AddTools adds all of list at the end, or none. A name that is taken gets a
// number; the names are returned in the order of list.
func (s *Store) AddTools(ctx context.Context, list []CustomTool) ([]string, error) {
	checked := make([]CustomTool, 0, len(list))
	for _, t := range list {
		t, err := checkTool(t)
		if err != nil {
			return nil, err
		}
		checked = append(checked, t)
	}
	var names []string
	err := s.change(ctx, func(p *parsed) error {
		names = names[:0]
		used := map[string]bool{}
		for _, t := range checked {
			first := t.Name
			for n := 2; used[t.Name] || p.tool(t.Name) != nil; n++ {
				t.Name = fmt.Sprintf("%s_%d", first, n)
			}
			used[t.Name] = true
			names = append(names, t.Name)
			if err := p.insertTool(t); err != nil {
				return err
			}
		}
		return nil
	})
	return names, err
}

// UpdateTool replaces the tool called name by t, which may have another name.
// Fields of the entry that are not known here stay.
func (s *Store) UpdateTool(ctx context.Context, name string, t CustomTool) error {
	t, err := checkTool(t)
	if err != nil {
		return err
	}
	return s.change(ctx, func(p *parsed) error {
		e := p.tool(name)
		switch {
		case e == nil:
			return notFound("tool", name)
		case t.Name != name && p.tool(t.Name) != nil:
			return taken("tool", t.Name)
		}
		return p.updateTool(e, t)
	})
}

// RemoveTool takes the tool called name out of the file.
func (s *Store) RemoveTool(ctx context.Context, name string) error {
	return s.change(ctx, func(p *parsed) error {
		e := p.tool(name)
		if e == nil {
			return notFound("tool", name)
		}
		p.remove(e)
		return nil
	})
}

func taken(kind, name string) error {
	return core.Errorf(core.CodeConflict, "There is already a %s called %q in tools.json. Choose another name.", kind, name)
}

func notFound(kind, name string) error {
	return core.Errorf(core.CodeNotFound, "There is no %s called %q in tools.json.", kind, name)
}
