package api

import (
	"context"

	"patchbay/backend/api/wire"
)

// GetProcesses returns what runs on this computer for a server: the program
// that was started and all that it started. None for a server that is off; for
// one that is reached by its address, that address.
func (m *MCP) GetProcesses(ctx context.Context, in wire.NameInput) (wire.ServerProcesses, error) {
	spec, err := m.find(in.Name)
	if err != nil {
		return wire.ServerProcesses{}, err
	}
	if spec.URL != "" {
		return wire.ServerProcesses{RunsElsewhere: mask(spec).URL}, nil
	}
	list, err := m.manager.Processes(ctx, in.Name)
	return wire.ServerProcesses{Processes: list}, err
}
