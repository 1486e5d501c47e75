package api

import (
	"context"

	"patchbay/backend/api/wire"
	"patchbay/backend/core"
	"patchbay/backend/tools"
)

// ToolChoices are what a person chose for single tools.
type ToolChoices interface {
	Choice(ref core.ToolRef) (core.ToolApproval, bool)
	// Choose sets choices, all or none, and returns what they were before.
	Choose(ctx context.Context, list []core.ToolApproval) ([]core.ToolApproval, error)
	RenameServer(ctx context.Context, from, to string) error
	RenameCustom(ctx context.Context, from, to string) error
}

// Rules decide about calls; Inherited is what they say where a person chose nothing.
type Rules interface {
	tools.Policy
	Inherited(core.PolicyRequest) core.Decision
}

// maxApprovals is how many tools one call may set.
const maxApprovals = 5000

func (t *Tools) view(e tools.Entry) wire.ToolView {
	r := core.PolicyRequest{Principal: core.Principal{Kind: core.PrincipalWindow}, Tool: e.Tool}
	out := wire.ToolView{
		Tool: e.Tool, Alias: e.Alias, Decision: t.rules.Evaluate(r), Inherited: t.rules.Inherited(r),
	}
	if a, ok := t.choices.Choice(e.Tool.Ref); ok {
		out.Approval = wire.ToolApprovalView{Choice: a.Choice, Since: a.Since, Changed: a.Changed(e.Tool.Ref.Digest)}
	}
	v := t.verdicts.of(e.Tool)
	out.NotOffered, out.Warnings = v.Refused, v.Warnings
	out.Available = e.Tool.Broken == "" && !e.Tool.Disabled && out.Approval.Choice != core.ChoiceBlock
	return out
}

// SetApproval sets what a person chose for tools. Allowing is for the definition
// that a reference names by its digest; tools of high risk are allowed only when
// AcceptRisk says that the person was told.
func (t *Tools) SetApproval(ctx context.Context, in wire.SetApprovalInput) (wire.Removed, error) {
	if len(in.Refs) == 0 || len(in.Refs) > maxApprovals {
		return wire.Removed{}, core.Errorf(core.CodeInvalid, "refs must name 1 to %d tools.", maxApprovals)
	}
	list := make([]core.ToolApproval, 0, len(in.Refs))
	for _, ref := range in.Refs {
		tool := core.Tool{Ref: ref}
		if in.Choice == core.ChoiceAllow {
			if ref.Digest == "" {
				return wire.Removed{}, &core.Error{Code: core.CodeInvalid, Path: "refs", Message: ref.String() + " can be allowed only with the digest of the definition that you saw."}
			}
			e, err := t.catalog.ByRef(ref)
			if err != nil {
				return wire.Removed{}, err
			}
			tool = e.Tool
			d := t.rules.Inherited(core.PolicyRequest{Principal: core.Principal{Kind: core.PrincipalWindow}, Tool: tool})
			if d.Risk == core.RiskHigh && !in.AcceptRisk {
				return wire.Removed{}, &core.Error{Code: core.CodeDenied, Path: "acceptRisk",
					Message: ref.String() + " was not allowed: its risk is high. " + d.Why + " Confirm that it may run unasked, or choose ask."}
			}
		}
		list = append(list, core.ToolApproval{Choice: in.Choice, Tool: tool})
	}
	before, err := t.choices.Choose(ctx, list)
	if err != nil {
		return wire.Removed{}, err
	}
	return wire.Removed{UndoID: t.undoApproval.keep(before)}, nil
}

// RestoreApproval takes a tools:setApproval back.
func (t *Tools) RestoreApproval(ctx context.Context, in wire.UndoInput) error {
	before, err := t.undoApproval.take(in.UndoID)
	if err != nil {
		return err
	}
	_, err = t.choices.Choose(ctx, before)
	return err
}

// GetApproval returns what was chosen for a tool, with its definition of
// then and of now.
func (t *Tools) GetApproval(_ context.Context, in wire.ToolInput) (wire.ToolApprovalDetail, error) {
	ref := in.Ref
	ref.Digest = ""
	var out wire.ToolApprovalDetail
	e, err := t.catalog.ByRef(ref)
	if err == nil {
		out.Now = &e.Tool
	}
	a, ok := t.choices.Choice(ref)
	switch {
	case !ok && err != nil:
		return out, err
	case ok:
		out.Approval = wire.ToolApprovalView{Choice: a.Choice, Since: a.Since, Changed: err == nil && a.Changed(e.Tool.Ref.Digest)}
		if a.Choice == core.ChoiceAllow {
			out.Allowed = &a.Tool
		}
	}
	return out, nil
}
