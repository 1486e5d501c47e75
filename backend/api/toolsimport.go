package api

import (
	"context"
	"slices"
	"strings"

	"patchbay/backend/api/wire"
	"patchbay/backend/core"
	"patchbay/backend/tools/openapi"
)

// ParseOpenAPI reads an OpenAPI document and says which tools could be made of
// it. Nothing is saved and nothing is fetched.
func (t *Tools) ParseOpenAPI(ctx context.Context, in wire.OpenAPIInput) (wire.OpenAPIView, error) {
	d, err := openapi.Parse(ctx, in.Text, in.BaseURL)
	return wire.OpenAPIView{Title: d.Title, Version: d.Version, Proposals: d.Proposals}, err
}

// AddMany saves several tools without code, all or none.
func (t *Tools) AddMany(ctx context.Context, in wire.AddToolsInput) (wire.AddedTools, error) {
	for _, c := range in.Tools {
		if c.HTTP == nil {
			return wire.AddedTools{}, core.Errorf(core.CodeInvalid, "%s is no connector. Tools with code are added one by one.", c.Name)
		}
	}
	names, err := t.config.AddTools(ctx, in.Tools)
	return wire.AddedTools{Names: names}, t.saved(err)
}

// GetMissingSecrets returns those of the named secrets that have no value yet.
func (t *Tools) GetMissingSecrets(ctx context.Context, in wire.SecretNames) (wire.SecretNames, error) {
	there, err := t.secrets.Names(ctx)
	if err != nil {
		return wire.SecretNames{}, err
	}
	out := wire.SecretNames{}
	for _, n := range in.Names {
		if !slices.Contains(there, n) {
			out.Names = append(out.Names, n)
		}
	}
	return out, nil
}

// SetSecret keeps the value of a secret for custom tools. Nothing gives it back.
func (t *Tools) SetSecret(ctx context.Context, in wire.SetSecretInput) error {
	name := strings.TrimSpace(in.Name)
	switch {
	case name == "" || strings.ContainsAny(name, "{}$\r\n"):
		return &core.Error{Code: core.CodeInvalid, Path: "name", Message: "A secret needs a name, without braces, $ and line breaks."}
	case strings.HasPrefix(name, "provider/") || strings.HasPrefix(name, "oauth/"):
		return &core.Error{Code: core.CodeInvalid, Path: "name", Message: "Names that begin with provider/ or oauth/ are kept for Patchbay itself. Choose another."}
	case in.Value == "":
		return &core.Error{Code: core.CodeInvalid, Path: "value", Message: "The secret is empty. Paste its value."}
	}
	return t.secrets.Set(ctx, name, strings.TrimSpace(in.Value))
}
