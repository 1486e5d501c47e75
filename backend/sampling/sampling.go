// Package sampling lets an MCP server ask a model, with a person in between:
// nothing reaches the model, and nothing the server, that the person has not
// seen and let through (MCP 2025-11-25, Sampling). Every request is in the
// audit log, whatever its end.
package sampling

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"patchbay/backend/core"
	"patchbay/backend/event"
)

// Method is the name under which requests are recorded.
const Method = "sampling/createMessage"

// Asker puts a question to a person.
type Asker interface {
	// Ask returns what the person did. content is a JSON object, for accept only.
	Ask(ctx context.Context, q core.Question) (action core.QuestionAction, content json.RawMessage, err error)
}

// Model is the one that answers.
type Model interface {
	// ID is the vendor's name of the model, for the server; Name says which one
	// that is in words, for the person.
	ID() string
	Name() string
	// Answer returns the model's text. cut says that it reached MaxTokens.
	Answer(ctx context.Context, s core.Sampling) (text string, cut bool, err error)
}

// Log is the audit log.
type Log interface {
	Begin(ctx context.Context, r core.AuditRecord) (int64, error)
	End(ctx context.Context, r core.AuditRecord) error
}

// Service answers the requests of servers. Its fields must be set, but for
// Emit. It is safe for concurrent use.
type Service struct {
	Asker Asker
	// Choose returns the model to use now.
	Choose func(ctx context.Context) (Model, error)
	Log    Log
	Emit   func(event.Payload)
}

// Answer is what the server may have.
type Answer struct {
	Action core.QuestionAction
	Text   string // for accept only, as are the others
	Model  string
	Cut    bool
}

// edited is what a person may change of a request.
type edited struct {
	SystemPrompt *string  `json:"systemPrompt"`
	Texts        []string `json:"texts"` // of the messages, in order
	MaxTokens    int64    `json:"maxTokens"`
}

// Sample shows a request, asks the model, shows its answer, and returns it.
// callID is the call during which the server asks, "" if that is not known.
func (s *Service) Sample(ctx context.Context, server, callID string, in core.Sampling) (out Answer, err error) {
	began := time.Now()
	shown, err := json.Marshal(in)
	if err != nil {
		return Answer{}, err
	}
	rec := core.AuditRecord{
		CallID: uuid.NewString(), ParentID: callID, BeganAt: began.UTC().Format(time.RFC3339Nano),
		Principal: core.Principal{Kind: core.PrincipalServer}, Ref: core.ToolRef{Kind: core.ToolFeature, Server: server, Name: Method},
		Arguments: core.Clip(string(shown), 16<<10), Status: core.CallRunning,
		Decision: core.Decision{Effect: core.Ask, Rule: "sampling", Why: "A server that asks a model always needs a person.", Risk: core.RiskMedium},
	}
	if rec.Seq, err = s.Log.Begin(context.WithoutCancel(ctx), rec); err != nil {
		return Answer{}, core.Errorf(core.CodeInternal, "The model was not asked, because the audit log cannot be written: %w", err)
	}
	s.emit(event.AuditAppended{Seq: rec.Seq})
	defer func() {
		rec.EndedAt, rec.Millis, rec.Bytes = time.Now().UTC().Format(time.RFC3339Nano), time.Since(began).Milliseconds(), int64(len(out.Text))
		rec.Status = status(ctx, out, err)
		if err != nil {
			rec.Error = err.Error()
		}
		if out.Action == core.QuestionAccept {
			rec.Answer = core.AnswerAllowOnce
		} else if err == nil {
			rec.Answer = core.AnswerDeny
		}
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		if lerr := s.Log.End(end, rec); lerr != nil && err == nil {
			err = core.Errorf(core.CodeInternal, "The server gets no answer, because the audit log cannot be written: %w", lerr)
			out = Answer{}
		}
		s.emit(event.AuditAppended{Seq: rec.Seq})
	}()

	model, err := s.Choose(ctx)
	if err != nil {
		return Answer{}, err
	}
	in.Model = model.Name()
	request := in // what is on the person's screen must not change
	q := core.Question{Kind: core.QuestionSampling, Server: server, CallID: callID, Sampling: &request,
		Message: "It wants to ask a model. Look at what it would send, and change what you like."}
	action, content, err := s.Asker.Ask(ctx, q)
	if err != nil || action != core.QuestionAccept {
		return Answer{Action: action}, err
	}
	if in, err = apply(in, content); err != nil {
		return Answer{}, err
	}
	text, cut, err := model.Answer(ctx, in)
	if err != nil {
		return Answer{}, err
	}
	in.Answer = text
	q = core.Question{Kind: core.QuestionSamplingAnswer, Server: server, CallID: callID, Sampling: &in,
		Message: "The model has answered. Look at what the server would get, and change what you like."}
	action, content, err = s.Asker.Ask(ctx, q)
	if err != nil || action != core.QuestionAccept {
		return Answer{Action: action}, err
	}
	var e struct {
		Answer *string `json:"answer"`
	}
	if len(content) > 0 && json.Unmarshal(content, &e) != nil {
		return Answer{}, core.Errorf(core.CodeInvalid, "The changed answer cannot be read, so the server got none.")
	}
	if e.Answer != nil {
		text = *e.Answer
	}
	return Answer{Action: core.QuestionAccept, Text: text, Model: model.ID(), Cut: cut}, nil
}

// apply puts a person's changes into a request.
func apply(in core.Sampling, content json.RawMessage) (core.Sampling, error) {
	var e edited
	if len(content) == 0 {
		return in, nil
	}
	if err := json.Unmarshal(content, &e); err != nil {
		return in, core.Errorf(core.CodeInvalid, "The changed request cannot be read, so the model was not asked.")
	}
	if e.Texts != nil && len(e.Texts) != len(in.Messages) {
		return in, core.Errorf(core.CodeInvalid, "The changed request has %d texts for %d messages, so the model was not asked.", len(e.Texts), len(in.Messages))
	}
	messages := make([]core.SamplingMessage, len(in.Messages))
	copy(messages, in.Messages)
	for i, t := range e.Texts {
		if messages[i].Data == nil {
			messages[i].Text = t
		}
	}
	in.Messages = messages
	if e.SystemPrompt != nil {
		in.SystemPrompt = *e.SystemPrompt
	}
	if e.MaxTokens > 0 {
		in.MaxTokens = min(in.MaxTokens, e.MaxTokens)
	}
	return in, nil
}

func status(ctx context.Context, out Answer, err error) core.CallStatus {
	switch {
	case ctx.Err() != nil:
		return core.CallCanceled
	case err != nil && core.CodeOf(err) == core.CodeTimeout:
		return core.CallTimeout
	case err != nil:
		return core.CallFailed
	case out.Action == core.QuestionAccept:
		return core.CallDone
	}
	return core.CallDenied
}

func (s *Service) emit(p event.Payload) {
	if s.Emit != nil {
		s.Emit(p)
	}
}
