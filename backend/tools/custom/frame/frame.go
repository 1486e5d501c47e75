// Package frame is what a worker and the program that started it say to each
// other: JSON objects, each after its length, over the worker's standard input
// and output.
package frame

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// Argument is the first argument of our own program when it runs as a worker.
const Argument = "javascript-worker"

// Max is the largest frame, in bytes. Whoever gets a larger one hangs up.
const Max = 48 << 20

// Exit codes of a worker that ends itself.
const (
	ExitMemory = 97 // it held too much memory
	ExitTime   = 98 // one stretch of JavaScript did not let itself be interrupted
)

// Kind says what a frame is.
type Kind string

const (
	// From the worker.
	Ready    Kind = "ready"    // a fresh VM waits
	Ask      Kind = "ask"      // the script wants something: ID, Op, Body
	Log      Kind = "log"      // Level, Text
	Progress Kind = "progress" // Body is a [Step]
	Done     Kind = "done"     // Body is what the script returned; none for undefined
	Fail     Kind = "fail"     // Problem

	// To the worker.
	Run    Kind = "run"    // Code, Body (the arguments), LimitMS, Memory
	Check  Kind = "check"  // Code; answered by Done or Fail
	Answer Kind = "answer" // ID, and Body or Problem
)

// Frame is one message. Which fields are set follows from Kind.
type Frame struct {
	Kind    Kind            `json:"kind"`
	ID      int             `json:"id,omitempty"` // of a question and its answer
	Op      string          `json:"op,omitempty"`
	Body    json.RawMessage `json:"body,omitempty"`
	Code    string          `json:"code,omitempty"`
	LimitMS int64           `json:"limitMs,omitempty"` // of JavaScript's own running time
	Memory  int64           `json:"memory,omitempty"`  // of the VM, in bytes
	Level   string          `json:"level,omitempty"`
	Text    string          `json:"text,omitempty"`
	Problem *Problem        `json:"problem,omitempty"`
}

// Step is a script's news of how far it is.
type Step struct {
	Progress *float64 `json:"progress,omitempty"`
	Total    *float64 `json:"total,omitempty"`
	Message  string   `json:"message,omitempty"`
}

// Cause says why a script came to no result.
type Cause string

const (
	Threw   Cause = "threw"  // an exception of the script's own
	Syntax  Cause = "syntax" // it is no JavaScript
	Time    Cause = "time"
	Memory  Cause = "memory"
	Stalled Cause = "stalled" // it waits for something that never comes
	Refused Cause = "refused" // a question was answered with no
)

// Problem is why a script, or a question of it, failed.
type Problem struct {
	Cause   Cause  `json:"cause"`
	Name    string `json:"name,omitempty"` // of the exception: "TypeError"
	Message string `json:"message"`
	// Code is the core.Code of a refusal; "" otherwise.
	Code string `json:"code,omitempty"`
	// Line and Column are 1-based and in the person's code; 0 means unknown.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Stack holds the frames in the person's code, one a line.
	Stack string `json:"stack,omitempty"`
}

// Writer sends frames. It is safe for concurrent use.
type Writer struct {
	mu sync.Mutex
	w  io.Writer
}

// NewWriter makes a writer on w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Send writes f, at once and whole. Its Body, which may be large, is not copied.
func (w *Writer) Send(f Frame) error {
	body := f.Body
	f.Body = nil
	raw, err := json.Marshal(f)
	switch {
	case err != nil:
		return fmt.Errorf("encoding a %s frame: %w", f.Kind, err)
	case len(raw)+len(body) > Max-100:
		return fmt.Errorf("a %s frame of %d bytes is larger than %d", f.Kind, len(raw)+len(body), Max-100)
	case len(body) > 0 && !json.Valid(body):
		return fmt.Errorf("the body of a %s frame is no JSON", f.Kind)
	}
	parts := [][]byte{make([]byte, 4, 4+len(raw)+len(`,"body":`)), body, []byte("}")}
	if len(body) == 0 {
		parts[0] = append(parts[0], raw...)
		parts = parts[:1]
	} else {
		parts[0] = append(append(parts[0], raw[:len(raw)-1]...), `,"body":`...) // kind is always there, so a comma is right
	}
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	binary.BigEndian.PutUint32(parts[0], uint32(n-4))
	if n < 64<<10 { // one write is quicker
		parts = [][]byte{bytes.Join(parts, nil)}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range parts {
		if _, err := w.w.Write(p); err != nil {
			return fmt.Errorf("writing a %s frame: %w", f.Kind, err)
		}
	}
	return nil
}

// Read reads one frame. It returns io.EOF where the other side hung up.
func Read(r io.Reader) (Frame, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Frame{}, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > Max {
		return Frame{}, fmt.Errorf("a frame of %d bytes is larger than %d", n, Max)
	}
	raw := make([]byte, n)
	if _, err := io.ReadFull(r, raw); err != nil {
		return Frame{}, err
	}
	var f Frame
	if err := json.Unmarshal(raw, &f); err != nil {
		return Frame{}, fmt.Errorf("decoding a frame: %w", err)
	}
	return f, nil
}
