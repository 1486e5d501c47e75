package core

import "encoding/json"

// QuestionKind names what a server wants of a person.
type QuestionKind string

const (
	QuestionForm  QuestionKind = "form"  // values for a form
	QuestionVisit QuestionKind = "visit" // go to an address
	// QuestionSampling is whether a model may be asked, and
	// QuestionSamplingAnswer whether the server may have its answer.
	QuestionSampling       QuestionKind = "sampling"
	QuestionSamplingAnswer QuestionKind = "sampling_answer"
)

// Sampling is what a server wants a model to answer (MCP 2025-11-25, Sampling).
type Sampling struct {
	SystemPrompt string            `json:"systemPrompt,omitempty"`
	Messages     []SamplingMessage `json:"messages"`
	MaxTokens    int64             `json:"maxTokens"` // of the answer; never 0
	Temperature  *float64          `json:"temperature,omitempty"`
	// Hints are the models that the server would like.
	Hints []string `json:"hints,omitempty"`
	// Model is the one that answers, in words; "" until that is decided.
	Model string `json:"model,omitempty"`
	// Answer is what the model wrote.
	Answer string `json:"answer,omitempty"`
}

// SamplingMessage is one message for the model: a text or an image.
type SamplingMessage struct {
	Role     string `json:"role"` // user or assistant
	Text     string `json:"text,omitempty"`
	MIMEType string `json:"mimeType,omitempty"` // of an image
	Data     []byte `json:"data,omitempty"`
}

// Question is what a server asks a person in the middle of a call (MCP
// 2025-11-25, Elicitation). All its text is the server's own and untrusted.
type Question struct {
	ID      string       `json:"id"`
	Kind    QuestionKind `json:"kind"`
	Server  string       `json:"server"`
	CallID  string       `json:"callId,omitempty"` // the call during which it asks; "" if unknown
	Message string       `json:"message"`
	// Schema is a JSON Schema for a flat object; nil for a mere confirmation.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Defaults is a JSON object with the values to begin with.
	Defaults json.RawMessage `json:"defaults,omitempty"`
	// Problem says what was wrong with the answer before; "" the first time.
	Problem string `json:"problem,omitempty"`
	URL     string `json:"url,omitempty"` // of a visit; http or https
	// Host is where URL leads, in letters that cannot be mistaken.
	Host string `json:"host,omitempty"`
	// Wait says that accepting a visit means that the person is done there.
	Wait bool `json:"wait,omitempty"`
	// Sampling is set for the kinds sampling and sampling_answer.
	Sampling *Sampling `json:"sampling,omitempty"`
	AskedAt  string    `json:"askedAt"` // RFC 3339
}

// QuestionAction is what a person did with a question (MCP 2025-11-25, ElicitResult).
type QuestionAction string

const (
	QuestionAccept  QuestionAction = "accept"
	QuestionDecline QuestionAction = "decline" // said no
	QuestionCancel  QuestionAction = "cancel"  // said nothing
)
