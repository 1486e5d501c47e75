package host

import (
	"context"
	"time"

	"patchbay/backend/core"
	"patchbay/backend/tools"
	"patchbay/backend/tools/custom"
)

// scripts lets custom tools call other tools, through the gate.
type scripts struct{ h *Host }

var _ custom.Caller = scripts{}

// Alias waits for servers that are still starting, as long as the tool is not
// there: right after a start it may just not be listed yet.
func (s scripts) Alias(ctx context.Context, text string) string {
	settled := make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	defer func() { cancel(); <-settled }()
	go func() {
		defer close(settled)
		_ = s.h.Servers.WaitSettled(ctx) // its end is the signal, whatever the reason
	}()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for last := false; ; {
		if e, err := s.h.Catalog.Find(text); err == nil {
			return e.Alias
		}
		if last {
			return text
		}
		select {
		case <-settled:
			last = true
		case <-look.C:
		}
	}
}

func (s scripts) Call(ctx context.Context, p core.Principal, call core.ToolCall, w core.Watch) core.Outcome {
	return s.h.Gate.Call(ctx, p, call, w)
}

// nested says whether a tool may make a call: it must declare the tool, if it
// declares any, and an agent reaches nothing through a tool of its own that it
// was not given itself.
func (h *Host) nested(ctx context.Context, p core.Principal, call core.ToolCall, tool core.OfferedTool) error {
	if p.Kind == core.PrincipalAgent {
		a, err := h.Agents.Get(ctx, p.AgentID)
		if err != nil {
			return err
		}
		if !tools.Chosen(a, tool.Tool.Ref) {
			return core.Errorf(core.CodeDenied, "The agent %s was not given this tool.", a.Name)
		}
	}
	return h.Custom.Permit(call.ParentID, tool.Alias)
}
