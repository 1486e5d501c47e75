package mcp

import (
	"context"
	"errors"

	"patchbay/backend/core"
)

// Locate returns the absolute path of the program that a stdio configuration
// would start, without starting it. The error says what is missing and how to
// get it. For other transports it returns "".
func (m *Manager) Locate(ctx context.Context, spec core.ServerSpec) (string, error) {
	if spec.Transport != core.TransportStdio {
		return "", nil
	}
	ring := &logRing{}
	expanded, err := m.d.expandSpec(ctx, spec, &ring.secrets)
	var p command
	if err == nil {
		p, err = m.d.command(&attempt{spec: expanded, log: ring})
	}
	var de *dialError
	if errors.As(err, &de) {
		return "", de.public()
	}
	return p.path, err
}

// LearnPath begins to ask the login shell for its PATH, in the background, so
// that the first search for a program need not wait for it. A program that
// ends at once should not call it.
func (m *Manager) LearnPath() { m.d.paths.begin() }
