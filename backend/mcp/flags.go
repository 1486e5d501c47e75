package mcp

import (
	"encoding/json"
	"strings"
	"sync/atomic"

	"patchbay/backend/core"
)

// linkFlags are what is doubtful of a link, though it is up.
type linkFlags struct {
	checking atomic.Bool // the computer slept
	outdated atomic.Bool // a secret has another value now
}

// flag returns what is most worth telling.
func (l *link) flag() core.ServerFlag {
	switch {
	case l.flags.checking.Load():
		return core.FlagVerifying
	case l.flags.outdated.Load():
		return core.FlagOutdated
	}
	return core.FlagNone
}

// note has the supervisor publish the flag.
func (l *link) note() {
	select {
	case l.noted <- struct{}{}:
	default:
	}
}

// check verifies by reading the tool list that the server still answers, and
// shows that until it is done.
func (l *link) check() {
	l.flags.checking.Store(true)
	l.note()
	l.touch()
}

// checked ends a check, if one was under way.
func (l *link) checked() {
	if l.flags.checking.Swap(false) {
		l.note()
	}
}

// SecretChanged tells that a secret has another value. The servers that run with
// the former one say so in their status until they are connected anew.
func (m *Manager) SecretChanged(name string) {
	for _, s := range m.fleet.Load().order {
		if l := s.link.Load(); l != nil && refersTo(s.spec, name) {
			l.flags.outdated.Store(true)
			l.note()
		}
	}
}

// refersTo reports whether a configuration holds ${secret:name} anywhere.
func refersTo(spec core.ServerSpec, name string) bool {
	text, err := json.Marshal(spec)
	if err != nil {
		return false
	}
	placeholder, err := json.Marshal("${secret:" + name + "}")
	return err == nil && strings.Contains(string(text), strings.Trim(string(placeholder), `"`))
}
