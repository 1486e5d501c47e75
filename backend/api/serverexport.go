package api

import (
	"context"
	"slices"

	"patchbay/backend/api/wire"
	"patchbay/backend/config/export"
	"patchbay/backend/core"
	"patchbay/backend/doctor"
)

// GetExportFormats returns the forms that mcp:exportServer writes.
func (m *MCP) GetExportFormats(context.Context) (wire.ExportFormatsView, error) {
	var out wire.ExportFormatsView
	for _, f := range export.Formats() {
		out.Formats = append(out.Formats, wire.ExportFormat{ID: f.ID, Name: f.Name, Where: f.Where})
	}
	return out, nil
}

// ExportServer writes a server as another program keeps it. Secrets become
// placeholders such as ${API_KEY}.
func (m *MCP) ExportServer(_ context.Context, in wire.ExportServerInput) (wire.ExportedServer, error) {
	spec, err := m.find(in.Name)
	if err != nil {
		return wire.ExportedServer{}, err
	}
	text, err := export.Write(doctor.Placeholders(spec), in.Format)
	return wire.ExportedServer{Text: text}, err
}

// SetToolsEnabled switches tools of a server on or off for everybody. A name
// that the server does not have (any more) is kept: it may come back.
func (m *MCP) SetToolsEnabled(ctx context.Context, in wire.SetToolsEnabledInput) (wire.ServerView, error) {
	spec, err := m.find(in.Name)
	if err != nil {
		return wire.ServerView{}, err
	}
	if slices.Contains(in.Tools, "") {
		return wire.ServerView{}, &core.Error{Code: core.CodeInvalid, Path: "tools", Message: "The name of a tool is empty."}
	}
	off := slices.DeleteFunc(slices.Clone(spec.DisabledTools), func(name string) bool { return slices.Contains(in.Tools, name) })
	if !in.Enabled {
		off = append(off, in.Tools...)
	}
	slices.Sort(off)
	spec.DisabledTools = slices.Compact(off)
	return m.saved(in.Name, m.config.UpdateServer(ctx, in.Name, spec))
}
