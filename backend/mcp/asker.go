package mcp

import (
	"context"
	"encoding/json"
)

// Asker puts the questions of the protocol to a person. Its methods may be
// called from several goroutines and wait for the answer; they end with ctx,
// whose error they then return. Any error counts as no answer.
type Asker interface {
	// Fill shows a form (MCP 2025-11-25, Elicitation, Form Mode).
	Fill(ctx context.Context, f Form) (FormAnswer, error)
	// Visit asks whether to open an address that a server names, which must be
	// shown in full, and opens it if so (MCP 2025-11-25, Elicitation, URL Mode).
	// With v.Wait it returns when the person says that they are done there.
	Visit(ctx context.Context, v Visit) (Action, error)
	// Sample has a model answer what a server asks (MCP 2025-11-25, Sampling). A
	// person must see and may change both what goes to the model and what comes back.
	Sample(ctx context.Context, s Sample) (SampleAnswer, error)
	// OpenBrowser opens the page where the person signs in to a server. address
	// is http or https. It must not go through a shell. It waits for nothing.
	OpenBrowser(ctx context.Context, server, address string) error
}

// Action is what a person did with a question (MCP 2025-11-25, ElicitResult).
type Action string

const (
	Accept  Action = "accept"
	Decline Action = "decline" // said no
	Dismiss Action = "cancel"  // said nothing
)

// Form is a question of a server.
type Form struct {
	Server string
	// CallID is the call during which the server asks; "" if that is not known.
	CallID string
	// Message is the server's own text.
	Message string
	// Schema is a JSON Schema for a flat object; nil for a mere confirmation.
	Schema json.RawMessage
	// Defaults is a JSON object with the values to begin with; never nil.
	Defaults json.RawMessage
	// Problem says what was wrong with the answer before; "" the first time.
	Problem string
}

// FormAnswer is a person's answer to a Form.
type FormAnswer struct {
	Action Action
	// Content is a JSON object, for Accept only. What it leaves out gets its
	// default. nil means {}.
	Content json.RawMessage
}

// Visit is the wish of a server that the person goes to an address.
type Visit struct {
	Server  string
	CallID  string // as in Form
	Message string
	URL     string // http or https
	// Host is where it leads, in letters that cannot be mistaken: a name outside
	// of ASCII is shown as Punycode.
	Host string
	// Wait says that the server needs to know when the person is done there.
	Wait bool
}
