// Package event holds the one union of everything that the backend tells the
// outside without being asked, and the bus that carries it.
//
// Events say what changed; queries fetch what it is now. Only [ChatDelta] and
// [ToolsStreamChunk] carry content.
package event

import "patchbay/backend/core"

// Payload is one member of the union. EventType is the channel, "servers:changed".
type Payload interface{ EventType() string }

// ServersChanged says that the state of a server changed, or that servers came or went.
type ServersChanged struct {
	Servers []string `json:"servers"` // names; empty means any of them
}

// ToolsChanged says that the set of tools, or a definition, changed.
type ToolsChanged struct{}

// ServerActivity says that the timeline of a server has new entries. It comes a
// few times a second at most.
type ServerActivity struct {
	Server string `json:"server"`
}

// ResourcesChanged says that a resource somebody subscribed to changed, or which
// resources a server has.
type ResourcesChanged struct {
	Server string `json:"server"`
	URI    string `json:"uri,omitempty"` // "": the list
}

// PromptsChanged says that the prompts of a server changed.
type PromptsChanged struct {
	Server string `json:"server"`
}

// ToolsStreamChunk carries one chunk of a running call.
type ToolsStreamChunk struct {
	Chunk core.Chunk `json:"chunk"`
}

// ToolsStreamEnd says that no chunk of this call follows.
type ToolsStreamEnd struct {
	CallID  string          `json:"callId"`
	LastSeq int             `json:"lastSeq"` // 0: there was no chunk
	Status  core.CallStatus `json:"status"`
}

// ChatDelta carries new text of a reply that is being written, or of the
// arguments of a call in it.
type ChatDelta struct {
	ConversationID string        `json:"conversationId"`
	RunID          string        `json:"runId"`
	MessageID      string        `json:"messageId"`
	Kind           core.PartKind `json:"kind"` // text, reasoning or tool_call
	// Offset is the length of the text of this kind (of this call) before Text, in UTF-16
	// code units, so that a page can tell a delta that it has already from a new one.
	Offset int    `json:"offset"`
	Text   string `json:"text"`
	// Call says which call of the reply is meant, from 0, and Alias and Ref what it calls;
	// Ref is nil for a tool that was not offered. For tool_call only.
	Call  int           `json:"call,omitempty"`
	Alias string        `json:"alias,omitempty"`
	Ref   *core.ToolRef `json:"ref,omitempty"`
}

// ChatToolCall says that a call of a run changed its status.
type ChatToolCall struct {
	ConversationID string          `json:"conversationId"`
	RunID          string          `json:"runId"`
	CallID         string          `json:"callId"`
	Status         core.CallStatus `json:"status"`
}

// ChatChanged says that a conversation's messages, title, agent or model
// changed, or that it came or went.
type ChatChanged struct {
	ConversationID string `json:"conversationId"`
}

// RunStatus is how a run ended.
type RunStatus string

const (
	RunDone    RunStatus = "done"
	RunStopped RunStatus = "stopped" // by a person
	RunFailed  RunStatus = "failed"
)

// RunStarted says that a run began.
type RunStarted struct {
	ConversationID string `json:"conversationId"`
	RunID          string `json:"runId"`
}

// RunFinished says that a run ended.
type RunFinished struct {
	ConversationID string     `json:"conversationId"`
	RunID          string     `json:"runId"`
	Status         RunStatus  `json:"status"`
	Error          string     `json:"error,omitempty"` // for status failed
	Code           core.Code  `json:"code,omitempty"`
	Turns          int        `json:"turns"`
	Usage          core.Usage `json:"usage"`
}

// ApprovalRequested says that a call waits for a person.
type ApprovalRequested struct {
	ApprovalID     string `json:"approvalId"`
	ConversationID string `json:"conversationId,omitempty"`
}

// ApprovalResolved says that an approval is no longer open.
type ApprovalResolved struct {
	ApprovalID     string      `json:"approvalId"`
	ConversationID string      `json:"conversationId,omitempty"`
	Answer         core.Answer `json:"answer"`
}

// QuestionAsked says that a server asks a person something.
type QuestionAsked struct {
	QuestionID string `json:"questionId"`
}

// QuestionAnswered says that a question is no longer open.
type QuestionAnswered struct {
	QuestionID string `json:"questionId"`
}

// BrowserOpen asks the page to open an address in the person's browser, because
// the person began to sign in to a server.
type BrowserOpen struct {
	Server string `json:"server"`
	URL    string `json:"url"` // http or https
}

// LinkOpened says that a link was opened from outside; mcp:takeLink gives it out.
type LinkOpened struct{}

// ConfigChanged says that tools.json was read anew, or that it cannot be read.
type ConfigChanged struct{}

// AgentsChanged says that an agent came, went or changed.
type AgentsChanged struct{}

// SettingsChanged says that settings or providers changed.
type SettingsChanged struct{}

// AuditAppended says that the log has a new or completed record.
type AuditAppended struct {
	Seq int64 `json:"seq"`
}

// Resync tells a subscriber that it fell behind and missed events: it must
// query everything anew.
type Resync struct{}

func (ServersChanged) EventType() string    { return "servers:changed" }
func (ToolsChanged) EventType() string      { return "tools:changed" }
func (ServerActivity) EventType() string    { return "servers:activity" }
func (ResourcesChanged) EventType() string  { return "resources:changed" }
func (PromptsChanged) EventType() string    { return "prompts:changed" }
func (ToolsStreamChunk) EventType() string  { return "tools:streamChunk" }
func (ToolsStreamEnd) EventType() string    { return "tools:streamEnd" }
func (ChatDelta) EventType() string         { return "chat:delta" }
func (ChatToolCall) EventType() string      { return "chat:toolCall" }
func (ChatChanged) EventType() string       { return "chat:changed" }
func (RunStarted) EventType() string        { return "run:started" }
func (RunFinished) EventType() string       { return "run:finished" }
func (ApprovalRequested) EventType() string { return "approval:requested" }
func (ApprovalResolved) EventType() string  { return "approval:resolved" }
func (QuestionAsked) EventType() string     { return "question:asked" }
func (QuestionAnswered) EventType() string  { return "question:answered" }
func (BrowserOpen) EventType() string       { return "browser:open" }
func (LinkOpened) EventType() string        { return "link:opened" }
func (ConfigChanged) EventType() string     { return "config:changed" }
func (AgentsChanged) EventType() string     { return "agents:changed" }
func (SettingsChanged) EventType() string   { return "settings:changed" }
func (AuditAppended) EventType() string     { return "audit:appended" }
func (Resync) EventType() string            { return "resync" }

// Kinds returns a zero value of every member, in a fixed order. The generator
// writes the page's union from it.
func Kinds() []Payload {
	return []Payload{
		ServersChanged{}, ToolsChanged{}, ServerActivity{}, ResourcesChanged{}, PromptsChanged{}, ToolsStreamChunk{}, ToolsStreamEnd{},
		ChatDelta{}, ChatToolCall{}, ChatChanged{}, RunStarted{}, RunFinished{},
		ApprovalRequested{}, ApprovalResolved{}, QuestionAsked{}, QuestionAnswered{}, BrowserOpen{}, LinkOpened{}, ConfigChanged{}, AgentsChanged{},
		SettingsChanged{}, AuditAppended{}, Resync{},
	}
}

// Event is a payload on its way to one subscriber. Seq rises by one with each
// event of a subscription, so that a loss on the way shows as a gap.
type Event struct {
	Seq  int64   `json:"seq"`
	Type string  `json:"type"`
	Data Payload `json:"data"`
}
