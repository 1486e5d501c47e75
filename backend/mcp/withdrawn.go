package mcp

import (
	"encoding/json"
	"strings"
)

// withdrawal reads the parameters of notifications/cancelled: the id of the
// request that is no longer served, and why, in a sentence. Only whoever sent a
// request may cancel it (MCP 2025-11-25, Cancellation), but a server that says
// so of ours will hardly answer it.
func withdrawal(params []byte) (id []byte, reason string) {
	var p struct {
		ID     json.RawMessage `json:"requestId"`
		Reason string          `json:"reason"`
	}
	_ = json.Unmarshal(params, &p)
	if reason = sentence(strings.TrimSpace(p.Reason)); reason == "" {
		reason = "It does not say why."
	}
	return p.ID, reason
}

// withdrawn ends the call that the server says it canceled; false if it was none
// of ours.
func (c *stdioConn) withdrawn(params []byte) bool {
	raw, reason := withdrawal(params)
	id, ok := number(raw)
	if !ok || id <= firstRawID {
		return false
	}
	c.mu.Lock()
	ch := c.pending[id]
	delete(c.pending, id)
	c.mu.Unlock()
	if ch != nil {
		ch <- reply{err: &rpcError{Code: codeWithdrawn, Message: reason}}
	}
	return true
}
