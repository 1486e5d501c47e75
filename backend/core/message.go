package core

import "encoding/json"

// Role says who wrote a message.
type Role string

const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool" // the results of the calls of the turn before
)

// PartKind names what a [Part] holds.
type PartKind string

const (
	PartText       PartKind = "text"
	PartReasoning  PartKind = "reasoning"
	PartImage      PartKind = "image"
	PartToolCall   PartKind = "tool_call"
	PartToolResult PartKind = "tool_result"
	// PartOpaque is data of a provider that must go back to it unchanged.
	PartOpaque PartKind = "opaque"
)

// Origin is the provider and model that wrote a message. Opaque parts and
// signatures go back only to their origin.
type Origin struct {
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
}

// Part is one piece of a message. Which fields are set follows from Kind.
type Part struct {
	Kind     PartKind `json:"kind"`
	Text     string   `json:"text,omitempty"`     // text, reasoning
	MIMEType string   `json:"mimeType,omitempty"` // image
	Data     []byte   `json:"data,omitempty"`     // image
	// CallID joins a tool_call with its tool_result. In a conversation it is
	// unique for ever; between a provider and the agent's loop it is the vendor's.
	CallID string `json:"callId,omitempty"`
	// WireID is the vendor's id of the call, kept because it must go back.
	WireID string `json:"wireId,omitempty"`
	// Alias is the tool's name as the model wrote it (tool_call).
	Alias string `json:"alias,omitempty"`
	// Ref is the tool behind Alias; nil when there is none.
	Ref   *ToolRef `json:"ref,omitempty"`
	Title string   `json:"title,omitempty"` // of the tool
	// Arguments is what the model wrote, kept even when it is not valid JSON.
	Arguments string `json:"arguments,omitempty"`
	// Result and Status are set in a tool_result.
	Result *ToolResult `json:"result,omitempty"`
	Status CallStatus  `json:"status,omitempty"`
	Error  string      `json:"error,omitempty"`
	Millis int64       `json:"millis,omitempty"`
	// Signature is opaque data that belongs to this part.
	Signature json.RawMessage `json:"signature,omitempty"`
}

// Usage counts tokens. Input excludes what was read from or written to a cache.
type Usage struct {
	Input      int64 `json:"input"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
	Output     int64 `json:"output"` // includes Reasoning
	Reasoning  int64 `json:"reasoning"`
}

// Message is one entry of a conversation.
type Message struct {
	ID     string `json:"id"`
	Role   Role   `json:"role"`
	Parts  []Part `json:"parts"`
	Origin Origin `json:"origin"`
	Usage  Usage  `json:"usage"`
	At     string `json:"at"` // RFC 3339
	// Stopped says that the reply was cut by a person or by the program's end.
	Stopped bool `json:"stopped,omitempty"`
	// Error is why a reply failed; "" when it did not.
	Error string `json:"error,omitempty"`
}

// Text joins the text parts.
func (m Message) Text() string {
	var s string
	for _, p := range m.Parts {
		if p.Kind == PartText {
			s += p.Text
		}
	}
	return s
}
