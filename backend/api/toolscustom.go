package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"

	"patchbay/backend/api/wire"
	"patchbay/backend/config"
	"patchbay/backend/core"
)

// Add saves a new custom tool. Code that is no JavaScript is not saved.
func (t *Tools) Add(ctx context.Context, in core.CustomTool) error {
	if err := fits(in, nil); err != nil {
		return err
	}
	if err := t.compiles(ctx, in); err != nil {
		return err
	}
	return t.saved(t.config.AddTool(ctx, in))
}

// Update replaces a custom tool and keeps its former version. Code that is no
// JavaScript is not saved.
func (t *Tools) Update(ctx context.Context, in wire.UpdateToolInput) error {
	former, there := t.tool(in.Name)
	old := &former
	if !there {
		old = nil
	}
	if err := fits(in.Tool, old); err != nil {
		return err
	}
	if !there || former.Code != in.Tool.Code {
		if err := t.compiles(ctx, in.Tool); err != nil {
			return err
		}
	}
	return t.replace(ctx, in.Name, in.Tool)
}

// replace saves now in the place of the tool called name. The former version is
// kept first, so that no save can lose one.
func (t *Tools) replace(ctx context.Context, name string, now core.CustomTool) error {
	former, there := t.tool(name)
	if there && !sameVersion(former, now) {
		if err := t.store.AddCustomVersion(ctx, name, former); err != nil {
			return err
		}
	}
	// First what a person chose for it: a blocked tool must not be free under another name.
	_, taken := t.tool(now.Name) // refused by the update
	rename := now.Name != name && !taken
	if rename {
		if err := t.choices.RenameCustom(ctx, name, now.Name); err != nil {
			return err
		}
	}
	if err := t.saved(t.config.UpdateTool(ctx, name, now)); err != nil {
		if rename {
			err = errors.Join(err, t.choices.RenameCustom(context.WithoutCancel(ctx), now.Name, name))
		}
		return err
	}
	if now.Name != name {
		return errors.Join(t.store.RenameCustomVersions(ctx, name, now.Name), t.moveSaved(ctx, name, now.Name))
	}
	return nil
}

// sameVersion reports whether two states of a tool differ in nothing but their
// name and whether they are on.
func sameVersion(a, b core.CustomTool) bool {
	a.Name, a.Enabled, b.Name, b.Enabled = "", false, "", false
	var x, y bytes.Buffer
	if json.Compact(&x, a.Parameters) == nil && json.Compact(&y, b.Parameters) == nil && bytes.Equal(x.Bytes(), y.Bytes()) {
		a.Parameters, b.Parameters = nil, nil
	}
	one, err1 := json.Marshal(a)
	two, err2 := json.Marshal(b)
	if err1 != nil || err2 != nil {
		return reflect.DeepEqual(a, b)
	}
	return bytes.Equal(one, two)
}

func (t *Tools) tool(name string) (core.CustomTool, bool) {
	file, _ := t.config.Current() // a broken file is told by the save that follows
	for _, c := range file.Tools {
		if c.Name == name {
			return c, true
		}
	}
	return core.CustomTool{}, false
}

func (t *Tools) compiles(ctx context.Context, c core.CustomTool) error {
	if c.HTTP != nil {
		return nil
	}
	err := t.custom.Check(ctx, c.Code)
	if core.CodeOf(err) == core.CodeUnavailable {
		return nil // without a worker nothing runs either, and the text must not be lost
	}
	return err
}

// Remove takes a custom tool out of tools.json. Its versions stay.
func (t *Tools) Remove(ctx context.Context, in wire.NameInput) (wire.Removed, error) {
	c, there := t.tool(in.Name)
	if !there {
		return wire.Removed{}, core.Errorf(core.CodeNotFound, "There is no custom tool %q in tools.json any more.", in.Name)
	}
	if err := t.store.AddCustomVersion(ctx, in.Name, c); err != nil {
		return wire.Removed{}, err
	}
	if err := t.saved(t.config.RemoveTool(ctx, in.Name)); err != nil {
		return wire.Removed{}, err
	}
	return wire.Removed{UndoID: t.undo.keep(c)}, nil
}

// Restore takes a removal back.
func (t *Tools) Restore(ctx context.Context, in wire.UndoInput) error {
	c, err := t.undo.take(in.UndoID)
	if err != nil {
		return err
	}
	return t.saved(t.config.AddTool(ctx, c))
}

func (t *Tools) saved(err error) error {
	if err == nil {
		t.apply()
	}
	return err
}

// GetVersions returns the former versions of a custom tool, the newest first.
func (t *Tools) GetVersions(ctx context.Context, in wire.NameInput) (wire.CustomToolVersions, error) {
	list, err := t.store.CustomVersions(ctx, in.Name)
	if err != nil {
		return wire.CustomToolVersions{}, err
	}
	return wire.CustomToolVersions{Versions: list}, nil
}

// RestoreVersion brings a former version back; the present one becomes a former one.
func (t *Tools) RestoreVersion(ctx context.Context, in wire.RestoreVersionInput) error {
	now, there := t.tool(in.Name)
	if !there {
		return core.Errorf(core.CodeNotFound, "There is no custom tool %q in tools.json any more.", in.Name)
	}
	list, err := t.store.CustomVersions(ctx, in.Name)
	if err != nil {
		return err
	}
	for _, v := range list {
		if v.ID == in.ID {
			v.Tool.Name, v.Tool.Enabled = now.Name, now.Enabled
			return t.replace(ctx, in.Name, v.Tool)
		}
	}
	return core.Errorf(core.CodeNotFound, "That version of %s is not kept any more.", in.Name)
}

// Check compiles code and runs nothing.
func (t *Tools) Check(ctx context.Context, in wire.CheckCodeInput) (wire.CheckedCode, error) {
	err := t.custom.Check(ctx, in.Code)
	var ce *core.Error
	if errors.As(err, &ce) && ce.Code == core.CodeInvalid {
		return wire.CheckedCode{Problem: ce}, nil
	}
	return wire.CheckedCode{}, err
}

// TestCustom makes one call of a custom tool as it stands in the editor, through
// the gate. Nothing is saved, and nobody else can call it.
func (t *Tools) TestCustom(ctx context.Context, in wire.TestCustomInput) (wire.ExecuteOutput, error) {
	draft, err := config.CheckTool(in.Tool)
	if err != nil {
		return wire.ExecuteOutput{}, err
	}
	def, release := t.custom.Draft(draft)
	defer release()
	return executed(t.gate.Try(ctx, core.Principal{Kind: core.PrincipalWindow}, def, core.ToolCall{ID: in.CallID, Arguments: in.Arguments}, core.Watch{})), nil
}
