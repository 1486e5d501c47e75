package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"

	"patchbay/backend/api/wire"
	"patchbay/backend/core"
	"patchbay/backend/host"
)

type secretsCmd struct {
	List   secretsListCmd   `cmd:"" help:"List the names of secrets and who uses them; never a value."`
	Set    secretsSetCmd    `cmd:"" help:"Keep a secret. Its value is read from the standard input, or asked for without showing it."`
	Remove secretsRemoveCmd `cmd:"" help:"Forget a secret."`
}

type secretsListCmd struct{}

func (c *secretsListCmd) Run(a *app) error {
	return a.with(host.Options{}, false, func(h *host.Host) error {
		view, err := h.Facades.Secrets.List(a.ctx)
		if err != nil {
			return err
		}
		if a.json {
			a.printJSON(map[string]any{"secrets": orEmpty(view.Secrets)})
			return nil
		}
		w := tabwriter.NewWriter(a.stdout, 0, 4, 2, ' ', 0)
		for _, s := range view.Secrets {
			var by []string
			for _, u := range s.UsedBy {
				by = append(by, u.Server+u.Tool)
			}
			state := "kept"
			if !s.Kept {
				state = "missing"
			}
			users := "not used"
			if len(by) > 0 {
				users = "used by " + strings.Join(by, ", ")
			}
			fmt.Fprintf(w, "%s\t%s\t%s\n", visible(s.Name), state, visible(users))
		}
		return w.Flush()
	})
}

type secretsSetCmd struct {
	Name string `arg:"" help:"The name; tools.json refers to it as $${secret:NAME}."`
}

func (c *secretsSetCmd) Run(a *app) error {
	value, err := a.secretValue(c.Name)
	if err != nil {
		return err
	}
	return a.with(host.Options{}, false, func(h *host.Host) error {
		if _, err := h.Facades.Secrets.Save(a.ctx, wire.SaveSecretInput{Name: c.Name, Value: value}); err != nil {
			return err
		}
		if a.json {
			a.printJSON(map[string]any{"name": c.Name})
		} else {
			a.printf("%s is kept. A server that runs with another value has to be reconnected.\n", visible(c.Name))
		}
		return nil
	})
}

// secretValue asks at a terminal without showing what is typed, or reads all of
// the standard input; one line end is no part of the value.
func (a *app) secretValue(name string) (string, error) {
	var b []byte
	var err error
	if f, ok := a.stdin.(*os.File); ok && terminal(f) {
		fmt.Fprintf(a.stderr, "Value of %s (not shown): ", visible(name))
		b, err = term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(a.stderr)
	} else {
		b, err = io.ReadAll(io.LimitReader(a.stdin, 2<<20))
	}
	if err != nil {
		return "", core.Errorf(core.CodeInvalid, "The value of %s cannot be read: %w", name, err)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r"), nil
}

type secretsRemoveCmd struct {
	Name  string `arg:"" help:"The name."`
	Force bool   `help:"Also when a server or a custom tool uses it."`
}

func (c *secretsRemoveCmd) Run(a *app) error {
	return a.with(host.Options{}, false, func(h *host.Host) error {
		err := h.Facades.Secrets.Remove(a.ctx, wire.RemoveSecretInput{Name: c.Name, EvenIfUsed: c.Force})
		if core.CodeOf(err) == core.CodeConflict {
			return core.Errorf(core.CodeConflict, "%w On the command line, --force confirms it.", err)
		}
		if err == nil && !a.json {
			a.printf("%s is forgotten.\n", visible(c.Name))
		}
		return err
	})
}
