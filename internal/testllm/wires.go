package testllm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// --- Ollama

func ollamaFault(w http.ResponseWriter, f *fault) {
	f.header(w)
	writeJSON(w, map[string]string{"error": f.text})
}

func (s *Server) ollamaTags(w http.ResponseWriter, r *http.Request) {
	if _, f := s.accept(r); f != nil {
		ollamaFault(w, f)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []map[string]any{}
	for _, m := range s.script.Models {
		list = append(list, map[string]any{"name": m, "model": m, "size": 1})
	}
	writeJSON(w, map[string]any{"models": list})
}

func (s *Server) ollamaShow(w http.ResponseWriter, r *http.Request) {
	if _, f := s.accept(r); f != nil {
		ollamaFault(w, f)
		return
	}
	writeJSON(w, map[string]any{"capabilities": []string{"completion", "tools"}, "model_info": map[string]any{"test.context_length": 40960}})
}

func (s *Server) ollamaChat(w http.ResponseWriter, r *http.Request) {
	rule, req, f := s.begin(r, checkOllama)
	if f != nil {
		ollamaFault(w, f)
		return
	}
	model, _ := req["model"].(string)
	s.play(w, r, rule, ollamaWire{model}, "application/x-ndjson")
}

type ollamaWire struct{ model string }

func (o ollamaWire) line(v map[string]any) []byte {
	v["model"], v["created_at"] = o.model, "2026-01-01T00:00:00Z"
	return append(mustJSON(v), '\n')
}

func (o ollamaWire) piece(p piece, _ *Rule) []byte {
	m := map[string]any{"role": "assistant", "content": p.text}
	if p.reasoning != "" {
		m["thinking"] = p.reasoning
	}
	if p.call != nil {
		m["tool_calls"] = []any{map[string]any{"function": map[string]any{"name": p.call.Name, "arguments": p.call.Arguments}}}
	}
	return o.line(map[string]any{"message": m, "done": false})
}

func (ollamaWire) failure(text string) []byte {
	return append(mustJSON(map[string]string{"error": text}), '\n')
}

func (o ollamaWire) end(r *Rule) []byte {
	reason := r.Finish
	if reason == "" {
		reason = "stop"
	}
	return o.line(map[string]any{"message": map[string]any{"role": "assistant", "content": ""}, "done": true, "done_reason": reason,
		"prompt_eval_count": r.Usage.Input, "eval_count": r.Usage.Output})
}

// --- OpenAI

func openaiFault(w http.ResponseWriter, f *fault) {
	f.header(w)
	writeJSON(w, map[string]any{"error": map[string]any{"message": f.text, "type": "error", "param": nil, "code": nil}})
}

func (s *Server) openaiModels(w http.ResponseWriter, r *http.Request) {
	if _, f := s.accept(r); f != nil {
		openaiFault(w, f)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []map[string]any{}
	for _, m := range s.script.Models {
		list = append(list, map[string]any{"id": m, "object": "model", "created": 1, "owned_by": "test"})
	}
	writeJSON(w, map[string]any{"object": "list", "data": list})
}

func (s *Server) openaiChat(w http.ResponseWriter, r *http.Request) {
	rule, req, f := s.begin(r, checkOpenAI)
	if f != nil {
		openaiFault(w, f)
		return
	}
	model, _ := req["model"].(string)
	options, _ := req["stream_options"].(map[string]any)
	usage, _ := options["include_usage"].(bool)
	s.play(w, r, rule, openaiWire{model, usage}, "text/event-stream")
}

type openaiWire struct {
	model string
	usage bool
}

func (o openaiWire) data(v map[string]any) []byte {
	v["id"], v["object"], v["created"], v["model"] = "chatcmpl-test", "chat.completion.chunk", 1, o.model
	return []byte("data: " + string(mustJSON(v)) + "\n\n")
}

func (o openaiWire) delta(d map[string]any, finish any) []byte {
	return o.data(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": d, "finish_reason": finish}}})
}

func (o openaiWire) piece(p piece, r *Rule) []byte {
	switch {
	case p.reasoning != "":
		return o.delta(map[string]any{"reasoning_content": p.reasoning}, nil)
	case p.call == nil:
		return o.delta(map[string]any{"content": p.text}, nil)
	}
	args := string(p.call.Arguments)
	call := func(index int, id, name, args string) map[string]any {
		c := map[string]any{"index": index, "function": map[string]any{"arguments": args}}
		if id != "" {
			c["id"], c["type"] = id, "function"
		}
		if name != "" {
			c["function"].(map[string]any)["name"] = name
		}
		return map[string]any{"tool_calls": []any{c}}
	}
	if r.WholeCalls {
		return o.delta(call(0, "", p.call.Name, args), nil)
	}
	out := o.delta(call(p.index, fmt.Sprintf("call_%d", p.index), p.call.Name, ""), nil)
	for _, s := range split(args, 5) {
		out = append(out, o.delta(call(p.index, "", "", s), nil)...)
	}
	return out
}

func (openaiWire) failure(text string) []byte {
	return []byte("data: " + string(mustJSON(map[string]any{"error": map[string]any{"message": text, "type": "server_error"}})) + "\n\n")
}

func (o openaiWire) end(r *Rule) []byte {
	finish := r.Finish
	if finish == "" {
		finish = "stop"
		if len(r.ToolCalls) > 0 {
			finish = "tool_calls"
		}
	}
	out := o.delta(map[string]any{}, finish)
	if o.usage {
		out = append(out, o.data(map[string]any{"choices": []any{}, "usage": map[string]any{
			"prompt_tokens": r.Usage.Input, "completion_tokens": r.Usage.Output, "total_tokens": r.Usage.Input + r.Usage.Output,
			"prompt_tokens_details":     map[string]any{"cached_tokens": r.Usage.Cached},
			"completion_tokens_details": map[string]any{"reasoning_tokens": r.Usage.Reasoning},
		}})...)
	}
	return append(out, "data: [DONE]\n\n"...)
}

// UnmarshalScript reads a script and refuses fields that it does not know.
func UnmarshalScript(raw []byte) (Script, error) {
	var s Script
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return s, fmt.Errorf("reading the script: %w", err)
	}
	return s, nil
}
