package openai

import (
	"encoding/json"
	"errors"
	"fmt"

	"patchbay/backend/core"
	"patchbay/backend/llm"
)

// errBad marks a piece of a stream that cannot be understood, errFailed one
// that says that the endpoint failed.
var (
	errBad    = errors.New("not a chunk of a chat completion")
	errFailed = errors.New("the endpoint reported an error")
)

// chunk is decoded here rather than by go-openai, whose type lacks the fields
// that other endpoints add.
type chunk struct {
	Choices *[]struct {
		Delta struct {
			Content          *string     `json:"content"`
			ReasoningContent string      `json:"reasoning_content"`
			Reasoning        string      `json:"reasoning"`
			Refusal          string      `json:"refusal"`
			ToolCalls        []callDelta `json:"tool_calls"`
		} `json:"delta"`
		FinishReason *string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		PromptInfo *struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		CompletionInfo *struct {
			Reasoning int64 `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// turn puts the pieces of a stream together.
type turn struct {
	b       llm.Builder
	yield   func(llm.Event, error) bool
	calls   map[int]openCall // by the endpoint's index
	last    int
	usage   core.Usage
	finish  string
	failure string // the endpoint's own error
	status  int
	begun   bool // a chunk has arrived
	gone    bool // nobody listens any more
}

type openCall struct {
	index int
	id    string
}

func (t *turn) send(ev llm.Event) {
	if !t.gone && !t.yield(ev, nil) {
		t.gone = true
	}
}

func (t *turn) take(raw []byte) error {
	var c chunk
	if err := json.Unmarshal(raw, &c); err != nil {
		return fmt.Errorf("%w: %w", errBad, err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		var e struct {
			Code json.RawMessage `json:"code"`
		}
		_ = json.Unmarshal(c.Error, &e)          // the text below says it all
		_ = json.Unmarshal(e.Code, &t.status)    // a number with some endpoints, a word with others
		t.failure, t.finish = errorText(raw), "" // an error after the finish is still one
		return errFailed
	}
	if c.Choices == nil && c.Usage == nil {
		return errBad
	}
	t.begun = true
	if c.Usage != nil {
		t.usage = core.Usage{Input: c.Usage.Prompt, Output: c.Usage.Completion}
		if d := c.Usage.PromptInfo; d != nil {
			t.usage.CacheRead = min(d.Cached, t.usage.Input)
			t.usage.Input -= t.usage.CacheRead
		}
		if d := c.Usage.CompletionInfo; d != nil {
			t.usage.Reasoning = d.Reasoning
		}
	}
	if c.Choices == nil || len(*c.Choices) == 0 {
		return nil
	}
	choice := (*c.Choices)[0]
	d := choice.Delta
	if r := d.ReasoningContent; r != "" {
		t.send(t.b.Reasoning(r))
	} else if d.Reasoning != "" {
		t.send(t.b.Reasoning(d.Reasoning))
	}
	if d.Content != nil && *d.Content != "" {
		t.send(t.b.Text(*d.Content))
	}
	if d.Refusal != "" {
		t.send(t.b.Text(d.Refusal))
	}
	for _, call := range d.ToolCalls {
		t.call(call)
	}
	if choice.FinishReason != nil && *choice.FinishReason != "" {
		t.finish = *choice.FinishReason
	}
	return nil
}

// call takes a piece of a tool call. Endpoints number the calls, or only give
// ids, or send whole calls that all have the number 0.
func (t *turn) call(d callDelta) {
	if t.calls == nil {
		t.calls = map[int]openCall{}
	}
	key := t.last
	if d.Index != nil {
		key = *d.Index
	}
	open, ok := t.calls[key]
	fresh := !ok ||
		d.ID != "" && open.id != "" && d.ID != open.id ||
		d.Index == nil && d.Function.Name != "" && d.ID == "" ||
		d.ID == "" && open.id == "" && d.Function.Name != "" && json.Valid([]byte(t.b.Arguments(open.index)))
	if fresh {
		ev := t.b.Call(d.ID, d.Function.Name)
		open = openCall{ev.Index, d.ID}
		t.calls[key], t.last = open, key
		t.send(ev)
	}
	args := string(d.Function.Arguments)
	var s string
	if json.Unmarshal(d.Function.Arguments, &s) == nil { // as it should be; some send the object itself
		args = s
	}
	if args != "" && args != "null" {
		t.send(t.b.Args(open.index, args))
	}
}
