package api

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"patchbay/backend/api/wire"
	"patchbay/backend/approval"
	"patchbay/backend/config"
	"patchbay/backend/core"
	"patchbay/backend/event"
	"patchbay/backend/llm/registry"
	"patchbay/backend/tools"
)

// AuditLog reads the log of tool calls.
type AuditLog interface {
	Records(ctx context.Context, before int64, limit int) ([]core.AuditRecord, error)
}

// Audit is the facade of the log of tool calls.
type Audit struct {
	log  AuditLog
	desk *approval.Desk
}

// NewAudit makes the facade.
func NewAudit(l AuditLog, d *approval.Desk) *Audit { return &Audit{l, d} }

// Get returns a page of the log, the newest first.
func (a *Audit) Get(ctx context.Context, in wire.AuditInput) (wire.AuditView, error) {
	if in.Limit == 0 {
		in.Limit = 100
	}
	if in.Limit < 1 || in.Limit > 500 || in.Before < 0 {
		return wire.AuditView{}, core.Errorf(core.CodeInvalid, "limit must be 1 to 500 and before not negative.")
	}
	records, err := a.log.Records(ctx, in.Before, in.Limit+1)
	more := len(records) > in.Limit
	if more {
		records = records[:in.Limit]
	}
	waiting := map[string]bool{}
	for _, p := range a.desk.Pending() {
		waiting[p.Call.ID] = true
	}
	for i := range records {
		if records[i].Status == core.CallRunning && waiting[records[i].CallID] {
			records[i].Status = core.CallWaiting
		}
	}
	return wire.AuditView{Records: records, More: more}, err
}

// Models is the facade of the providers and their models.
type Models struct {
	registry *registry.Registry
	settings SettingsStore
}

// NewModels makes the facade.
func NewModels(r *registry.Registry, s SettingsStore) *Models { return &Models{r, s} }

// GetProviders returns all providers; keys are never part of them.
func (m *Models) GetProviders(ctx context.Context) (wire.ProvidersView, error) {
	all, err := m.registry.List(ctx)
	if err != nil {
		return wire.ProvidersView{}, err
	}
	s, err := readSettings(ctx, m.settings)
	return wire.ProvidersView{Providers: all, DefaultProviderID: s.DefaultProviderID}, err
}

// SaveProvider adds or changes a provider.
func (m *Models) SaveProvider(ctx context.Context, in wire.SaveProviderInput) (core.Provider, error) {
	return m.registry.Save(ctx, core.Provider{ID: in.ID, Kind: in.Kind, Name: in.Name, BaseURL: in.BaseURL, DefaultModel: in.DefaultModel}, in.Key)
}

// RemoveProvider removes a provider and its key.
func (m *Models) RemoveProvider(ctx context.Context, in wire.IDInput) error {
	return m.registry.Remove(ctx, in.ID)
}

// Get lists the models of a provider by asking its endpoint.
func (m *Models) Get(ctx context.Context, in wire.ModelsInput) (wire.ModelsView, error) {
	models, err := m.registry.Models(ctx, in.ProviderID)
	return wire.ModelsView{Models: models}, err
}

// SettingsStore keeps settings durably.
type SettingsStore interface {
	Setting(ctx context.Context, name string, v any) error
	SaveSetting(ctx context.Context, name string, v any) error
}

const settingsName = "settings"

// Settings is the facade of a person's choices and of what the program knows of itself.
type Settings struct {
	store  SettingsStore
	config *config.Store
	info   wire.Info
	where  func() string
	name   func(tools.Naming)
	emit   func(event.Payload)
}

// NewSettings makes the facade. info holds what does not change while the
// program runs; secretsIn says in words where keys are kept now; name brings a
// naming of tools into effect. emit may be nil.
func NewSettings(s SettingsStore, c *config.Store, info wire.Info, secretsIn func() string, name func(tools.Naming), emit func(event.Payload)) *Settings {
	if emit == nil {
		emit = func(event.Payload) {}
	}
	info.Platform = runtime.GOOS + "/" + runtime.GOARCH
	return &Settings{s, c, info, secretsIn, name, emit}
}

// Get returns the settings, with defaults where nothing was chosen.
func (s *Settings) Get(ctx context.Context) (wire.SettingsView, error) {
	return readSettings(ctx, s.store)
}

func readSettings(ctx context.Context, store SettingsStore) (wire.SettingsView, error) {
	out := wire.SettingsView{Theme: "system", DefaultProviderID: registry.RehearsalID}
	err := store.Setting(ctx, settingsName, &out)
	return out, err
}

// Update replaces the settings.
func (s *Settings) Update(ctx context.Context, in wire.SettingsView) error {
	switch in.Theme {
	case "system", "light", "dark":
	default:
		return &core.Error{Code: core.CodeInvalid, Path: "theme", Message: "The theme must be system, light or dark."}
	}
	naming := tools.Naming(in.ToolNaming)
	if !naming.Valid() {
		return &core.Error{Code: core.CodeInvalid, Path: "toolNaming", Message: "Tools are named server__tool (leave it empty), mcp__server__tool or mcp_server_tool."}
	}
	before, err := readSettings(ctx, s.store)
	if err != nil {
		return err
	}
	for i, f := range in.Builtin.Folders {
		if slices.ContainsFunc(before.Builtin.Folders, func(b core.ToolFolder) bool { return b.Path == f.Path }) {
			continue // a folder that is away now must not stop the other changes
		}
		f.Path = strings.TrimSpace(f.Path)
		if rest, ok := strings.CutPrefix(f.Path, "~"); ok && (rest == "" || rest[0] == '/') {
			home, err := os.UserHomeDir()
			if err != nil {
				return core.Errorf(core.CodeUnavailable, "The home folder is not known: %w", err)
			}
			f.Path = home + rest
		}
		if st, err := os.Stat(f.Path); !filepath.IsAbs(f.Path) || err != nil || !st.IsDir() {
			return &core.Error{Code: core.CodeInvalid, Path: "builtin", Message: fmt.Sprintf("%q is no folder on this computer. Give its whole path.", f.Path)}
		}
		f.Path = filepath.Clean(f.Path)
		in.Builtin.Folders[i] = f
	}
	if err := s.store.SaveSetting(ctx, settingsName, in); err != nil {
		return err
	}
	s.name(naming)
	s.emit(event.SettingsChanged{})
	return nil
}

// ToolNaming returns how a person wants the tools to be named.
func ToolNaming(ctx context.Context, store SettingsStore) (tools.Naming, error) {
	s, err := readSettings(ctx, store)
	return tools.Naming(s.ToolNaming), err
}

// BuiltinAccess returns what a person lets the built-in tools get at.
func BuiltinAccess(ctx context.Context, store SettingsStore) (core.BuiltinAccess, error) {
	s, err := readSettings(ctx, store)
	return s.Builtin, err
}

// DefaultModel returns the provider and model to use where nobody chose.
func DefaultModel(ctx context.Context, store SettingsStore) (providerID, model string, err error) {
	s, err := readSettings(ctx, store)
	return s.DefaultProviderID, s.DefaultModel, err
}

// GetInfo returns what the program knows of itself, and what is wrong with
// tools.json, if anything is.
func (s *Settings) GetInfo(_ context.Context) (wire.Info, error) {
	out := s.info
	out.SecretsIn = s.where()
	file, err := s.config.Current()
	for _, skipped := range file.Skipped {
		out.ConfigWarnings = append(out.ConfigWarnings, skipped.Error.Message)
	}
	out.ConfigWarnings = append(out.ConfigWarnings, file.Warnings...)
	out.ConfigError = asCoreError(err)
	return out, nil
}
