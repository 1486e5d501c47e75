package main

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"patchbay/backend/api/wire"
	"patchbay/backend/config/bundle"
	"patchbay/backend/config/paste"
	"patchbay/backend/core"
	"patchbay/backend/doctor"
	"patchbay/backend/host"
)

type serversCmd struct {
	List   serversListCmd   `cmd:"" help:"List the configured servers."`
	Add    serversAddCmd    `cmd:"" help:"Add the servers of a pasted configuration to tools.json."`
	Test   serversTestCmd   `cmd:"" help:"Try a configured server, or a pasted configuration, without saving anything."`
	Remove serversRemoveCmd `cmd:"" help:"Remove a server from tools.json."`
	Import serversImportCmd `cmd:"" help:"Add servers from the configuration files of other programs on this machine."`
	Export serversExportCmd `cmd:"" help:"Print a server as another program keeps it, without secrets."`
	Log    serversLogCmd    `cmd:"" help:"Print the end of the log of a server: what it printed, and what happened to it."`
	Ps     serversPsCmd     `cmd:"" help:"List the processes of the servers that run now, with all that they started."`
	Parse  serversParseCmd  `cmd:"" help:"Print what a pasted configuration means. Runs nothing and changes nothing."`
}

type serversListCmd struct {
	Connect bool `help:"Connect the servers and show their states."`
}

