package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"patchbay/backend/core"
	"patchbay/backend/host"
	"patchbay/backend/tools"
)

type toolsCmd struct {
	List    toolsListCmd   `cmd:"" help:"Connect the servers and list their tools."`
	Allow   toolsAllowCmd  `cmd:"" help:"Let tools run without asking, as long as their definitions stay as they are."`
	Ask     toolsChooseCmd `cmd:"" help:"Have every call of these tools asked for."`
	Block   toolsChooseCmd `cmd:"" help:"Let nobody call these tools; agents do not see them any more."`
	Inherit toolsChooseCmd `cmd:"" help:"Let the rules decide about these tools again."`
	Import  toolsImportCmd `cmd:"" help:"Make tools of the operations of an OpenAPI 3 document."`
}

type toolsListCmd struct {
	Server  string        `help:"Only the tools of this server."`
	Builtin bool          `help:"The built-in tools instead, which agents have only if they were given them."`
	Wait    time.Duration `default:"60s" help:"How long to wait for servers that are still starting."`
}

func (c *toolsListCmd) Run(a *app) error {
	return a.with(host.Options{}, true, func(h *host.Host) error {
		file, broken := h.Config.Current()
		if c.Server != "" {
			if broken != nil {
				return broken
			}
			known := false
			for _, s := range file.Servers {
				known = known || s.Name == c.Server
			}
			if !known {
				return core.Errorf(core.CodeNotFound, "There is no server %q in %s.", c.Server, h.Config.Path())
			}
		}
		await(a.ctx, h, c.Wait, func() bool { return c.Server != "" && settled(h, c.Server) })
		view, err := h.Facades.Tools.Get(a.ctx)
		if err != nil {
			return err
		}
		all := view.Tools
		if c.Builtin {
			all = view.Builtins
		}
		shown := all[:0]
		for _, t := range all {
			if c.Server == "" || t.Tool.Ref.Server == c.Server {
				shown = append(shown, t)
			}
		}
		trouble := unconnected(h, c.Server)
		if a.json {
			a.printJSON(map[string]any{"tools": orEmpty(shown), "notConnected": trouble, "skipped": orEmpty(file.Skipped)})
		} else {
			w := tabwriter.NewWriter(a.stdout, 0, 4, 2, ' ', 0)
			for _, t := range shown {
				line, _, _ := strings.Cut(t.Tool.Description, "\n")
				if r := []rune(line); len(r) > 90 {
					line = string(r[:89]) + "…"
				}
				effect := string(t.Decision.Effect)
				if t.Tool.Disabled {
					effect = "off"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\n", t.Alias, effect, visible(line))
			}
			if err := w.Flush(); err != nil {
				return err
			}
			for _, s := range trouble {
				fmt.Fprintf(a.stderr, "%s: %s\n", visible(s.Name), visible(s.Message))
			}
		}
		switch {
		case broken != nil: // it was said already
			return exit(exitBadInput)
		case c.Server != "" && len(trouble) > 0:
			return exit(exitFailed)
		}
		return nil
	})
}

func orEmpty[T any](in []T) []T {
	if in == nil {
		return []T{}
	}
	return in
}

func settled(h *host.Host, server string) bool {
	for _, s := range h.Servers.Status() {
		if s.Name == server {
			return s.State.Settled()
		}
	}
	return false
}

// unconnected lists the servers that should be connected and are not; of one
// name, or of all for "".
func unconnected(h *host.Host, server string) []core.ServerStatus {
	out := []core.ServerStatus{}
	for _, s := range h.Servers.Status() {
		if s.State != core.StateConnected && s.State != core.StateOff && s.State != core.StateOnDemand && (server == "" || s.Name == server) {
			out = append(out, s)
		}
	}
	return out
}

type callCmd struct {
	Tool      string        `arg:"" help:"The tool, as \"patchbay tools list\" names it."`
	Arguments string        `arg:"" optional:"" help:"A JSON object, or - to read it from the standard input."`
	Yes       bool          `short:"y" help:"Allow the call without asking."`
	Timeout   time.Duration `help:"Give up after this time without a sign of life (default 30s)."`
	Wait      time.Duration `default:"60s" help:"How long to wait for the tool's server."`
}

func (c *callCmd) Run(a *app) error {
	args := c.Arguments
	if args == "-" {
		var err error
		if args, err = a.read("-"); err != nil {
			return err
		}
	}
	return a.with(host.Options{Answer: a.answerer(c.Yes), Limits: limits(c.Timeout)}, true, func(h *host.Host) error {
		var entry tools.Entry
		var err error
		await(a.ctx, h, c.Wait, func() bool {
			_, ok := h.Catalog.ByAlias(c.Tool)
			return ok
		})
		if entry, err = h.Catalog.Find(c.Tool); err != nil {
			if a.ctx.Err() != nil {
				return a.ctx.Err()
			}
			for _, s := range unconnected(h, "") {
				fmt.Fprintf(a.stderr, "%s: %s\n", visible(s.Name), visible(s.Message))
			}
			return err
		}
		o := h.Gate.Call(a.ctx, core.Principal{Kind: core.PrincipalCLI}, core.ToolCall{Ref: entry.Tool.Ref, Arguments: json.RawMessage(args)},
			core.Watch{Chunk: func(ch core.Chunk) { a.chunk(ch) }})
		if o.Err != nil {
			return byStatus(o)
		}
		if a.json || !terminal(a.stdout) {
			a.printJSON(o.Result.MCP())
		} else {
			a.printf("%s\n", clean(tools.ModelText(o.Result)))
		}
		if o.Result.Warning != "" {
			fmt.Fprintf(a.stderr, "warning: %s\n", o.Result.Warning)
		}
		if o.Status == core.CallToolError {
			return exit(exitFailed)
		}
		return nil
	})
}

// byStatus keeps the exit code for the end that the gate named: an unanswered
// approval is a denial, whatever error it wraps.
func byStatus(o core.Outcome) error {
	switch o.Status {
	case core.CallDenied, core.CallDeniedRule, core.CallExpired:
		return &core.Error{Code: core.CodeDenied, Message: o.Err.Error(), Err: o.Err}
	case core.CallTimeout:
		return &core.Error{Code: core.CodeTimeout, Message: o.Err.Error(), Err: o.Err}
	}
	var ce *core.Error
	if errors.As(o.Err, &ce) {
		return ce
	}
	return o.Err
}

func (a *app) chunk(ch core.Chunk) {
	if a.json || !terminal(a.stderr) {
		return
	}
	text := ch.Message
	if ch.Progress != nil {
		text = fmt.Sprintf("%g %s", *ch.Progress, text)
		if ch.Total != nil {
			text = fmt.Sprintf("%g/%g %s", *ch.Progress, *ch.Total, ch.Message)
		}
	}
	fmt.Fprintf(a.stderr, "… %s\n", visible(text))
}
