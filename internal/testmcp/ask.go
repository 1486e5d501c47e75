package testmcp

import (
	"encoding/json"
	"strconv"
	"time"
)

// Tools that ask the person. They are not listed, since most tests do not want
// them. Each returns the answer that it got as text.
const (
	Ask        = "ask"         // a form with defaults
	AskVisit   = "ask_visit"   // to go to an address
	VisitFirst = "visit_first" // refuses the first call until an address was visited (2025-11-25)
	VisitOver  = "visit_over"  // … and says itself that the visit has ended
	AskSample  = "ask_sample"  // what a model says to "Say hi."
	AskRoots   = "ask_roots"   // the roots
	ClientCaps = "client_caps" // asks nothing: what the client declared
	RootNews   = "root_news"   // asks nothing: how often the roots were said to have changed
	StateOnly  = "state_only"  // wants its state back, once, without a question (2026-07-28)
)

// form is what Ask wants to know.
func form() map[string]any {
	return map[string]any{"mode": "form", "message": "Who are you?", "requestedSchema": map[string]any{
		"type": "object", "required": []string{"name", "age"}, "properties": map[string]any{
			"name":  map[string]any{"type": "string", "default": "Ada"},
			"age":   map[string]any{"type": "integer", "minimum": 0, "default": 36},
			"color": map[string]any{"type": "string", "enum": []string{"red", "green"}},
		}}}
}

func sample() map[string]any {
	return map[string]any{"systemPrompt": "Be short.", "maxTokens": 50, "modelPreferences": map[string]any{"hints": []any{map[string]any{"name": "small"}}},
		"messages": []any{map[string]any{"role": "user", "content": map[string]any{"type": "text", "text": "Say hi."}}}}
}

func address() map[string]any {
	return map[string]any{"mode": "url", "message": "Pay here.", "url": "https://pay.example/now?id=1", "elicitationId": "v1"}
}

// ask runs the tools that ask; false means that name is another tool.
func (s *server) ask(name string, params json.RawMessage, send func(message), gone <-chan struct{}) (any, *wireError, bool) {
	var p struct {
		Answers map[string]json.RawMessage `json:"inputResponses"`
		State   string                     `json:"requestState"`
		Meta    struct {
			Caps json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
		} `json:"_meta"`
	}
	_ = json.Unmarshal(params, &p)
	text := func(t string) any {
		return map[string]any{"content": []any{map[string]any{"type": "text", "text": t}}}
	}
	question, method := form(), "elicitation/create"
	switch name {
	case AskSample:
		question, method = sample(), "sampling/createMessage"
	case Ask:
	case AskRoots:
		method, question = "roots/list", map[string]any{}
	case ClientCaps:
		if p.Meta.Caps != nil {
			return text(string(p.Meta.Caps)), nil, true
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return text(string(s.caps)), nil, true
	case RootNews:
		return text(strconv.FormatInt(s.rootNews.Load(), 10)), nil, true
	case AskVisit:
		question = address()
		if s.modern() {
			delete(question, "elicitationId")
		}
	case StateOnly:
		if p.State == "" {
			return map[string]any{"resultType": "input_required", "requestState": "s1"}, nil, true
		}
		return text(p.State), nil, true
	case VisitFirst, VisitOver:
		if s.visits.Add(1) > 1 {
			return text("visited"), nil, true
		}
		if name == VisitOver {
			time.AfterFunc(50*time.Millisecond, func() {
				send(message{JSONRPC: "2.0", Method: "notifications/elicitation/complete", Params: raw(map[string]any{"elicitationId": "v1"})})
			})
		}
		return nil, &wireError{Code: -32042, Message: "visit first", Data: map[string]any{"elicitations": []any{address()}}}, true
	default:
		return nil, nil, false
	}
	if s.modern() {
		if a, ok := p.Answers["q"]; ok {
			return text(string(a) + " " + p.State), nil, true
		}
		return map[string]any{"resultType": "input_required", "requestState": "s1",
			"inputRequests": map[string]any{"q": map[string]any{"method": method, "params": question}}}, nil, true
	}
	id := raw("q" + strconv.FormatInt(s.questions.Add(1), 10))
	answer := make(chan message, 1)
	s.mu.Lock()
	s.asked[string(id)] = answer
	s.mu.Unlock()
	send(message{JSONRPC: "2.0", ID: id, Method: method, Params: raw(question)})
	select {
	case a := <-answer:
		if a.Error != nil {
			return text("error: " + a.Error.Message), nil, true
		}
		return text(string(raw(a.Result))), nil, true
	case <-gone:
		return nil, nil, true
	}
}

// answered takes the answer to a question.
func (s *server) answered(m message) {
	s.mu.Lock()
	ch := s.asked[string(m.ID)]
	delete(s.asked, string(m.ID))
	s.mu.Unlock()
	if ch != nil {
		ch <- m
	}
}
