package host

import (
	"context"

	"patchbay/backend/core"
	"patchbay/backend/event"
	"patchbay/backend/mcp"
	"patchbay/backend/question"
	"patchbay/backend/sampling"
)

// person brings the engine's questions to the page.
type person struct {
	desk    *question.Desk
	emit    func(event.Payload)
	samples *sampling.Service
}

var _ mcp.Asker = (*person)(nil)

func (p *person) Fill(ctx context.Context, f mcp.Form) (mcp.FormAnswer, error) {
	a, err := p.desk.Ask(ctx, core.Question{Kind: core.QuestionForm, Server: f.Server, CallID: f.CallID, Message: f.Message,
		Schema: f.Schema, Defaults: f.Defaults, Problem: f.Problem})
	return mcp.FormAnswer{Action: mcp.Action(a.Action), Content: a.Content}, err
}

func (p *person) Visit(ctx context.Context, v mcp.Visit) (mcp.Action, error) {
	a, err := p.desk.Ask(ctx, core.Question{Kind: core.QuestionVisit, Server: v.Server, CallID: v.CallID, Message: v.Message, URL: v.URL, Host: v.Host, Wait: v.Wait})
	return mcp.Action(a.Action), err
}

func (p *person) OpenBrowser(_ context.Context, server, address string) error {
	p.emit(event.BrowserOpen{Server: server, URL: address})
	return nil
}

func (p *person) Sample(ctx context.Context, s mcp.Sample) (mcp.SampleAnswer, error) {
	a, err := p.samples.Sample(ctx, s.Server, s.CallID, s.Sampling)
	return mcp.SampleAnswer{Action: mcp.Action(a.Action), Text: a.Text, Model: a.Model, Cut: a.Cut}, err
}
