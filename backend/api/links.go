package api

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"patchbay/backend/api/wire"
	"patchbay/backend/config/bundle"
	"patchbay/backend/config/paste"
	"patchbay/backend/core"
	"patchbay/backend/event"
)

// maxLinks is how many links wait for a page at most.
const maxLinks = 5

// Links holds what was opened from outside, links such as patchbay:// and
// cursor://, and files, until a page shows it. It only ever opens the review of
// what it holds: nothing of it is saved or run.
type Links struct {
	emit func(event.Payload)

	mu   sync.Mutex
	wait []opened
}

// opened is a link or a file.
type opened struct{ link, path string }

// NewLinks makes it. emit may be nil.
func NewLinks(emit func(event.Payload)) *Links {
	if emit == nil {
		emit = func(event.Payload) {}
	}
	return &Links{emit: emit}
}

// IsLink reports whether text is a link that some program registers for adding
// servers, and no file, address or command.
func IsLink(text string) bool {
	for _, scheme := range []string{"patchbay:", "cursor:", "vscode:", "vscode-insiders:"} {
		if len(text) > len(scheme) && strings.EqualFold(text[:len(scheme)], scheme) {
			return true
		}
	}
	return false
}

// Open takes a link for the page to show. The error says why it holds no server.
func (l *Links) Open(link string) error {
	if !IsLink(link) {
		return core.Errorf(core.CodeInvalid, "This is no link that adds a server. Such a link begins with patchbay:, cursor: or vscode:.")
	}
	if _, err := paste.Parse(link); err != nil {
		return err
	}
	l.add(opened{link: link})
	return nil
}

// OpenFile takes a file for the page to show, a configuration or a bundle. It is
// read when the page takes it.
func (l *Links) OpenFile(path string) { l.add(opened{path: path}) }

func (l *Links) add(o opened) {
	l.mu.Lock()
	if len(l.wait) == maxLinks {
		l.wait = l.wait[1:]
	}
	l.wait = append(l.wait, o)
	l.mu.Unlock()
	l.emit(event.LinkOpened{})
}

// take returns the oldest that waits, the zero value for none.
func (l *Links) take() opened {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.wait) == 0 {
		return opened{}
	}
	o := l.wait[0]
	l.wait = l.wait[1:]
	return o
}

// TakeLink returns the oldest link or file that was opened from outside and not
// shown yet. It is given out once, also when the file cannot be read.
func (m *MCP) TakeLink(ctx context.Context) (wire.LinkView, error) {
	if m.links == nil {
		return wire.LinkView{}, nil
	}
	o := m.links.take()
	if o.path == "" {
		return wire.LinkView{Link: o.link}, nil
	}
	f, err := m.openedFile(ctx, o.path)
	return wire.LinkView{File: f}, err
}

const maxText = 8 << 20 // as much as can be pasted

// openedFile reads a file that a person opened or dropped.
func (m *MCP) openedFile(ctx context.Context, path string) (*wire.OpenedFile, error) {
	out := &wire.OpenedFile{Name: filepath.Base(path)}
	limit := int64(maxText)
	if bundle.IsBundle(path) {
		limit = bundle.MaxBytes
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, core.Errorf(core.CodeUnavailable, "The file %s cannot be read: %w", path, err)
	case !info.Mode().IsRegular():
		return nil, core.Errorf(core.CodeInvalid, "%s is no file. Drop a file with a configuration, or a bundle.", path)
	case info.Size() > limit:
		return nil, core.Errorf(core.CodeTooLarge, "%s is larger than %d MiB. Paste only the part with the servers.", path, limit>>20)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, core.Errorf(core.CodeUnavailable, "The file %s cannot be read: %w", path, err)
	}
	if !bundle.IsBundle(path) {
		out.Text = string(raw)
		return out, nil
	}
	found, err := m.inBundle(ctx, raw)
	out.Found = &found
	return out, err
}
