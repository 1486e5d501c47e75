package api

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"patchbay/backend/api/wire"
	"patchbay/backend/config/bundle"
	"patchbay/backend/config/discover"
	"patchbay/backend/config/paste"
	"patchbay/backend/core"
	"patchbay/backend/doctor"
	"patchbay/backend/llm"
)

// ParseServers understands a text, runs nothing and saves nothing.
func (m *MCP) ParseServers(ctx context.Context, in wire.ParseServersInput) (wire.ParsedServers, error) {
	res, err := paste.Parse(in.Text)
	if err != nil {
		return wire.ParsedServers{}, err
	}
	out := wire.ParsedServers{Warnings: res.Warnings}
	for _, spec := range res.Servers {
		p := m.parsed(ctx, spec)
		p.Missing = nil
		for _, place := range res.Missing { // the text may ask for more than the result shows
			if rest, ok := strings.CutPrefix(place, spec.Name+"."); ok {
				p.Missing = append(p.Missing, rest)
			}
		}
		out.Servers = append(out.Servers, p)
	}
	for _, r := range res.Rejected {
		out.Rejected = append(out.Rejected, wire.RejectedServer{Name: r.Name, Error: core.Error{
			Code: core.CodeInvalid, Message: r.Error.Message, Line: r.Error.Line, Column: r.Error.Column, Path: r.Error.Path}})
	}
	return out, nil
}

func (m *MCP) parsed(ctx context.Context, spec core.ServerSpec) wire.ParsedServer {
	file, _ := m.config.Current()
	p := wire.ParsedServer{Spec: spec, Exists: slices.ContainsFunc(file.Servers, named(spec.Name)), Missing: paste.Missing(spec)}
	path, err := m.manager.Locate(ctx, spec)
	p.ResolvedCommand = path
	if err != nil && core.CodeOf(err) != core.CodeNeedsValue {
		p.Problem = err.Error()
	}
	return p
}

// Limits of bundles that wait to be saved.
const (
	maxPiece  = 8 << 20
	maxStaged = 2
)

// shelf holds the bundles that were looked at and not saved yet, in memory, so
// that nothing of them is on disk before a person wants it.
type shelf struct {
	dir string

	mu     sync.Mutex
	id     string // of the upload that is coming in
	pieces []byte
	staged []*bundle.Bundle // the latest last
}

// take adds a piece and returns the whole file with the last one. A new upload
// drops the one before it.
func (s *shelf) take(in wire.UploadBundleInput) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.id != in.ID {
		s.id, s.pieces = in.ID, nil
	}
	if in.ID == "" || len(in.Data) > maxPiece || len(s.pieces)+len(in.Data) > bundle.MaxBytes {
		s.id, s.pieces = "", nil
		return nil, core.Errorf(core.CodeTooLarge, "The bundle is larger than %d MiB. Unpack it yourself and paste the command that starts it.", bundle.MaxBytes>>20)
	}
	s.pieces = append(s.pieces, in.Data...)
	if !in.Last {
		return nil, nil
	}
	whole := s.pieces
	s.id, s.pieces = "", nil
	return whole, nil
}

func (s *shelf) keep(b *bundle.Bundle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.staged = slices.DeleteFunc(s.staged, func(o *bundle.Bundle) bool { return o.Digest == b.Digest })
	s.staged = append(s.staged, b)
	s.staged = s.staged[max(0, len(s.staged)-maxStaged):]
}

func (s *shelf) find(digest string) (*bundle.Bundle, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.staged {
		if b.Digest == digest {
			return b, nil
		}
	}
	return nil, core.Errorf(core.CodeNotFound, "The bundle is not in memory any more. Choose its file again.")
}

func (s *shelf) drop(digest string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.staged = slices.DeleteFunc(s.staged, func(o *bundle.Bundle) bool { return o.Digest == digest })
}

// UploadBundle takes the file of a bundle (.mcpb, .dxt) piece by piece. With
// the last one it says what is in it; nothing is unpacked.
func (m *MCP) UploadBundle(ctx context.Context, in wire.UploadBundleInput) (wire.ParsedServers, error) {
	data, err := m.bundles.take(in)
	if err != nil || !in.Last {
		return wire.ParsedServers{}, err
	}
	return m.inBundle(ctx, data)
}

