package api

import (
	"context"

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
