package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"patchbay/backend/api/wire"
	"patchbay/backend/host"
)

type auditCmd struct {
	Limit int `default:"50" help:"How many records, at most 500."`
}

func (c *auditCmd) Run(a *app) error {
	return a.with(host.Options{}, false, func(h *host.Host) error {
		view, err := h.Facades.Audit.Get(a.ctx, wire.AuditInput{Limit: c.Limit})
		if err != nil {
			return err
		}
		if a.json {
			view.Records = orEmpty(view.Records)
			a.printJSON(view)
			return nil
		}
		w := tabwriter.NewWriter(a.stdout, 0, 4, 2, ' ', 0)
		seqs := map[string]int64{}
		for _, r := range view.Records {
			seqs[r.CallID] = r.Seq
		}
		for _, r := range view.Records {
			by := string(r.Principal.Kind)
			if parent, ok := seqs[r.ParentID]; ok {
				by += fmt.Sprintf(", in %d", parent) // the call of the tool that made this one
			} else if r.ParentID != "" {
				by += ", in " + visible(r.ParentID)
			}
			at, err := time.Parse(time.RFC3339Nano, r.BeganAt)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%d ms\n", r.Seq, at.Local().Format(time.DateTime), by, visible(r.Ref.String()), r.Status, r.Decision.Rule, r.Millis)
		}
		return w.Flush()
	})
}
