// Package wire holds the inputs and outputs of the facades: what the page, the
// command line and other programs see. It has no behaviour.
package wire

import (
	"encoding/json"

	"patchbay/backend/core"
)

// NameInput names a configured server.
type NameInput struct {
	Name string `json:"name"`
}

// Removed lets the person take a removal back.
type Removed struct {
	UndoID string `json:"undoId"` // for mcp:restoreServer or tools:restore, until the program ends
}

// UndoInput names a removal to take back.
type UndoInput struct {
	UndoID string `json:"undoId"`
}

// ConversationView is a conversation in the list.
type ConversationView struct {
	core.Conversation
	Running bool `json:"running"`
	Waiting bool `json:"waiting"` // for an approval
}

// ConversationsView is every conversation, the latest first.
type ConversationsView struct {
	Conversations []ConversationView `json:"conversations"`
}

// IDInput names a thing by its id.
type IDInput struct {
	ID string `json:"id"`
}

// CreateConversationInput begins a conversation. Empty fields take the defaults.
type CreateConversationInput struct {
	AgentID    string `json:"agentId,omitempty"`
	ProviderID string `json:"providerId,omitempty"`
	Model      string `json:"model,omitempty"`
}

// UpdateConversationInput changes the fields that are given; nil leaves a field as it is.
type UpdateConversationInput struct {
	ID         string  `json:"id"`
	Title      *string `json:"title,omitempty"`
	AgentID    *string `json:"agentId,omitempty"`
	ProviderID *string `json:"providerId,omitempty"`
	Model      *string `json:"model,omitempty"`
}

// ConversationDetail is a conversation with all that was said.
type ConversationDetail struct {
	Conversation core.Conversation `json:"conversation"`
	Messages     []core.Message    `json:"messages"`
	Run          *core.Run         `json:"run,omitempty"` // nil when nothing runs
}

// SendInput is what a person says.
type SendInput struct {
	ConversationID string `json:"conversationId"`
	Text           string `json:"text"`
}

// SendOutput names the run that answers.
type SendOutput struct {
	RunID string `json:"runId"`
}

// StopInput names the conversation whose run shall stop.
type StopInput struct {
	ConversationID string `json:"conversationId"`
}

// AgentsView is every agent.
type AgentsView struct {
	Agents []core.Agent `json:"agents"`
}

// ApprovalsView is every open approval, the oldest first.
type ApprovalsView struct {
	Approvals []core.Approval `json:"approvals"`
}

// ResolveInput is a person's answer to one approval.
type ResolveInput struct {
	ID     string      `json:"id"`
	Answer core.Answer `json:"answer"` // allow_once, allow_chat or deny
}

// AuditInput asks for a page of the log.
type AuditInput struct {
	Limit  int   `json:"limit,omitempty"`  // 1 to 500; 0 means 100
	Before int64 `json:"before,omitempty"` // only records with a smaller Seq; 0 means from the newest
}

// AuditView is a page of the log, the newest first.
type AuditView struct {
	Records []core.AuditRecord `json:"records"`
	More    bool               `json:"more"`
}

// ProvidersView is every provider.
type ProvidersView struct {
	Providers []core.Provider `json:"providers"`
	// DefaultProviderID is used where neither conversation nor agent names one.
	DefaultProviderID string `json:"defaultProviderId"`
}

// SaveProviderInput adds (ID "") or changes a provider.
type SaveProviderInput struct {
	ID           string            `json:"id,omitempty"`
	Kind         core.ProviderKind `json:"kind"`
	Name         string            `json:"name"`
	BaseURL      string            `json:"baseUrl"`
	DefaultModel string            `json:"defaultModel,omitempty"`
	// Key is the API key; nil leaves it as it is, "" removes it. It never comes back.
	Key *string `json:"key,omitempty"`
}

// ModelsInput names a provider.
type ModelsInput struct {
	ProviderID string `json:"providerId"`
}

// ModelsView is every model of a provider.
type ModelsView struct {
	Models []core.Model `json:"models"`
}

// SettingsView are a person's choices.
type SettingsView struct {
	Theme             string `json:"theme"` // "system", "light" or "dark"
	DefaultProviderID string `json:"defaultProviderId"`
	DefaultModel      string `json:"defaultModel"`
	// ToolNaming is how models see the tools of servers: "" for server__tool,
	// "mcp__server__tool" or "mcp_server_tool".
	ToolNaming string `json:"toolNaming,omitempty"`
	// Builtin is what the built-in tools may get at.
	Builtin core.BuiltinAccess `json:"builtin"`
	// FirstRunDone hides the first steps.
	FirstRunDone bool `json:"firstRunDone"`
}

// Info is what the program knows of itself.
type Info struct {
	Version    string `json:"version"`
	Platform   string `json:"platform"` // "linux/amd64"
	ConfigPath string `json:"configPath"`
	DataDir    string `json:"dataDir"`
	LogDir     string `json:"logDir"`
	// SecretsIn says in words where keys are kept.
	SecretsIn string `json:"secretsIn"`
	// ConfigError is why tools.json cannot be read, with line and column; nil
	// when it can. The last good state keeps running meanwhile.
	ConfigError    *core.Error `json:"configError,omitempty"`
	ConfigWarnings []string    `json:"configWarnings"`
}

// QuestionsView is every open question of a server, the oldest first.
type QuestionsView struct {
	Questions []core.Question `json:"questions"`
}

// AnswerInput is a person's answer to one question.
type AnswerInput struct {
	ID     string              `json:"id"`
	Action core.QuestionAction `json:"action"`
	// Content is a JSON object, for accept only; what it leaves out gets its default.
	Content json.RawMessage `json:"content,omitempty"`
}

// FinishSignInInput is the address at which the browser ended up, for a sign-in
// that could not return by itself.
type FinishSignInInput struct {
	Name        string `json:"name"`
	CallbackURL string `json:"callbackUrl"`
}

// SecretsView is every secret of servers and custom tools, by name. No values.
type SecretsView struct {
	Secrets []SecretView `json:"secrets"`
}

// SecretView is the name of a secret and who uses it.
type SecretView struct {
	Name string `json:"name"`
	// Kept is false for a name that is referred to and has no value yet.
	Kept   bool        `json:"kept"`
	UsedBy []SecretUse `json:"usedBy"`
}

// SecretUse names a server or a custom tool; one of the two is set.
type SecretUse struct {
	Server string `json:"server,omitempty"`
	Tool   string `json:"tool,omitempty"`
}

// SaveSecretInput is a value to keep. It never comes back.
type SaveSecretInput struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// SavedSecret says what runs with the old value.
type SavedSecret struct {
	Restart []string `json:"restart"` // servers to reconnect
}

// RemoveSecretInput names a secret to forget.
type RemoveSecretInput struct {
	Name string `json:"name"`
	// EvenIfUsed says that the person was told who uses it.
	EvenIfUsed bool `json:"evenIfUsed,omitempty"`
}

// LinkView is a link or a file that was opened from outside.
type LinkView struct {
	Link string      `json:"link"`           // "" when none waits, or a file
	File *OpenedFile `json:"file,omitempty"` // nil for none
}

// OpenedFile is a file that was dropped on the window, or opened with it.
type OpenedFile struct {
	Name  string         `json:"name"`
	Text  string         `json:"text"`            // "" for a bundle
	Found *ParsedServers `json:"found,omitempty"` // what is in a bundle
}
