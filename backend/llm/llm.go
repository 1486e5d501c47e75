// Package llm is the neutral shape of a conversation with a model. Each vendor
// has a package of its own below, which is the only one to know its wire.
package llm

import (
	"context"
	"encoding/json"
	"iter"

	"patchbay/backend/core"
)

// Provider reaches the models of one vendor or endpoint. It is safe for
// concurrent use.
type Provider interface {
	// Stream asks a model for one turn. The events end with exactly one
	// EventEnd, and only after the vendor's own terminal event; a stream that
	// ends without it is an error of kind truncated. After an error nothing
	// follows. The stream ends soon after ctx does.
	Stream(ctx context.Context, r *Request) iter.Seq2[Event, error]
	// Models lists what the endpoint offers.
	Models(ctx context.Context) ([]core.Model, error)
	// Caps says what a model can do, as far as is known.
	Caps(model string) Caps
}

// Request is one turn to be written. A provider must not change it.
type Request struct {
	Model    string
	System   string // "" for none
	Messages []core.Message
	Tools    []ToolDef // nil: the model cannot call any
	// MaxTokens limits the reply; 0 leaves it to the endpoint.
	MaxTokens int
	// Temperature is nil where the endpoint shall choose.
	Temperature *float64
}

// ToolDef offers one tool. Name is safe for every vendor: [A-Za-z_][A-Za-z0-9_-]{0,63}.
type ToolDef struct {
	Name        string
	Description string
	Schema      json.RawMessage // the tool's original input schema
}

// EventKind names what an [Event] carries.
type EventKind string

const (
	EventText      EventKind = "text"       // Delta: new text of the reply
	EventReasoning EventKind = "reasoning"  // Delta: new text of the model's reasoning
	EventCallStart EventKind = "call_start" // Index, CallID, Name: a tool call begins
	EventCallArgs  EventKind = "call_args"  // Index, Delta: more of its arguments
	EventEnd       EventKind = "end"        // End: the whole turn
)

// Event is one step of a turn that is being written.
type Event struct {
	Kind   EventKind
	Index  int // of the call within the turn, from 0
	CallID string
	Name   string
	Delta  string
	End    *End // set in EventEnd only
}

// Stop says why a turn ended.
type Stop string

const (
	StopEnd      Stop = "end"
	StopTools    Stop = "tools" // there are calls; derived from them, not from the vendor's word
	StopLength   Stop = "length"
	StopFiltered Stop = "filtered"
	StopOther    Stop = "other"
)

// End is the finished turn. Message has the role assistant, its parts in
// order, every tool_call with a CallID; ID and At are left to the caller.
type End struct {
	Stop    Stop
	Message core.Message
	Usage   core.Usage
}

// Caps is what a model can do.
type Caps struct {
	Tools         bool // unknown counts as true
	Images        bool
	ContextWindow int // in tokens; 0: unknown
}
