package wire

import "patchbay/backend/core"

// ServerProcesses are the processes of a server on this computer.
type ServerProcesses struct {
	Processes []core.Process `json:"processes"` // parents first
	// RunsElsewhere is the address of a server that Patchbay did not start; "" for one that it does.
	RunsElsewhere string `json:"runsElsewhere,omitempty"`
}