// inBundle says what is in a bundle, and keeps it for being unpacked.
func (m *MCP) inBundle(ctx context.Context, data []byte) (wire.ParsedServers, error) {
	b, err := bundle.Read(ctx, data, runtime.GOOS)
	if err != nil {
		return wire.ParsedServers{}, err
	}
	m.bundles.keep(b)
	p := m.parsed(ctx, bundle.Place(b.Server, b.Folder(m.bundles.dir)))
	p.Bundle = b.Digest
	if bundle.Inside(p.Spec.Command, m.bundles.dir) { // it is not there before it is unpacked
		p.Problem, p.ResolvedCommand = "", p.Spec.Command
	}
	for _, i := range b.Inputs {
		p.Inputs = append(p.Inputs, wire.ServerInput(i))
	}
	return wire.ParsedServers{Servers: []wire.ParsedServer{p}, Warnings: b.Warnings}, nil
}

// FindConfigs reads the configuration files of other programs on this machine.
func (m *MCP) FindConfigs(ctx context.Context) (wire.FoundFiles, error) {
	found, err := discover.Find(ctx, m.apps)
	if err != nil {
		return wire.FoundFiles{}, err
	}
	var out wire.FoundFiles
	for _, f := range found {
		w := wire.FoundFile{AppID: f.App.ID, App: f.App.Name, Path: f.Path}
		if f.Err != nil {
			w.Error = f.Err.Error()
		}
		for _, spec := range f.Servers {
			p := m.parsed(ctx, spec)
			p.Spec, p.From = mask(spec), &wire.FoundIn{Path: f.Path, Name: spec.Name}
			w.Servers = append(w.Servers, p)
		}
		out.Files = append(out.Files, w)
	}
	return out, nil
}

// foundIn returns the server that was found in a file of another program. Only
// files that mcp:findConfigs would read are opened.
func (m *MCP) foundIn(ctx context.Context, at wire.FoundIn) (core.ServerSpec, error) {
	found, err := discover.Find(ctx, m.apps)
	if err != nil {
		return core.ServerSpec{}, err
	}
	for _, f := range found {
		if f.Path != at.Path {
			continue
		}
		if i := slices.IndexFunc(f.Servers, named(at.Name)); i >= 0 {
			return f.Servers[i], nil
		}
	}
	return core.ServerSpec{}, core.Errorf(core.CodeNotFound, "There is no server %q in %s any more.", at.Name, at.Path)
}

// revealed puts the values behind the masks of spec, from a configured server or
// from a file of another program.
func (m *MCP) revealed(ctx context.Context, spec core.ServerSpec, savedAs string, from *wire.FoundIn) (core.ServerSpec, error) {
	if savedAs != "" {
		old, err := m.find(savedAs)
		if err != nil {
			return spec, err
		}
		spec = unmask(spec, old)
	}
	if from != nil {
		old, err := m.foundIn(ctx, *from)
		if err != nil {
			return spec, err
		}
		spec = unmask(spec, old)
	}
	return spec, nil
}

// ReviewServers says what a person should know before servers are saved and
// started. It runs nothing and saves nothing.
func (m *MCP) ReviewServers(ctx context.Context, in wire.ReviewServersInput) (wire.ReviewsView, error) {
	if len(in.Servers) > paste.MaxServers {
		return wire.ReviewsView{}, core.Errorf(core.CodeTooLarge, "At most %d servers can be reviewed at once.", paste.MaxServers)
	}
	file, _ := m.config.Current()
	var out wire.ReviewsView
	for _, one := range in.Servers {
		spec, err := m.revealed(ctx, one.Server, one.SavedAs, one.From)
		if err != nil {
			return wire.ReviewsView{}, err
		}
		r := m.doctor.Review(ctx, spec)
		if one.Bundle != "" && bundle.Inside(spec.Command, m.bundles.dir) { // it is unpacked by saving
			r.Resolved = spec.Command
			r.Findings = slices.DeleteFunc(r.Findings, func(f core.Finding) bool { return f.Code == "command_missing" })
		}
		w := wire.ServerReview{Name: spec.Name, ResolvedCommand: r.Resolved, EnvNames: r.EnvNames, Findings: r.Findings, Missing: r.Missing,
			Exists: slices.ContainsFunc(file.Servers, named(spec.Name)), Loaders: doctor.Loaders(spec)}
		if w.Exists && one.SavedAs != spec.Name {
			w.Findings = append(w.Findings, core.Finding{Code: "name_taken", Severity: core.SeverityWarning, Field: spec.Name, Mend: core.MendRename,
				Message: fmt.Sprintf("A server called %s exists already.", spec.Name)})
		}
		for _, s := range r.Secrets {
			p := wire.SecretPlace{Place: s.Place, What: s.What}
			if !slices.Contains(w.Secrets, p) {
				w.Secrets = append(w.Secrets, p)
			}
		}
		out.Reviews = append(out.Reviews, w)
	}
	return out, ctx.Err()
}

