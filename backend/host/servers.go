package host

import (
	"context"
	"os"
	"path/filepath"
	"runtime"

	"patchbay/backend/api"
	"patchbay/backend/config/discover"
	"patchbay/backend/config/paste"
	"patchbay/backend/doctor"
	"patchbay/backend/secret"
)

// mcpOptions joins what the facade of the servers stands on.
func (h *Host) mcpOptions(secrets *secret.Store) api.MCPOptions {
	h.Doctor = &doctor.Doctor{
		Locate: h.Servers, Missing: paste.Missing, Cache: doctor.SystemCache(os.Getenv),
		HasSecret: func(ctx context.Context, name string) (bool, error) {
			_, ok, err := secrets.Get(ctx, name)
			return ok, err
		},
	}
	o := api.MCPOptions{
		Config: h.Config, Manager: h.Servers, Apply: h.configChanged, Demo: h.demoServer,
		Secrets: secrets, Doctor: h.Doctor, Bundles: filepath.Join(h.Paths.Data, "bundles"),
		Log:     h.serverLog,
		Renamed: h.choices.RenameServer, Links: h.Links,
	}
	place, err := discover.System(runtime.GOOS, os.Getenv)
	if err != nil {
		h.Logger.Warn("other programs' files cannot be looked for", "err", err)
		return o
	}
	o.Apps = place.Apps()
	return o
}

// toldSecrets is the store of secrets as a person changes it: changed hears of
// every secret that gets another value.
type toldSecrets struct {
	*secret.Store
	changed func(name string)
}

// Set keeps a value, and tells when it is another one than before.
func (t toldSecrets) Set(ctx context.Context, name, value string) error {
	before, had, err := t.Get(ctx, name)
	if err != nil {
		return err
	}
	if err := t.Store.Set(ctx, name, value); err != nil {
		return err
	}
	if !had || before != value {
		t.changed(name)
	}
	return nil
}
