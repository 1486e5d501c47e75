package mcp

import (
	"context"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/time/rate"

	"patchbay/backend/core"
)

// Sample is the wish of a server that a model answers something.
type Sample struct {
	Server string
	CallID string // as in Form
	core.Sampling
}

// SampleAnswer is what a person lets the server have.
type SampleAnswer struct {
	Action Action
	Text   string // for Accept only
	Model  string // that wrote it
	// Cut says that the answer reached its limit of tokens.
	Cut bool
}

// The limits of what a server may ask of a model.
const (
	sampleMessages = 100
	sampleBytes    = 1 << 20
	sampleTokens   = 8192
	samplesAMinute = 20
)

// codeDeclined is the error for a person's no (MCP 2025-11-25, Sampling, Error Handling).
const codeDeclined = -1

func newSampleLimit() *rate.Limiter {
	return rate.NewLimiter(rate.Every(time.Minute/samplesAMinute), samplesAMinute/4)
}

// sample answers sampling/createMessage (MCP 2025-11-25, Sampling), whichever
// way it came. Nothing reaches a model, and nothing the server, that a person
// has not let through.
//
//lint:ignore SA1019 servers of the revisions that have sampling are the point
func (q *questions) sample(ctx context.Context, r *sdk.CreateMessageRequest) (*sdk.CreateMessageResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(q.ctx, cancel)()
	s, err := sampling(r.Params)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	if !q.samples.Allow() {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf("too many sampling requests: at most %d a minute are put to a person", samplesAMinute)}
	}
	callID, done := q.during(ctx, "The server wants to ask a model.")
	defer done()
	a, err := q.asker.Sample(ctx, Sample{Server: q.server, CallID: callID, Sampling: s})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: core.Clip(err.Error(), 500)}
	case a.Action != Accept:
		return nil, &jsonrpc.Error{Code: codeDeclined, Message: "User rejected sampling request"}
	}
	reason := "endTurn"
	if a.Cut {
		reason = "maxTokens"
	}
	//lint:ignore SA1019 as above
	return &sdk.CreateMessageResult{Role: "assistant", Content: &sdk.TextContent{Text: a.Text}, Model: a.Model, StopReason: reason}, nil
}

// sampling checks and converts a request.
//
//lint:ignore SA1019 as above
func sampling(p *sdk.CreateMessageParams) (core.Sampling, error) {
	var out core.Sampling
	if p == nil || len(p.Messages) == 0 {
		return out, fmt.Errorf("messages must not be empty")
	}
	if len(p.Messages) > sampleMessages {
		return out, fmt.Errorf("there are %d messages; at most %d are taken", len(p.Messages), sampleMessages)
	}
	out.SystemPrompt = p.SystemPrompt
	if out.MaxTokens = min(p.MaxTokens, sampleTokens); out.MaxTokens <= 0 {
		out.MaxTokens = 1024
	}
	if p.Temperature > 0 {
		out.Temperature = &p.Temperature
	}
	if p.ModelPreferences != nil {
		for _, h := range p.ModelPreferences.Hints {
			if h != nil && h.Name != "" && len(out.Hints) < 5 {
				out.Hints = append(out.Hints, core.Clip(h.Name, 100))
			}
		}
	}
	size := len(p.SystemPrompt)
	for i, m := range p.Messages {
		if m == nil || m.Role != "user" && m.Role != "assistant" {
			return out, fmt.Errorf("message %d has no role of user or assistant", i+1)
		}
		c := core.SamplingMessage{Role: string(m.Role)}
		switch t := m.Content.(type) {
		case *sdk.TextContent:
			c.Text = t.Text
		case *sdk.ImageContent:
			c.MIMEType, c.Data = t.MIMEType, t.Data
		default:
			return out, fmt.Errorf("message %d holds neither text nor an image", i+1)
		}
		size += len(c.Text) + len(c.Data)
		out.Messages = append(out.Messages, c)
	}
	if size > sampleBytes {
		return out, fmt.Errorf("the messages have %d bytes; at most %d are taken", size, sampleBytes)
	}
	return out, nil
}
