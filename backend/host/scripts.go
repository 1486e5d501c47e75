package host

import (
	"context"

	"patchbay/backend/core"
	"patchbay/backend/tools"
	"patchbay/backend/tools/custom"
)

// scripts lets custom tools call other tools, through the gate.
type scripts struct{ h *Host }

var _ custom.Caller = scripts{}

func (s scripts) Alias(text string) string {
	if e, err := s.h.Catalog.Find(text); err == nil {
		return e.Alias
	}
	return text
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
