package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/backend/core"
)

// Request makes one request other than a tool call: resources/list,
// resources/templates/list, resources/read, prompts/list, prompts/get or
// completion/complete (MCP 2025-11-25, Server Features). params is the JSON
// object of its parameters; empty means {}. The result is a JSON object. A
// server that is still starting is waited for.
//
// Errors: CodeNotFound (no such server), CodeInvalid (no such request, or
// parameters that it cannot have, or that the server refuses), CodeNeedsAuth,
// and CodeUnavailable, CodeTimeout and CodeCanceled as for Call.
func (m *Manager) Request(ctx context.Context, server, method string, params json.RawMessage) (json.RawMessage, error) {
	s, err := m.find(server)
	if err != nil {
		return nil, err
	}
	ref := core.ToolRef{Kind: core.ToolMCP, Server: server, Name: method}
	defer s.use()()
	l, err := s.ready(ctx, method+" cannot be asked of "+server, "the request "+method, nil, time.Time{})
	if err != nil {
		return nil, err
	}
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	rctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.ctx, cancel)()
	var res any
	switch c := l.session; method {
	case "resources/list":
		res, err = request(rctx, params, c.ListResources)
	case "resources/templates/list":
		res, err = request(rctx, params, c.ListResourceTemplates)
	case "resources/read":
		res, err = request(rctx, params, c.ReadResource)
	case "prompts/list":
		res, err = request(rctx, params, c.ListPrompts)
	case "prompts/get":
		res, err = request(rctx, params, c.GetPrompt)
	case "completion/complete":
		res, err = request(rctx, params, c.Complete)
	default:
		return nil, core.Errorf(core.CodeInvalid, "Patchbay does not make the request %q. Use one of resources/list, resources/templates/list, resources/read, prompts/list, prompts/get and completion/complete.", method)
	}
	if err != nil {
		var we *jsonrpc.Error
		var de *core.Error
		switch {
		case errors.As(err, &de):
			return nil, de
		case errors.As(err, &we) && we.Code != codeRejected:
			code := core.CodeUnavailable
			if we.Code == codeInvalidParams {
				code = core.CodeInvalid
			}
			return nil, core.Errorf(code, "The server %s refused %s: %s", server, method, sentence(we.Message))
		case errors.Is(err, sdk.ErrConnectionClosed):
			err = errLost
		}
		return nil, s.explainCall(ctx, l, ref, err)
	}
	return json.Marshal(res)
}

// request decodes the parameters for f and calls it.
func request[P, R any](ctx context.Context, params json.RawMessage, f func(context.Context, *P) (R, error)) (any, error) {
	p := new(P)
	if err := json.Unmarshal(params, p); err != nil {
		return nil, core.Errorf(core.CodeInvalid, "The parameters of the request cannot be read: %w. Correct them.", err)
	}
	return f(ctx, p)
}
