package mcp

import (
	"encoding/json"
	"strings"
	"sync"

	"patchbay/backend/core"
)

// sink carries the chunks of one call to its caller, one at a time, and none
// after shut returned.
type sink struct {
	mu     sync.Mutex
	f      core.ChunkFunc // nil once shut
	callID string
}

// newSink returns nil when nobody listens.
func newSink(callID string, f core.ChunkFunc) *sink {
	if f == nil {
		return nil
	}
	return &sink{f: f, callID: callID}
}

// send may be called on nil, where nobody listens.
func (s *sink) send(c core.Chunk) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.f != nil {
		c.CallID = s.callID
		s.f(c)
	}
}

func (s *sink) shut() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.f = nil
}

// decodeProgress reads the parameters of notifications/progress.
func decodeProgress(params []byte) (token string, c core.Chunk, ok bool) {
	var p struct {
		Token    json.RawMessage `json:"progressToken"`
		Progress *float64        `json:"progress"`
		Total    *float64        `json:"total"`
		Message  string          `json:"message"`
	}
	if json.Unmarshal(params, &p) != nil || p.Token == nil {
		return "", c, false
	}
	if json.Unmarshal(p.Token, &token) != nil {
		token = string(p.Token)
	}
	return token, core.Chunk{Kind: core.ChunkProgress, Message: p.Message, Progress: p.Progress, Total: p.Total}, true
}

// decodeLog reads the parameters of notifications/message.
func decodeLog(params []byte) (level, text string, ok bool) {
	var p struct {
		Level  string          `json:"level"`
		Logger string          `json:"logger"`
		Data   json.RawMessage `json:"data"`
	}
	if json.Unmarshal(params, &p) != nil {
		return "", "", false
	}
	if json.Unmarshal(p.Data, &text) != nil {
		text = string(p.Data)
	}
	if p.Logger != "" {
		text = p.Logger + ": " + text
	}
	return p.Level, strings.TrimSpace(text), true
}

func logChunk(level, text string) core.Chunk {
	return core.Chunk{Kind: core.ChunkLog, Level: level, Message: text}
}