// agreed refuses what would load foreign code and what nobody agreed to. What
// old has with the same value was agreed to before.
func agreed(spec core.ServerSpec, allowed []string, old *core.ServerSpec) error {
	for _, place := range doctor.Loaders(spec) {
		key, inEnv := strings.CutPrefix(place, "env.")
		if slices.Contains(allowed, place) || old != nil && inEnv && old.Env[key] == spec.Env[key] ||
			old != nil && !inEnv && slices.Equal(old.Args, spec.Args) && old.Command == spec.Command {
			continue
		}
		return &core.Error{Code: core.CodeDenied, Path: place,
			Message: fmt.Sprintf("%s of %s makes the program load or run other code. Nothing was saved or started; agree to it in the review first.", doctor.Label(place), spec.Name)}
	}
	return nil
}

// consented keeps in spec to which of its loaders a person agreed, now or before.
func consented(spec core.ServerSpec, allowed []string, old *core.ServerSpec) core.ServerSpec {
	spec.AllowLoaders = nil
	for _, place := range doctor.Loaders(spec) {
		if slices.Contains(allowed, place) || old != nil && slices.Contains(old.AllowLoaders, place) {
			spec.AllowLoaders = append(spec.AllowLoaders, place)
		}
	}
	return spec
}

// AddServer saves a server and connects it.
func (m *MCP) AddServer(ctx context.Context, in wire.AddServerInput) (wire.ServerView, error) {
	spec, err := m.revealed(ctx, in.Server, in.SavedAs, in.From)
	if err != nil {
		return wire.ServerView{}, err
	}
	if err := unmasked(spec); err != nil {
		return wire.ServerView{}, err
	}
	if err := agreed(spec, in.AllowLoaders, nil); err != nil {
		return wire.ServerView{}, err
	}
	spec = consented(spec, in.AllowLoaders, nil)
	file, err := m.config.Current()
	if err != nil {
		return wire.ServerView{}, err
	}
	overwrite := false
	if slices.ContainsFunc(file.Servers, named(spec.Name)) {
		switch in.OnConflict {
		case wire.ConflictOverwrite:
			overwrite = true
		case wire.ConflictKeepBoth:
			base := spec.Name
			for n := 2; slices.ContainsFunc(file.Servers, named(spec.Name)); n++ {
				spec.Name = fmt.Sprintf("%s-%d", base, n)
			}
		default: // before anything is unpacked for it
			return wire.ServerView{}, core.Errorf(core.CodeConflict, "A server called %q exists already. Choose another name, or overwrite it.", spec.Name)
		}
	}
	back := func() error { return nil }
	if in.Bundle != "" {
		if spec, back, err = m.unpack(ctx, spec, in.Bundle); err != nil {
			return wire.ServerView{}, err
		}
	}
	view, err := m.save(ctx, spec, in.MoveSecrets, func(spec core.ServerSpec) error {
		if overwrite {
			return m.config.UpdateServer(ctx, spec.Name, spec)
		}
		return m.config.AddServer(ctx, spec)
	})
	if err != nil {
		return view, errors.Join(err, back())
	}
	m.bundles.drop(in.Bundle)
	return view, nil
}