func (c *serversListCmd) Run(a *app) error {
	return a.with(host.Options{}, c.Connect, func(h *host.Host) error {
		file, err := h.Config.Current()
		if err != nil {
			return err
		}
		var view wire.ServersView
		if c.Connect {
			if err := h.Servers.WaitSettled(a.ctx); err != nil {
				return err
			}
			if view, err = h.Facades.MCP.GetServers(a.ctx); err != nil {
				return err
			}
		} else {
			for _, s := range file.Servers {
				view.Servers = append(view.Servers, wire.ServerView{Spec: s, Status: core.ServerStatus{Name: s.Name, Transport: s.Transport}})
			}
		}
		if a.json {
			out := make([]any, 0, len(view.Servers))
			for _, s := range view.Servers {
				if c.Connect {
					out = append(out, map[string]any{"server": normal(s.Spec), "status": s.Status})
				} else {
					out = append(out, normal(s.Spec))
				}
			}
			a.printJSON(map[string]any{"servers": out, "warnings": file.Warnings, "skipped": file.Skipped})
			return nil
		}
		if len(view.Servers) == 0 {
			a.printf("No server is configured in %s. Add one with \"patchbay servers add\".\n", h.Config.Path())
		}
		w := tabwriter.NewWriter(a.stdout, 0, 4, 2, ' ', 0)
		for _, s := range view.Servers {
			last := target(s.Spec)
			if c.Connect {
				last = s.Status.Message
			} else if s.Spec.Disabled {
				last += "  (off)"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\n", visible(s.Spec.Name), s.Spec.Transport, visible(last))
		}
		if err := w.Flush(); err != nil {
			return err
		}
		if !c.Connect { // else it was said already
			a.tellSkipped(file.Skipped)
		}
		return nil
	})
}

type serversLogCmd struct {
	Name  string `arg:"" help:"The server."`
	Lines int    `short:"n" default:"100" help:"How many lines, at most 2,000."`
	Path  bool   `help:"Print only where the file is."`
}

func (c *serversLogCmd) Run(a *app) error {
	return a.with(host.Options{}, false, func(h *host.Host) error {
		view, err := h.Facades.MCP.GetLog(a.ctx, wire.LogInput{Name: c.Name, Lines: c.Lines})
		switch {
		case err != nil:
			return err
		case a.json:
			a.printJSON(view)
		case c.Path:
			a.printf("%s\n", view.Path)
		case len(view.Lines) == 0:
			fmt.Fprintf(a.stderr, "Nothing was written about %s yet. Its log begins when it is started.\n", visible(c.Name))
		}
		if !a.json && !c.Path {
			for _, line := range view.Lines {
				a.printf("%s\n", visible(line))
			}
		}
		return nil
	})
}

func target(s core.ServerSpec) string {
	if s.URL != "" {
		return s.URL
	}
	return strings.TrimSpace(s.Command + " " + strings.Join(s.Args, " "))
}

// normal is a configuration as "servers parse" prints it: every field there.
func normal(s core.ServerSpec) map[string]any {
	args, env, headers := s.Args, s.Env, s.Headers
	if args == nil {
		args = []string{}
	}
	if env == nil {
		env = map[string]string{}
	}
	if headers == nil {
		headers = map[string]string{}
	}
	out := map[string]any{"name": s.Name, "transport": s.Transport, "command": s.Command, "args": args, "env": env,
		"cwd": s.Cwd, "url": s.URL, "headers": headers, "disabled": s.Disabled}
	if s.TimeoutMS > 0 {
		out["timeout"] = s.TimeoutMS
	}
	return out
}

type serversParseCmd struct {
	Source string `arg:"" help:"A file (also a bundle: .mcpb, .dxt), or - for the standard input."`
}

func (c *serversParseCmd) Run(a *app) error {
	res, err := a.parse(c.Source)
	if err != nil {
		return err
	}
	servers := make([]any, 0, len(res.Servers))
	for _, s := range res.Servers {
		servers = append(servers, normal(s))
	}
	out := map[string]any{"servers": servers, "warnings": res.Warnings, "missing": res.Missing}
	if len(res.Rejected) > 0 {
		out["rejected"] = res.Rejected
	}
	if a.json || !terminal(a.stdout) {
		a.printJSON(out)
		return nil
	}
	for _, s := range res.Servers {
		a.printf("%s  %s  %s\n", visible(s.Name), s.Transport, visible(target(s)))
	}
	a.tellParsed(res)
	return nil
}

// parse reads an argument and understands it.
func (a *app) parse(arg string) (paste.Result, error) {
	text, err := a.read(arg)
	if err != nil {
		return paste.Result{}, err
	}
	return a.understand(text)
}

func (a *app) understand(text string) (paste.Result, error) {
	if bundle.Is([]byte(text)) {
		return a.bundled(text)
	}
	res, err := paste.Parse(text)
	if err != nil {
		return res, a.refused(err)
	}
	return res, nil
}

// refused prints why a text was refused, with its own code and place.
func (a *app) refused(err error) error {
	var pe *paste.Error
	if !errors.As(err, &pe) {
		return err
	}
	if a.json || !terminal(a.stdout) {
		a.printJSON(map[string]any{"error": pe})
	}
	if !a.json {
		fmt.Fprintf(a.stderr, "patchbay: %s%s\n", pe.Message, place(pe))
	}
	return exit(exitBadInput)
}

// place says where in a text the trouble is; "" when that is not known.
func place(e *paste.Error) string {
	if e.Line == 0 {
		return ""
	}
	return fmt.Sprintf(" (line %d, column %d)", e.Line, e.Column)
}

func (a *app) tellParsed(res paste.Result) {
	for _, r := range res.Rejected {
		fmt.Fprintf(a.stderr, "not usable: %s%s\n", r.Error.Message, place(r.Error))
	}
	for _, w := range res.Warnings {
		fmt.Fprintf(a.stderr, "warning: %s\n", w)
	}
	for _, m := range res.Missing {
		fmt.Fprintf(a.stderr, "value missing: %s\n", m)
	}
}

type serversAddCmd struct {
	Source     string `arg:"" help:"A file, - for the standard input, or the configuration itself in quotes."`
	OnConflict string `enum:"fail,overwrite,keep_both" default:"fail" help:"What to do when the name is taken: ${enum}."`

	MoveSecrets  bool `help:"Move secrets that stand in clear to the secret store."`
	AllowLoaders bool `help:"Agree to variables that load other code into the program, such as NODE_OPTIONS."`
}

// withFlag adds to a refusal which flag settles it here. conflict is the one for
// a name that is taken, "" where there is none.
func withFlag(err error, conflict string) error {
	switch code := core.CodeOf(err); {
	case code == core.CodeDenied:
		return core.Errorf(code, "%w On the command line, --allow-loaders agrees.", err)
	case code == core.CodeConflict && conflict != "":
		return core.Errorf(code, "%w On the command line, that is %s.", err, conflict)
	}
	return err
}

func (c *serversAddCmd) Run(a *app) error {
	res, err := a.parse(c.Source)
	if err != nil {
		return err
	}
	return a.with(host.Options{}, false, func(h *host.Host) error {
		// The servers are saved and not connected: nothing of them runs here.
		added := []any{}
		pieces, servers, err := a.staged(h, c.Source, res.Servers)
		if err != nil {
			return err
		}
		for _, s := range servers {
			in := wire.AddServerInput{Server: s, OnConflict: wire.OnConflict(c.OnConflict), Bundle: pieces}
			if c.AllowLoaders {
				in.AllowLoaders = doctor.Loaders(s)
			}
			if c.MoveSecrets {
				in.MoveSecrets = secretPlaces(s)
			}
			view, err := h.Facades.MCP.AddServer(a.ctx, in)
			if err != nil {
				return withFlag(err, "--on-conflict overwrite or keep_both")
			}
			s.Name = view.Spec.Name
			added = append(added, normal(s))
			if !a.json {
				a.printf("added %s\n", visible(s.Name))
			}
		}
		if a.json {
			a.printJSON(map[string]any{"servers": added, "warnings": res.Warnings, "missing": res.Missing, "rejected": res.Rejected})
		} else {
			a.tellParsed(res)
		}
		if len(res.Rejected) > 0 {
			return exit(exitBadInput)
		}
		return nil
	})
}

type serversTestCmd struct {
	Source string `arg:"" help:"The name of a configured server, a file, - for the standard input, or a configuration in quotes."`
}

func (c *serversTestCmd) Run(a *app) error {
	return a.with(host.Options{}, false, func(h *host.Host) error {
		specs, err := c.specs(a, h)
		if err != nil {
			return err
		}
		worst := exitDone
		reports := map[string]core.TestReport{}
		for _, s := range specs {
			if !a.json && len(specs) > 1 {
				a.printf("%s\n", visible(s.Name))
			}
			rep := h.Servers.Test(a.ctx, s, func(st core.TestStep) {
				if !a.json {
					a.printf("  %-8s %s (%d ms)  %s\n", st.Status, st.Name, st.Millis, visible(st.Message))
				}
			})
			reports[s.Name] = rep
			if !rep.OK {
				worst = exitFailed
			}
			if !a.json {
				a.printf("%s\n", visible(rep.Message))
				if !rep.OK && rep.Detail != "" {
					a.printf("%s\n", clean(rep.Detail))
				}
			}
		}
		if a.json {
			if len(specs) == 1 {
				a.printJSON(reports[specs[0].Name])
			} else {
				a.printJSON(reports)
			}
		}
		if worst != exitDone {
			return exit(worst)
		}
		return nil
	})
}

func (c *serversTestCmd) specs(a *app, h *host.Host) ([]core.ServerSpec, error) {
	file, ferr := h.Config.Current()
	for _, s := range file.Servers {
		if s.Name == c.Source {
			return []core.ServerSpec{s}, nil
		}
	}
	text, err := a.read(c.Source)
	if err != nil {
		if ferr != nil {
			return nil, ferr
		}
		return nil, core.Errorf(core.CodeNotFound, "There is no configured server and no file named %q.", c.Source)
	}
	res, err := a.understand(text)
	return res.Servers, err
}

type serversRemoveCmd struct {
	Name string `arg:"" help:"The name of the server."`
}

func (c *serversRemoveCmd) Run(a *app) error {
	return a.with(host.Options{}, false, func(h *host.Host) error {
		if err := h.Config.RemoveServer(a.ctx, c.Name); err != nil {
			return err
		}
		if a.json {
			a.printJSON(map[string]any{"removed": c.Name})
		} else {
			a.printf("removed %s; the file before is kept as %s.bak\n", visible(c.Name), h.Config.Path())
		}
		return nil
	})
}
