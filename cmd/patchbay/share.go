package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/google/uuid"

	"patchbay/backend/api/wire"
	"patchbay/backend/config/bundle"
	"patchbay/backend/config/discover"
	"patchbay/backend/config/paste"
	"patchbay/backend/core"
	"patchbay/backend/doctor"
	"patchbay/backend/host"
)

// bundled looks into a bundle. "${__dirname}" stays: it is not unpacked.
func (a *app) bundled(data string) (paste.Result, error) {
	b, err := bundle.Read(a.ctx, []byte(data), runtime.GOOS)
	if err != nil {
		return paste.Result{}, err
	}
	res := paste.Result{Servers: []core.ServerSpec{b.Server}, Warnings: append([]string{}, b.Warnings...), Missing: []string{}}
	for _, in := range b.Inputs {
		res.Missing = append(res.Missing, b.Server.Name+"."+in.Place)
	}
	return res, nil
}

// staged hands a bundle to the backend, which unpacks it when it is saved.
func (a *app) staged(h *host.Host, source string, servers []core.ServerSpec) (digest string, out []core.ServerSpec, err error) {
	data, err := os.ReadFile(source)
	if err != nil || !bundle.Is(data) {
		return "", servers, nil // a text, which was understood already
	}
	const piece = 8 << 20
	id := uuid.NewString()
	var found wire.ParsedServers
	for last := false; !last; {
		n := min(piece, len(data))
		last = n == len(data)
		if found, err = h.Facades.MCP.UploadBundle(a.ctx, wire.UploadBundleInput{ID: id, Data: data[:n], Last: last}); err != nil {
			return "", nil, err
		}
		data = data[n:]
	}
	return found.Servers[0].Bundle, []core.ServerSpec{found.Servers[0].Spec}, nil
}

// secretPlaces lists what doctor would move.
func secretPlaces(s core.ServerSpec) []string {
	var out []string
	for _, found := range doctor.Secrets(s) {
		out = append(out, found.Place)
	}
	return out
}

type serversImportCmd struct {
	App         string `arg:"" optional:"" help:"The program: claude-desktop, cursor, vscode … Without it, what was found is listed and nothing is added."`
	MoveSecrets bool   `help:"Move secrets that stand in clear to the secret store."`

	AllowLoaders bool `help:"Agree to variables that load other code into the program, such as NODE_OPTIONS."`
}

func (c *serversImportCmd) Run(a *app) error {
	place, err := discover.System(runtime.GOOS, os.Getenv)
	if err != nil {
		return err
	}
	apps := place.Apps()
	if c.App != "" && !slices.ContainsFunc(apps, func(p discover.App) bool { return p.ID == c.App }) {
		ids := []string{}
		for _, p := range apps {
			ids = append(ids, p.ID)
		}
		return core.Errorf(core.CodeInvalid, "The program %q is not known. Known are %s.", c.App, strings.Join(ids, ", "))
	}
	found, err := discover.Find(a.ctx, slices.DeleteFunc(apps, func(p discover.App) bool { return c.App != "" && p.ID != c.App }))
	if err != nil {
		return err
	}
	if c.App == "" {
		return c.list(a, found)
	}
	return a.with(host.Options{}, false, func(h *host.Host) error { return c.add(a, h, found) })
}

func (c *serversImportCmd) list(a *app, found []discover.Found) error {
	out := []any{}
	for _, f := range found {
		names := []string{}
		for _, s := range f.Servers {
			names = append(names, visible(s.Name))
		}
		out = append(out, map[string]any{"app": f.App.ID, "path": f.Path, "servers": names})
		if !a.json {
			a.printf("%-16s %s\n  %s\n", f.App.ID, f.Path, strings.Join(names, ", "))
			if f.Err != nil {
				fmt.Fprintf(a.stderr, "not usable: %v\n", f.Err)
			}
		}
	}
	if a.json {
		a.printJSON(map[string]any{"found": out})
	} else if len(found) == 0 {
		a.printf("No other program on this machine has servers configured.\n")
	}
	return nil
}

func (c *serversImportCmd) add(a *app, h *host.Host, found []discover.Found) error {
	added, skipped := []string{}, []string{}
	var failed error
	for _, f := range found {
		if f.Err != nil {
			failed = errors.Join(failed, f.Err)
		}
		for _, s := range f.Servers {
			in := wire.AddServerInput{Server: s}
			if c.AllowLoaders {
				in.AllowLoaders = doctor.Loaders(s)
			}
			if c.MoveSecrets {
				in.MoveSecrets = secretPlaces(s)
			}
			if _, err := h.Facades.MCP.AddServer(a.ctx, in); err != nil {
				skipped = append(skipped, s.Name)
				if !a.json {
					a.printf("skipped %s: %v\n", visible(s.Name), withFlag(err, ""))
				}
				continue
			}
			added = append(added, s.Name)
			if !a.json {
				a.printf("added %s from %s\n", visible(s.Name), f.Path)
			}
		}
	}
	if a.json {
		a.printJSON(map[string]any{"added": added, "skipped": skipped})
	} else if len(added)+len(skipped) == 0 && failed == nil {
		a.printf("%s has no servers configured on this machine.\n", c.App)
	}
	return failed
}

type serversExportCmd struct {
	Name string `arg:"" help:"The name of the server."`
	To   string `default:"patchbay" help:"The program: cursor, vscode, claude-code, codex, goose …, or \"command\" for a command line."`
}

func (c *serversExportCmd) Run(a *app) error {
	return a.with(host.Options{}, false, func(h *host.Host) error {
		out, err := h.Facades.MCP.ExportServer(a.ctx, wire.ExportServerInput{Name: c.Name, Format: c.To})
		if err != nil {
			return err
		}
		if a.json {
			a.printJSON(map[string]any{"text": out.Text})
			return nil
		}
		a.printf("%s", clean(out.Text))
		return nil
	})
}
