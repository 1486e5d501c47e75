package main

import (
	"os"

	"patchbay/backend/core"
	"patchbay/backend/host"
)

type modelsCmd struct {
	List   modelsListCmd   `cmd:"" help:"List the providers, and the models that each offers now."`
	Add    modelsAddCmd    `cmd:"" help:"Add a provider."`
	Remove modelsRemoveCmd `cmd:"" help:"Remove a provider and its key."`
}

type modelsListCmd struct{}

func (c *modelsListCmd) Run(a *app) error {
	return a.with(host.Options{}, false, func(h *host.Host) error {
		all, err := h.Models.List(a.ctx)
		if err != nil {
			return err
		}
		type row struct {
			core.Provider
			Models []core.Model `json:"models"`
			Error  string       `json:"error,omitempty"`
		}
		rows := []row{}
		for _, p := range all {
			r := row{Provider: p}
			models, err := h.Models.Models(a.ctx, p.ID)
			if err != nil {
				r.Error = err.Error()
			}
			r.Models = orEmpty(models)
			rows = append(rows, r)
		}
		if a.json {
			a.printJSON(map[string]any{"providers": rows})
			return nil
		}
		for _, r := range rows {
			a.printf("%s  %s\n", visible(r.Name), visible(r.BaseURL))
			for _, m := range r.Models {
				a.printf("  %s/%s\n", visible(r.ID), visible(m.ID))
			}
			if r.Error != "" {
				a.printf("  (%s)\n", visible(r.Error))
			}
		}
		return nil
	})
}

type modelsAddCmd struct {
	Name         string            `arg:"" help:"A name for it."`
	Kind         core.ProviderKind `enum:"ollama,openai" default:"openai" help:"What its endpoint speaks: ${enum}."`
	BaseURL      string            `name:"base-url" required:"" help:"Its address, such as http://localhost:1234/v1."`
	KeyEnv       string            `help:"The environment variable that holds its API key. The key is copied to the secret store."`
	DefaultModel string            `help:"The model to use where none is named."`
}

func (c *modelsAddCmd) Run(a *app) error {
	var key *string
	if c.KeyEnv != "" {
		v, ok := os.LookupEnv(c.KeyEnv)
		if !ok || v == "" {
			return core.Errorf(core.CodeInvalid, "The environment variable %s is not set.", c.KeyEnv)
		}
		key = &v
	}
	return a.with(host.Options{}, false, func(h *host.Host) error {
		p, err := h.Models.Save(a.ctx, core.Provider{Kind: c.Kind, Name: c.Name, BaseURL: c.BaseURL, DefaultModel: c.DefaultModel}, key)
		if err != nil {
			return err
		}
		if a.json {
			a.printJSON(p)
		} else {
			a.printf("added %s (%s)\n", visible(p.Name), p.ID)
		}
		return nil
	})
}

type modelsRemoveCmd struct {
	Provider string `arg:"" help:"The provider, by name or id."`
}

func (c *modelsRemoveCmd) Run(a *app) error {
	return a.with(host.Options{}, false, func(h *host.Host) error {
		p, err := h.Models.Get(a.ctx, c.Provider)
		if err != nil {
			return err
		}
		if err := h.Models.Remove(a.ctx, p.ID); err != nil {
			return err
		}
		if a.json {
			a.printJSON(map[string]any{"removed": p.ID})
		} else {
			a.printf("removed %s\n", visible(p.Name))
		}
		return nil
	})
}
