package host

import (
	"context"
	"encoding/json"
	"strings"

	"patchbay/backend/core"
	"patchbay/backend/llm"
	"patchbay/backend/llm/registry"
	"patchbay/backend/question"
	"patchbay/backend/sampling"
)

// deskAsker puts the questions of sampling on the desk.
type deskAsker struct{ desk *question.Desk }

func (d deskAsker) Ask(ctx context.Context, q core.Question) (core.QuestionAction, json.RawMessage, error) {
	a, err := d.desk.Ask(ctx, q)
	return a.Action, a.Content, err
}

// answering is the default model, as one that answers servers.
type answering struct {
	provider llm.Provider
	origin   core.Origin
	name     string
}

var _ sampling.Model = answering{}

func chooseModel(models *registry.Registry) func(context.Context) (sampling.Model, error) {
	return func(ctx context.Context) (sampling.Model, error) {
		p, origin, err := models.Resolve(ctx, "", "")
		if err != nil {
			return nil, err
		}
		config, err := models.Get(ctx, origin.Provider)
		return answering{p, origin, origin.Model + " of " + config.Name}, err
	}
}

func (a answering) ID() string   { return a.origin.Model }
func (a answering) Name() string { return a.name }

func (a answering) Answer(ctx context.Context, s core.Sampling) (text string, cut bool, err error) {
	r := &llm.Request{Model: a.origin.Model, System: s.SystemPrompt, MaxTokens: int(s.MaxTokens), Temperature: s.Temperature}
	for _, m := range s.Messages {
		part := core.Part{Kind: core.PartText, Text: m.Text}
		if m.Data != nil {
			part = core.Part{Kind: core.PartImage, MIMEType: m.MIMEType, Data: m.Data}
		}
		r.Messages = append(r.Messages, core.Message{Role: core.Role(m.Role), Parts: []core.Part{part}})
	}
	var b strings.Builder
	for e, err := range a.provider.Stream(ctx, r) {
		if err != nil {
			return "", false, err
		}
		switch e.Kind {
		case llm.EventText:
			b.WriteString(e.Delta)
		case llm.EventEnd:
			cut = e.End.Stop == llm.StopLength
		}
	}
	return b.String(), cut, nil
}
