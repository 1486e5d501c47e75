// Package testllm is a model server for tests. It speaks the wires of Ollama
// and of OpenAI's Chat Completions, answers by a script, breaks where the
// script says so, and checks each request as strictly as the strictest real
// server: a request that only a lenient one would take is answered with 400.
package testllm

import (
	"encoding/json"
	"strings"
)

// Script says how to answer. The first rule that matches is used; without one,
// the server says so with status 500.
type Script struct {
	// Models are what is listed; none means "test-model".
	Models []string `json:"models,omitempty"`
	// Key is the bearer token to insist on; "" for none.
	Key string `json:"key,omitempty"`
	// NoStreamOptions refuses stream_options, as old servers do.
	NoStreamOptions bool   `json:"noStreamOptions,omitempty"`
	Rules           []Rule `json:"rules"`
}

// Rule is one answer and when to give it.
type Rule struct {
	// User must be part of the last message of the role user; "" matches all.
	User string `json:"user,omitempty"`
	// HasToolResult says whether the last message must be a tool's result; nil
	// matches both.
	HasToolResult *bool `json:"hasToolResult,omitempty"`
	// ToolResult must be part of one of the last tool results.
	ToolResult string `json:"toolResult,omitempty"`
	// Times is how often the rule may be used; 0 means without limit.
	Times int `json:"times,omitempty"`

	Reasoning string `json:"reasoning,omitempty"`
	Text      string `json:"text,omitempty"`
	ToolCalls []Call `json:"toolCalls,omitempty"`
	// Finish is the reason to report; "" means the usual one.
	Finish string `json:"finish,omitempty"`
	Usage  Usage  `json:"usage"`

	FirstDelayMS int `json:"firstDelayMs,omitempty"` // before the answer begins
	DelayMS      int `json:"delayMs,omitempty"`      // between pieces
	ChunkSize    int `json:"chunkSize,omitempty"`    // in characters; 0 means 8
	// CutAfter closes the connection after so many pieces; 0 means never.
	CutAfter int `json:"cutAfter,omitempty"`
	// EndAfter ends the stream properly after so many pieces, but without the
	// wire's terminal event; 0 means never.
	EndAfter int `json:"endAfter,omitempty"`
	// HangAfter sends nothing more after so many pieces, until the client gives up.
	HangAfter int `json:"hangAfter,omitempty"`
	// FailAfter reports Error inside the stream after so many pieces.
	FailAfter int `json:"failAfter,omitempty"`

	Status     int    `json:"status,omitempty"` // of an error; 0 means 200
	Error      string `json:"error,omitempty"`
	RetryAfter int    `json:"retryAfter,omitempty"` // seconds
	// Raw is sent as the whole body in the place of an answer.
	Raw string `json:"raw,omitempty"`
	// WholeCalls sends each call in one piece, without ids and all with index
	// 0, as some servers do.
	WholeCalls bool `json:"wholeCalls,omitempty"`
}

// Call is one tool call.
type Call struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Usage is the count of tokens to report.
type Usage struct {
	Input     int `json:"input"`
	Cached    int `json:"cached"` // part of Input
	Output    int `json:"output"`
	Reasoning int `json:"reasoning"` // part of Output
}

// asked is what a rule is matched against.
type asked struct {
	user    string
	results []string // of the tool messages at the end
}

func (r *Rule) matches(a asked) bool {
	if !strings.Contains(a.user, r.User) || r.HasToolResult != nil && *r.HasToolResult != (len(a.results) > 0) {
		return false
	}
	return r.ToolResult == "" || strings.Contains(strings.Join(a.results, "\n"), r.ToolResult)
}

// piece is one step of an answer, in the terms of neither wire.
type piece struct {
	reasoning, text string
	call            *Call
	index           int
}

func (r *Rule) pieces() []piece {
	size := r.ChunkSize
	if size <= 0 {
		size = 8
	}
	var out []piece
	for _, s := range split(r.Reasoning, size) {
		out = append(out, piece{reasoning: s})
	}
	for _, s := range split(r.Text, size) {
		out = append(out, piece{text: s})
	}
	for i := range r.ToolCalls {
		out = append(out, piece{call: &r.ToolCalls[i], index: i})
	}
	return out
}

func split(s string, size int) []string {
	var out []string
	for runes := []rune(s); len(runes) > 0; {
		n := min(size, len(runes))
		out = append(out, string(runes[:n]))
		runes = runes[n:]
	}
	return out
}
