package core

// PrincipalKind names the door through which a call came.
type PrincipalKind string

const (
	PrincipalWindow PrincipalKind = "window" // a person in the window or the browser page
	PrincipalAgent  PrincipalKind = "agent"  // an agent's run
	PrincipalCLI    PrincipalKind = "cli"    // the command line
	PrincipalREST   PrincipalKind = "rest"
	PrincipalClient PrincipalKind = "gateway"
	PrincipalServer PrincipalKind = "server" // an MCP server that asks a model
)

// Principal is who makes a call. It is always passed as a parameter and never
// read from a context.
type Principal struct {
	Kind           PrincipalKind `json:"kind"`
	AgentID        string        `json:"agentId,omitempty"`
	ConversationID string        `json:"conversationId,omitempty"`
	RunID          string        `json:"runId,omitempty"`
}

// Effect is what a policy says about a call.
type Effect string

const (
	Allow Effect = "allow"
	Ask   Effect = "ask"
	Deny  Effect = "deny"
)

// Risk is how much harm a call could do, as shown to a person.
type Risk string

const (
	RiskLow    Risk = "low"
	RiskMedium Risk = "medium"
	RiskHigh   Risk = "high"
)

// Decision is a policy's answer. The zero value has no effect and must be read as Deny.
type Decision struct {
	Effect Effect `json:"effect"`
	Rule   string `json:"rule"` // the rule that decided, stable: "destructive-hint"
	Why    string `json:"why"`  // a sentence for a person
	Risk   Risk   `json:"risk"`
	// Once says that a yes counts for this one call and cannot be remembered.
	Once bool `json:"once,omitempty"`
}

// Answer is what a person said to an approval.
type Answer string

const (
	AnswerAllowOnce Answer = "allow_once"
	AnswerAllowChat Answer = "allow_chat" // and for the rest of this conversation
	AnswerDeny      Answer = "deny"
	AnswerExpired   Answer = "expired" // nobody answered in time
)

// Approval is a question to a person about one exact call.
type Approval struct {
	ID        string    `json:"id"`
	Call      ToolCall  `json:"call"`
	Title     string    `json:"title"` // of the tool
	Principal Principal `json:"principal"`
	Decision  Decision  `json:"decision"`
	// Annotations are what the server says of the tool.
	Annotations Annotations `json:"annotations"`
	RequestedAt string      `json:"requestedAt"` // RFC 3339
}

// CallStatus is how a call ended, or "running". Each end has a word of its own.
type CallStatus string

const (
	CallRunning    CallStatus = "running"
	CallWaiting    CallStatus = "waiting" // for a person's approval
	CallDone       CallStatus = "done"
	CallToolError  CallStatus = "tool_error" // the tool ran and said that it failed
	CallFailed     CallStatus = "failed"     // the tool could not be reached or broke
	CallTimeout    CallStatus = "timeout"
	CallDenied     CallStatus = "denied"      // by a person
	CallDeniedRule CallStatus = "denied_rule" // by policy
	CallExpired    CallStatus = "expired"     // nobody answered the approval
	CallCanceled   CallStatus = "canceled"
	CallInvalid    CallStatus = "invalid" // unknown tool or wrong arguments; not called
	// CallLost marks a call that was begun when the program ended; whether the
	// tool ran is unknown.
	CallLost CallStatus = "lost"
)

// AuditRecord is one entry of the append-only log: one call, from begin to end.
type AuditRecord struct {
	Seq       int64      `json:"seq"`
	CallID    string     `json:"callId"`
	ParentID  string     `json:"parentId,omitempty"`
	BeganAt   string     `json:"beganAt"`           // RFC 3339
	EndedAt   string     `json:"endedAt,omitempty"` // "" while running
	Principal Principal  `json:"principal"`
	Ref       ToolRef    `json:"ref"`
	Arguments string     `json:"arguments"` // as sent, shortened to 16 KiB
	Decision  Decision   `json:"decision"`
	Answer    Answer     `json:"answer,omitempty"` // "" when nobody was asked
	Status    CallStatus `json:"status"`
	Error     string     `json:"error,omitempty"`
	Bytes     int64      `json:"bytes"` // of the result before shortening
	Millis    int64      `json:"millis"`
}

// PolicyRequest is what a policy judges.
type PolicyRequest struct {
	Principal Principal
	Tool      Tool
	Arguments []byte // canonical JSON; nil when they are not known yet
}
