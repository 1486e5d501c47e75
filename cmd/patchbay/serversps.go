package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"patchbay/backend/core"
	"patchbay/backend/host"
)

type serversPsCmd struct {
	Name string `arg:"" optional:"" help:"Only this server."`
}

// Run lists what any Patchbay of this profile runs now.
func (c *serversPsCmd) Run(a *app) error {
	return a.with(host.Options{}, false, func(h *host.Host) error {
		file, err := h.Config.Current()
		if err != nil {
			return err
		}
		at := slices.IndexFunc(file.Servers, func(s core.ServerSpec) bool { return s.Name == c.Name })
		if c.Name != "" && at < 0 {
			return core.Errorf(core.CodeNotFound, "There is no server %q in %s. \"patchbay servers list\" lists them.", c.Name, h.Config.Path())
		}
		all, err := h.Servers.Running(a.ctx, file.Servers)
		if err != nil {
			return err
		}
		kept := all[:0]
		for _, s := range all {
			if c.Name == "" || s.Server == c.Name {
				kept = append(kept, s)
			}
		}
		if a.json {
			if kept == nil {
				kept = all[:0:0]
			}
			a.printJSON(map[string]any{"servers": kept})
			return nil
		}
		if len(kept) == 0 {
			switch {
			case at >= 0 && file.Servers[at].URL != "":
				a.printf("%s runs elsewhere: %s\n", visible(c.Name), visible(file.Servers[at].URL))
			case at >= 0:
				a.printf("%s does not run now.\n", visible(c.Name))
			default:
				a.printf("No server runs on this computer now.\n")
			}
			return nil
		}
		w := tabwriter.NewWriter(a.stdout, 0, 4, 2, ' ', 0)
		fmt.Fprintln(w, "SERVER\tPID\tMEMORY\tCPU\tSINCE\tCOMMAND")
		for _, s := range kept {
			for i, p := range s.Processes {
				indent := ""
				if i > 0 {
					indent = "  "
				}
				fmt.Fprintf(w, "%s\t%d\t%.1f MB\t%.1f s\t%s\t%s%s\n", visible(s.Server), p.PID, float64(p.MemoryKB)/1024, float64(p.CPUMillis)/1000, since(p.StartedAt), indent, visible(strings.TrimSpace(p.Command)))
			}
		}
		return w.Flush()
	})
}

// since is a time of today as its hour, any other with its day.
func since(rfc3339 string) string {
	at, err := time.Parse(time.RFC3339, rfc3339)
	if err != nil {
		return "?"
	}
	at = at.Local()
	if y, d := time.Now().Year(), time.Now().YearDay(); at.Year() == y && at.YearDay() == d {
		return at.Format("15:04:05")
	}
	return at.Format("2 Jan 15:04")
}
