package main

import (
	"fmt"
	"slices"
	"strings"

	"patchbay/backend/api/wire"
	"patchbay/backend/core"
	"patchbay/backend/host"
)

type toolsImportCmd struct {
	File      string   `arg:"" help:"An OpenAPI 3 document in JSON or YAML, or - to read it from the standard input."`
	Operation []string `help:"Only this operation; may be repeated." placeholder:"ID"`
	BaseURL   string   `name:"base-url" help:"Where the API is served, in the place of what the document says."`
	DryRun    bool     `help:"Show what would be imported and save nothing."`
}

func (c *toolsImportCmd) Run(a *app) error {
	text, err := a.read(c.File)
	if err != nil {
		return err
	}
	return a.with(host.Options{}, false, func(h *host.Host) error {
		view, err := h.Facades.Tools.ParseOpenAPI(a.ctx, wire.OpenAPIInput{Text: text, BaseURL: c.BaseURL})
		if err != nil {
			return err
		}
		var list []core.CustomTool
		var left []string
		found := map[string]bool{}
		for _, p := range view.Proposals {
			if len(c.Operation) > 0 && !slices.Contains(c.Operation, p.Operation) {
				continue
			}
			found[p.Operation] = true
			if p.Problem != "" {
				left = append(left, p.Operation+": "+p.Problem)
				continue
			}
			for _, w := range p.Warnings {
				fmt.Fprintf(a.stderr, "%s: %s\n", visible(p.Operation), visible(w))
			}
			list = append(list, p.Tool)
		}
		for _, id := range c.Operation {
			if !found[id] {
				return core.Errorf(core.CodeNotFound, "The document has no operation %q.", id)
			}
		}
		for _, l := range left {
			fmt.Fprintf(a.stderr, "%s\n", visible(l))
		}
		if len(list) == 0 {
			return core.Errorf(core.CodeInvalid, "Nothing of the document can be imported.")
		}
		names := make([]string, 0, len(list))
		for _, t := range list {
			names = append(names, t.Name)
		}
		if !c.DryRun {
			added, err := h.Facades.Tools.AddMany(a.ctx, wire.AddToolsInput{Tools: list})
			if err != nil {
				return err
			}
			names = added.Names
		}
		if a.json {
			a.printJSON(map[string]any{"tools": names, "left": orEmpty(left)})
			return nil
		}
		a.printf("%s\n", visible(strings.Join(names, ", ")))
		return nil
	})
}
