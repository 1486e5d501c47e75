package mcp

import (
	"context"

	"patchbay/backend/core"
)

// Locate returns the absolute path of the program that a stdio configuration
// would start, without starting it. The error says what is missing and how to
// get it. For other transports it returns "".
func (m *Manager) Locate(ctx context.Context, spec core.ServerSpec) (string, error) {
	if spec.Transport != core.TransportStdio {
		return "", nil
	}
	expanded, err := m.d.expandSpec(ctx, spec)
	if err != nil {
		return "", err
	}
	p, err := m.d.program(&attempt{spec: expanded, log: &logRing{}})
	if err != nil {
		return "", err
	}
	return p.path, nil
}
