package main

import (
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"patchbay/backend/api/wire"
	"patchbay/backend/core"
	"patchbay/backend/host"
)

type toolsChooseCmd struct {
	Tools []string      `arg:"" help:"Tools, as \"patchbay tools list\" names them."`
	Wait  time.Duration `default:"60s" help:"How long to wait for servers that are still starting."`
}

type toolsAllowCmd struct {
	toolsChooseCmd
	AcceptRisk bool `help:"Allow tools of high risk too, such as those that may destroy data."`
}

func (c *toolsAllowCmd) Run(a *app) error { return c.choose(a, core.ChoiceAllow, c.AcceptRisk) }

func (c *toolsChooseCmd) Run(a *app, k *kong.Context) error {
	choices := map[string]core.ApprovalChoice{"ask": core.ChoiceAsk, "block": core.ChoiceBlock, "inherit": core.ChoiceInherit}
	choice, ok := choices[k.Selected().Name]
	if !ok {
		return core.Errorf(core.CodeInternal, "The command %q is no choice.", k.Selected().Name)
	}
	return c.choose(a, choice, false)
}

func (c *toolsChooseCmd) choose(a *app, choice core.ApprovalChoice, acceptRisk bool) error {
	return a.with(host.Options{}, true, func(h *host.Host) error {
		await(a.ctx, h, c.Wait, func() bool {
			for _, name := range c.Tools {
				if _, ok := h.Catalog.ByAlias(name); !ok {
					return false
				}
			}
			return true
		})
		in := wire.SetApprovalInput{Choice: choice, AcceptRisk: acceptRisk}
		var names []string
		for _, name := range c.Tools {
			e, err := h.Catalog.Find(name)
			if err != nil {
				return err
			}
			in.Refs = append(in.Refs, e.Tool.Ref)
			names = append(names, e.Alias)
		}
		if _, err := h.Facades.Tools.SetApproval(a.ctx, in); err != nil {
			if core.CodeOf(err) == core.CodeDenied {
				return core.Errorf(core.CodeDenied, "%w On the command line, --accept-risk confirms it.", err)
			}
			return err
		}
		if a.json {
			a.printJSON(map[string]any{"choice": choice, "tools": names})
			return nil
		}
		says := map[core.ApprovalChoice]string{core.ChoiceAllow: "runs without asking", core.ChoiceAsk: "is asked for",
			core.ChoiceBlock: "is blocked", core.ChoiceInherit: "follows the rules"}
		a.printf("%s: %s.\n", visible(strings.Join(names, ", ")), says[choice])
		return nil
	})
}
