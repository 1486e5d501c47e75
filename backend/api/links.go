package api

import (
	"context"
	"strings"
	"sync"

	"patchbay/backend/api/wire"
	"patchbay/backend/config/paste"
	"patchbay/backend/core"
	"patchbay/backend/event"
)

// maxLinks is how many links wait for a page at most.
const maxLinks = 5

// Links holds the links that were opened from outside, such as patchbay:// and
// cursor://, until a page shows them. A link only ever opens the review of what
// it holds: nothing of it is saved or run.
type Links struct {
	emit func(event.Payload)

	mu   sync.Mutex
	wait []string
}

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
	l.mu.Lock()
	if len(l.wait) == maxLinks {
		l.wait = l.wait[1:]
	}
	l.wait = append(l.wait, link)
	l.mu.Unlock()
	l.emit(event.LinkOpened{})
	return nil
}

// take returns the oldest link that waits, "" for none.
func (l *Links) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.wait) == 0 {
		return ""
	}
	link := l.wait[0]
	l.wait = l.wait[1:]
	return link
}

// TakeLink returns the oldest link that was opened from outside and not shown
// yet. It is given out once.
func (m *MCP) TakeLink(_ context.Context) (wire.LinkView, error) {
	if m.links == nil {
		return wire.LinkView{}, nil
	}
	return wire.LinkView{Link: m.links.take()}, nil
}
