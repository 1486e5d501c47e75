package main

import (
	"encoding/json"
	"slices"
	"strings"

	"patchbay/backend/config"
	"patchbay/backend/core"
	"patchbay/backend/doctor"
	"patchbay/backend/host"
	"patchbay/backend/llm"
)

type doctorCmd struct {
	Server  string `arg:"" optional:"" help:"The name of a configured server; without it, all of them."`
	Offline bool   `help:"Only look at the configuration; start and reach nothing."`
}

// checkup is what doctor says of one server.
type checkup struct {
	Name     string           `json:"name"`
	Command  []string         `json:"command,omitempty"`
	URL      string           `json:"url,omitempty"`
	Resolved string           `json:"resolved,omitempty"`
	Env      []string         `json:"env,omitempty"`
	Findings []core.Finding   `json:"findings"`
	Test     *core.TestReport `json:"test,omitempty"`
	Tokens   int              `json:"tokens,omitempty"` // about, of all its tools
	Healthy  bool             `json:"healthy"`
}

func (c *doctorCmd) Run(a *app) error {
	return a.with(host.Options{}, false, func(h *host.Host) error {
		file, err := h.Config.Current()
		if err != nil {
			return err
		}
		specs := []core.ServerSpec{}
		for _, s := range file.Servers {
			if c.Server == "" || s.Name == c.Server {
				specs = append(specs, s)
			}
		}
		skipped := []config.Skipped{}
		for _, s := range file.Skipped {
			if c.Server == "" || s.Kind == "server" && s.Name == c.Server {
				skipped = append(skipped, s)
			}
		}
		if c.Server != "" && len(specs)+len(skipped) == 0 {
			return core.Errorf(core.CodeNotFound, "There is no server %q in %s. \"patchbay servers list\" shows those that there are.", c.Server, h.Config.Path())
		}
		all := make([]checkup, 0, len(specs))
		healthy := len(skipped) == 0
		for _, s := range specs {
			one := c.check(a, h, s)
			healthy = healthy && one.Healthy
			all = append(all, one)
			if !a.json {
				one.print(a)
			}
		}
		switch {
		case a.json:
			a.printJSON(map[string]any{"servers": all, "skipped": skipped})
		case len(all) == 0 && len(skipped) == 0:
			a.printf("No server is configured in %s.\n", h.Config.Path())
		}
		if !a.json {
			a.tellSkipped(skipped)
		}
		if !healthy {
			return exit(exitFailed)
		}
		return nil
	})
}

func (c *doctorCmd) check(a *app, h *host.Host, s core.ServerSpec) checkup {
	r := h.Doctor.Review(a.ctx, s)
	hidden := doctor.Mask(s, "•••")
	out := checkup{Name: s.Name, URL: hidden.URL, Resolved: r.Resolved, Env: r.EnvNames, Findings: r.Findings}
	if r.Argv != nil {
		out.Command = append([]string{hidden.Command}, hidden.Args...)
	}
	// What hides secrets in the configuration is a warning; a server is ill when
	// it cannot work, or when something in it may do harm.
	out.Healthy = doctor.Worst(r.Findings) != core.SeverityDanger
	// What stands in tools.json already runs with its variables.
	others := slices.DeleteFunc(slices.Clone(r.Findings), func(f core.Finding) bool { return f.Code == "loader_variable" })
	blocked := doctor.Worst(others) == core.SeverityDanger
	if c.Offline || s.Disabled || len(r.Missing) > 0 || blocked {
		return out
	}
	rep := h.Servers.Test(a.ctx, s, nil)
	if step, is := llm.JudgeAll(rep.Tools); is {
		rep.Steps = append(rep.Steps, step)
	}
	out.Test = &rep
	out.Healthy = out.Healthy && rep.OK
	for _, t := range rep.Tools {
		out.Tokens += tokens(t)
	}
	return out
}

// tokens is about what a tool's definition costs a model: four bytes a token.
func tokens(t core.Tool) int {
	b, err := json.Marshal(map[string]any{"name": t.Ref.Name, "description": t.Description, "inputSchema": t.InputSchema})
	if err != nil {
		return 0
	}
	return (len(b) + 3) / 4
}

func (r checkup) print(a *app) {
	a.printf("%s\n", visible(r.Name))
	if r.URL != "" {
		a.printf("  url       %s\n", visible(r.URL))
	} else {
		a.printf("  command   %s\n", visible(strings.Join(r.Command, " ")))
		a.printf("  program   %s\n", visible(orNone(r.Resolved)))
	}
	if len(r.Env) > 0 {
		a.printf("  variables %s\n", visible(strings.Join(r.Env, ", ")))
	}
	for _, f := range r.Findings {
		a.printf("  %-8s  %s (%s)\n", f.Severity, visible(f.Message), visible(f.Field))
	}
	if r.Test == nil {
		a.printf("  not tested\n")
		return
	}
	for _, s := range r.Test.Steps {
		a.printf("  %-8s  %s: %s (%d ms)\n", s.Status, s.Name, visible(s.Message), s.Millis)
	}
	if !r.Test.OK {
		a.printf("  failed    %s\n", visible(r.Test.Message))
		return
	}
	a.printf("  ok        %s MCP %s, about %d tokens\n", visible(r.Test.Message), visible(r.Test.ProtocolVersion), r.Tokens)
	for _, t := range r.Test.Tools {
		if t.Broken != "" {
			a.printf("  broken    %s: %s\n", visible(t.Ref.Name), visible(t.Broken))
		}
	}
}

func orNone(s string) string {
	if s == "" {
		return "not found"
	}
	return s
}