// unpack writes a bundle to disk and points spec at it. back takes it away again.
func (m *MCP) unpack(ctx context.Context, spec core.ServerSpec, digest string) (out core.ServerSpec, back func() error, err error) {
	b, err := m.bundles.find(digest)
	if err != nil {
		return spec, nil, err
	}
	folder, err := b.Unpack(ctx, m.bundles.dir)
	if err != nil {
		return spec, nil, err
	}
	shown := filepath.ToSlash(b.Folder(m.bundles.dir))
	return bundle.Move(spec, shown, folder), func() error { return os.RemoveAll(folder) }, nil
}

// UpdateServer replaces a configuration; the server reconnects if that matters to it.
func (m *MCP) UpdateServer(ctx context.Context, in wire.UpdateServerInput) (wire.ServerView, error) {
	old, err := m.find(in.Name)
	if err != nil {
		return wire.ServerView{}, err
	}
	spec := unmask(in.Server, old)
	if err := unmasked(spec); err != nil {
		return wire.ServerView{}, err
	}
	if err := agreed(spec, in.AllowLoaders, &old); err != nil {
		return wire.ServerView{}, err
	}
	spec = consented(spec, in.AllowLoaders, &old)
	return m.save(ctx, spec, in.MoveSecrets, func(spec core.ServerSpec) error {
		_, free := m.find(spec.Name) // a name that is taken is refused by the update
		if m.renamed == nil || spec.Name == in.Name || free == nil {
			return m.config.UpdateServer(ctx, in.Name, spec)
		}
		// First what a person chose for its tools: a blocked one must not be free under another name.
		if err := m.renamed(ctx, in.Name, spec.Name); err != nil {
			return err
		}
		err := m.config.UpdateServer(ctx, in.Name, spec)
		if err != nil {
			err = errors.Join(err, m.renamed(context.WithoutCancel(ctx), spec.Name, in.Name))
		}
		return err
	})
}

// save moves the secrets at places into the secret store and writes the
// configuration. When that fails, what was kept is forgotten again.
func (m *MCP) save(ctx context.Context, spec core.ServerSpec, places []string, write func(core.ServerSpec) error) (wire.ServerView, error) {
	var kept []string
	if len(places) > 0 {
		var lookErr error
		there := map[string]bool{}
		moved, values := doctor.Move(spec, places, func(name, value string) bool {
			have, ok, err := m.secrets.Get(ctx, name)
			lookErr = errors.Join(lookErr, err)
			there[name] = ok
			return err == nil && ok && have != value
		})
		if lookErr != nil {
			return wire.ServerView{}, lookErr
		}
		for name, value := range values {
			if err := m.secrets.Set(ctx, name, value); err != nil {
				return wire.ServerView{}, errors.Join(err, m.forget(ctx, kept))
			}
			if !there[name] {
				kept = append(kept, name)
			}
		}
		spec = moved
	}
	if err := write(spec); err != nil {
		return wire.ServerView{}, errors.Join(err, m.forget(ctx, kept))
	}
	return m.saved(spec.Name, nil)
}

func (m *MCP) forget(ctx context.Context, names []string) error {
	var errs []error
	for _, name := range names {
		errs = append(errs, m.secrets.Delete(context.WithoutCancel(ctx), name))
	}
	return errors.Join(errs...)
}

// TestServer tries a configuration without saving it. A failing server is a
// report, not an error.
func (m *MCP) TestServer(ctx context.Context, in wire.TestServerInput) (core.TestReport, error) {
	spec, err := m.revealed(ctx, in.Server, in.SavedAs, in.From)
	if err != nil {
		return core.TestReport{}, err
	}
	if err := unmasked(spec); err != nil {
		return core.TestReport{}, err
	}
	var old *core.ServerSpec
	if saved, err := m.find(in.SavedAs); err == nil {
		old = &saved
	}
	if err := agreed(spec, in.AllowLoaders, old); err != nil {
		return core.TestReport{}, err
	}
	report := m.manager.Test(ctx, spec, nil)
	if step, is := llm.JudgeAll(report.Tools); is {
		report.Steps = append(report.Steps, step)
	}
	return report, nil
}
