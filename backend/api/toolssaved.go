package api

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"patchbay/backend/api/wire"
	"patchbay/backend/core"
)

const (
	savedPerTool = 50
	savedName    = 100      // characters of a name
	savedBytes   = 64 << 10 // of the arguments
)

// GetSavedRequests returns the arguments that a person saved for a tool, by name.
func (t *Tools) GetSavedRequests(ctx context.Context, in wire.SavedRequestsInput) (wire.SavedRequestsView, error) {
	var out wire.SavedRequestsView
	return out, t.store.Setting(ctx, savedKey(in.Ref), &out.Requests)
}

// SaveRequest keeps arguments for a tool. A request of that name is replaced.
func (t *Tools) SaveRequest(ctx context.Context, in wire.SaveRequestInput) (wire.SavedRequestsView, error) {
	name := strings.TrimSpace(in.Request.Name)
	switch {
	case name == "" || utf8.RuneCountInString(name) > savedName:
		return wire.SavedRequestsView{}, &core.Error{Code: core.CodeInvalid, Path: "name", Message: "A saved request needs a name of 1 to 100 characters."}
	case len(in.Request.Arguments) > savedBytes:
		return wire.SavedRequestsView{}, core.Errorf(core.CodeTooLarge, "The arguments have %d bytes; a saved request holds %d.", len(in.Request.Arguments), savedBytes)
	case len(in.Request.Expected) > savedBytes:
		return wire.SavedRequestsView{}, core.Errorf(core.CodeTooLarge, "The expected result has %d bytes; a test holds %d.", len(in.Request.Expected), savedBytes)
	case !json.Valid(in.Request.Arguments):
		return wire.SavedRequestsView{}, core.Errorf(core.CodeInvalid, "The arguments are not JSON.")
	case in.Request.Expected != nil && !json.Valid(in.Request.Expected):
		return wire.SavedRequestsView{}, core.Errorf(core.CodeInvalid, "The expected result is not JSON.")
	}
	return t.changeSaved(ctx, in.Ref, func(all []wire.SavedRequest) ([]wire.SavedRequest, error) {
		all = slices.DeleteFunc(all, func(r wire.SavedRequest) bool { return r.Name == name })
		if len(all) >= savedPerTool {
			return nil, core.Errorf(core.CodeConflict, "%s has %d saved requests already. Remove one first.", in.Ref, len(all))
		}
		all = append(all, wire.SavedRequest{Name: name, Arguments: in.Request.Arguments, Expected: in.Request.Expected})
		slices.SortFunc(all, func(a, b wire.SavedRequest) int {
			return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
		})
		return all, nil
	})
}

// RemoveSavedRequest forgets a saved request. One that does not exist is no error.
func (t *Tools) RemoveSavedRequest(ctx context.Context, in wire.RemoveSavedInput) (wire.SavedRequestsView, error) {
	return t.changeSaved(ctx, in.Ref, func(all []wire.SavedRequest) ([]wire.SavedRequest, error) {
		return slices.DeleteFunc(all, func(r wire.SavedRequest) bool { return r.Name == in.Name }), nil
	})
}

func (t *Tools) changeSaved(ctx context.Context, ref core.ToolRef, change func([]wire.SavedRequest) ([]wire.SavedRequest, error)) (wire.SavedRequestsView, error) {
	t.saving.Lock()
	defer t.saving.Unlock()
	var all []wire.SavedRequest
	err := t.store.Setting(ctx, savedKey(ref), &all)
	if err == nil {
		all, err = change(all)
	}
	if err == nil {
		err = t.store.SaveSetting(ctx, savedKey(ref), all)
	}
	return wire.SavedRequestsView{Requests: all}, err
}

// moveSaved gives the requests of a custom tool to the name that it has now.
func (t *Tools) moveSaved(ctx context.Context, from, to string) error {
	t.saving.Lock()
	defer t.saving.Unlock()
	var all []wire.SavedRequest
	old := savedKey(core.ToolRef{Kind: core.ToolCustom, Name: from})
	if err := t.store.Setting(ctx, old, &all); err != nil || len(all) == 0 {
		return err
	}
	if err := t.store.SaveSetting(ctx, savedKey(core.ToolRef{Kind: core.ToolCustom, Name: to}), all); err != nil {
		return err
	}
	return t.store.SaveSetting(ctx, old, []wire.SavedRequest{})
}

// savedKey names where the requests of a tool are kept: by what it is called, so
// that a new definition keeps them.
func savedKey(ref core.ToolRef) string {
	return "requests\x00" + string(ref.Kind) + "\x00" + ref.Server + "\x00" + ref.Name
}
