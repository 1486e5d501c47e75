// Package wire holds the inputs and outputs of the facades: what the page, the
// command line and other programs see. It has no behaviour.
package wire

import (
	"encoding/json"

	"patchbay/backend/core"
)

// Mask stands in the page for a value that was saved before and that the page
// must not see. Sent back, it means "unchanged".
const Mask = "••••••••"

// ServerView is a configured server and its state.
type ServerView struct {
	// Spec is the configuration with literal values of env and headers masked,
	// and so are secrets among the arguments, in the URL and in auth.
	Spec   core.ServerSpec   `json:"spec"`
	Status core.ServerStatus `json:"status"`
}

// ServersView is the list of configured servers, in the order of tools.json.
type ServersView struct {
	Servers []ServerView `json:"servers"`
}

// NameInput names a configured server.
type NameInput struct {
	Name string `json:"name"`
}

// CompleteInput asks the server Name to complete an argument.
type CompleteInput struct {
	Name       string          `json:"name"`
	Completion core.Completion `json:"completion"`
}

// ActivityInput asks for the timeline of the server Name.
type ActivityInput struct {
	Name  string `json:"name"`
	After int64  `json:"after,omitempty"` // the last entry that is known; 0 for none
}

// ActivityView is a part of a timeline, the oldest entry first.
type ActivityView struct {
	Entries []core.Activity `json:"entries"`
}

// ResourceInput names a resource of the server Name.
type ResourceInput struct {
	Name string `json:"name"`
	URI  string `json:"uri"`
}

// ParseServersInput is a text to understand; nothing is run or saved.
type ParseServersInput struct {
	Text string `json:"text"`
}

// ParsedServer is one server found in a text.
type ParsedServer struct {
	Spec core.ServerSpec `json:"spec"`
	// ResolvedCommand is the absolute path of a stdio server's program; "" when it was not found.
	ResolvedCommand string `json:"resolvedCommand,omitempty"`
	// Problem is a sentence when the server cannot work as it stands ("uvx is not installed …"); "" if none is known.
	Problem string `json:"problem,omitempty"`
	// Exists says that a server of this name is configured already.
	Exists bool `json:"exists"`
	// Missing are the places that hold a placeholder instead of a value: "env.API_KEY", "headers.Authorization", "args.2".
	Missing []string `json:"missing"`
	// Inputs say more about missing places, where the text does.
	Inputs []ServerInput `json:"inputs"`
	// Bundle names the bundle that saving unpacks; "" for none.
	Bundle string `json:"bundle,omitempty"`
	// From names the file of another program in which the server was found; nil for none.
	From *FoundIn `json:"from,omitempty"`
}

// ServerInput is a value that a person is asked for.
type ServerInput struct {
	Place       string `json:"place"` // "env.API_KEY"
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
	Secret      bool   `json:"secret"`
	Required    bool   `json:"required"`
}

// UploadBundleInput is a piece of a bundle's file, in order.
type UploadBundleInput struct {
	ID   string `json:"id"`   // made by the page, one for each file
	Data []byte `json:"data"` // base64 in JSON; at most 8 MiB
	Last bool   `json:"last"` // the file is whole
}

// FoundIn names a server in the file of another program.
type FoundIn struct {
	Path string `json:"path"`
	Name string `json:"name"` // as it is called there
}

// FoundFile is a file of another program with servers in it. Secrets are masked.
type FoundFile struct {
	AppID   string         `json:"appId"`
	App     string         `json:"app"`
	Path    string         `json:"path"`
	Servers []ParsedServer `json:"servers"`
	// Error is why the file cannot be used; "" when it can.
	Error string `json:"error,omitempty"`
}

// FoundFiles is what was found on this machine.
type FoundFiles struct {
	Files []FoundFile `json:"files"`
}

// ReviewServersInput are configurations to look at; nothing is run or saved.
type ReviewServersInput struct {
	Servers []ReviewInput `json:"servers"`
}

// ReviewInput is one configuration, and where the values behind its masks are.
type ReviewInput struct {
	Server  core.ServerSpec `json:"server"`
	SavedAs string          `json:"savedAs,omitempty"`
	From    *FoundIn        `json:"from,omitempty"`
	Bundle  string          `json:"bundle,omitempty"`
}

// ReviewsView holds one review for each configuration, in their order.
type ReviewsView struct {
	Reviews []ServerReview `json:"reviews"`
}

// ServerReview is what there is to know about a configuration before it runs.
type ServerReview struct {
	Name string `json:"name"`
	// ResolvedCommand is the absolute path of the program; "" when it was not found or there is none.
	ResolvedCommand string         `json:"resolvedCommand,omitempty"`
	EnvNames        []string       `json:"envNames"`
	Findings        []core.Finding `json:"findings"`
	// Secrets are the places of values that should go to the secret store.
	Secrets []SecretPlace `json:"secrets"`
	Missing []string      `json:"missing"`
	Exists  bool          `json:"exists"`
	// Loaders are the places that a person has to agree to by name.
	Loaders []string `json:"loaders"`
}

// SecretPlace is a value in clear.
type SecretPlace struct {
	Place string `json:"place"` // "env.TOKEN"
	What  string `json:"what"`  // "a GitHub token"
}

// ExportServerInput names a server and a form of configuration.
type ExportServerInput struct {
	Name   string `json:"name"`
	Format string `json:"format"` // an id of mcp:getExportFormats
}

// ExportedServer is a configuration for another program, without secrets.
type ExportedServer struct {
	Text string `json:"text"`
}

// ExportFormat is a form of configuration to export to.
type ExportFormat struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Where string `json:"where"` // where the text belongs, in words
}

// ExportFormatsView is every form, in the order in which to show them.
type ExportFormatsView struct {
	Formats []ExportFormat `json:"formats"`
}

// SetToolsEnabledInput switches tools of a server on or off for everybody.
type SetToolsEnabledInput struct {
	Name    string   `json:"name"`
	Tools   []string `json:"tools"` // their own names
	Enabled bool     `json:"enabled"`
}

// RejectedServer is one server of a text that cannot be used.
type RejectedServer struct {
	Name  string     `json:"name"`
	Error core.Error `json:"error"`
}

// ParsedServers is what was found in a text. A text without any usable server
// is an error instead.
type ParsedServers struct {
	Servers  []ParsedServer   `json:"servers"`
	Rejected []RejectedServer `json:"rejected"`
	Warnings []string         `json:"warnings"`
}

// OnConflict says what to do when the name is taken.
type OnConflict string

const (
	ConflictFail      OnConflict = "fail"
	ConflictOverwrite OnConflict = "overwrite"
	ConflictKeepBoth  OnConflict = "keep_both" // the new one gets a number
)

// AddServerInput is a server to save and connect.
type AddServerInput struct {
	Server     core.ServerSpec `json:"server"`
	OnConflict OnConflict      `json:"onConflict,omitempty"` // "" means fail
	// MoveSecrets are the places whose values go to the secret store, as
	// mcp:reviewServers names them.
	MoveSecrets []string `json:"moveSecrets,omitempty"`
	// AllowLoaders says that a person agreed to these places by name.
	AllowLoaders []string `json:"allowLoaders,omitempty"`
	// Bundle is the bundle to unpack; "" for none.
	Bundle string `json:"bundle,omitempty"`
	// From and SavedAs say where the values behind masks are; both may be empty.
	From    *FoundIn `json:"from,omitempty"`
	SavedAs string   `json:"savedAs,omitempty"`
}

// UpdateServerInput replaces the configuration of the server Name; masked
// values stay as they are. A changed name renames it.
type UpdateServerInput struct {
	Name   string          `json:"name"`
	Server core.ServerSpec `json:"server"`
	// MoveSecrets and AllowLoaders are as in AddServerInput.
	MoveSecrets  []string `json:"moveSecrets,omitempty"`
	AllowLoaders []string `json:"allowLoaders,omitempty"`
}

// SetServerEnabledInput switches a server on or off for good.
type SetServerEnabledInput struct {
	Name    string `json:"name"`
	Enabled bool   `json:"enabled"`
}

// TestServerInput is a configuration to try without saving it.
type TestServerInput struct {
	Server core.ServerSpec `json:"server"`
	// SavedAs is the configured server whose masked values Server holds; "" for none.
	SavedAs string `json:"savedAs,omitempty"`
	// From and AllowLoaders are as in AddServerInput.
	From         *FoundIn `json:"from,omitempty"`
	AllowLoaders []string `json:"allowLoaders,omitempty"`
}

// Removed lets the person take a removal back.
type Removed struct {
	UndoID string `json:"undoId"` // for mcp:restoreServer or tools:restore, until the program ends
}

// UndoInput names a removal to take back.
type UndoInput struct {
	UndoID string `json:"undoId"`
}

// ToolView is a tool and how it may be used now.
type ToolView struct {
	Tool core.Tool `json:"tool"`
	// Alias is the name that models see.
	Alias string `json:"alias"`
	// Decision is what the policy says before the arguments are known.
	Decision core.Decision `json:"decision"`
	// Inherited is what it would say without Approval.
	Inherited core.Decision    `json:"inherited"`
	Approval  ToolApprovalView `json:"approval"`
	// NotOffered is why no model is offered the tool; "" when they are.
	NotOffered string `json:"notOffered,omitempty"`
	// Warnings are sentences about its definition.
	Warnings []string `json:"warnings,omitempty"`
	// Available says whether a call could be made now.
	Available bool `json:"available"`
}

// ToolsView is every tool, in a stable order.
type ToolsView struct {
	Tools []ToolView `json:"tools"`
	// Features are the tools that Patchbay makes of servers' resources and prompts.
	Features []ToolView `json:"features"`
	// Builtins are the product's own, which no agent has unless it was given them.
	Builtins []ToolView `json:"builtins"`
}

// ToolApprovalView is what a person chose for all calls of a tool.
type ToolApprovalView struct {
	Choice core.ApprovalChoice `json:"choice"`          // "": the rules decide
	Since  string              `json:"since,omitempty"` // RFC 3339; "" without a choice
	// Changed says that the tool was allowed and has another definition now, so
	// that the rules decide.
	Changed bool `json:"changed,omitempty"`
}

// SetApprovalInput sets what a person chose for tools, all or none.
type SetApprovalInput struct {
	// Refs name the tools. To allow them each needs the digest that was seen.
	Refs   []core.ToolRef      `json:"refs"`
	Choice core.ApprovalChoice `json:"choice"` // "" lets the rules decide again
	// AcceptRisk says that the person was told which of them are of high risk.
	AcceptRisk bool `json:"acceptRisk,omitempty"`
}

// ToolApprovalDetail is a choice with what it was made for.
type ToolApprovalDetail struct {
	Approval ToolApprovalView `json:"approval"`
	Allowed  *core.Tool       `json:"allowed,omitempty"` // as it was then; nil unless it was allowed
	Now      *core.Tool       `json:"now,omitempty"`     // nil when there is no such tool now
}

// ToolInput names a tool; its definition does not matter.
type ToolInput struct {
	Ref core.ToolRef `json:"ref"`
}

// CustomToolsView is every custom tool, in the order of tools.json.
type CustomToolsView struct {
	Tools []core.CustomTool `json:"tools"`
}

// OpenAPIInput is an OpenAPI 3 document, in JSON or YAML.
type OpenAPIInput struct {
	Text string `json:"text"`
	// BaseURL stands in the place of the servers that the document names; "" takes those.
	BaseURL string `json:"baseUrl,omitempty"`
}

// OpenAPIView is what a document offers, and nothing of it is saved.
type OpenAPIView struct {
	Title     string                   `json:"title"`
	Version   string                   `json:"version"`
	Proposals []core.ConnectorProposal `json:"proposals"`
}

// AddToolsInput are tools to save, all or none.
type AddToolsInput struct {
	Tools []core.CustomTool `json:"tools"`
}

// AddedTools are the names under which tools were saved, in the order of the
// input: a name that was taken got a number.
type AddedTools struct {
	Names []string `json:"names"`
}

// SecretNames names secrets.
type SecretNames struct {
	Names []string `json:"names"`
}

// SetSecretInput is the value of a secret for custom tools. It is never shown again.
type SetSecretInput struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// CheckCodeInput is code to compile; nothing of it is run.
type CheckCodeInput struct {
	Code string `json:"code"`
}

// CheckedCode says where code is no JavaScript.
type CheckedCode struct {
	Problem *core.Error `json:"problem,omitempty"` // nil when it can be compiled
}

// TestCustomInput asks for one call of a custom tool as it stands in the editor.
type TestCustomInput struct {
	CallID    string          `json:"callId,omitempty"` // see ExecuteInput
	Tool      core.CustomTool `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// CustomToolVersions is every version that is kept of a tool, the newest first.
type CustomToolVersions struct {
	Versions []core.CustomVersion `json:"versions"`
}

// RestoreVersionInput brings a former version of the custom tool Name back.
// Its name and whether it is on stay as they are now.
type RestoreVersionInput struct {
	Name string `json:"name"`
	ID   int64  `json:"id"`
}

// UpdateToolInput replaces the custom tool Name. A changed name renames it.
type UpdateToolInput struct {
	Name string          `json:"name"`
	Tool core.CustomTool `json:"tool"`
}

// SavedRequest are arguments that a person keeps for a tool.
type SavedRequest struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // a JSON object
}

// SavedRequestsInput names a tool; its definition does not matter.
type SavedRequestsInput struct {
	Ref core.ToolRef `json:"ref"`
}

// SavedRequestsView is every saved request of a tool, by name.
type SavedRequestsView struct {
	Requests []SavedRequest `json:"requests"`
}

// SaveRequestInput keeps arguments for a tool.
type SaveRequestInput struct {
	Ref     core.ToolRef `json:"ref"`
	Request SavedRequest `json:"request"`
}

// RemoveSavedInput names a saved request.
type RemoveSavedInput struct {
	Ref  core.ToolRef `json:"ref"`
	Name string       `json:"name"`
}

// ExecuteInput asks for one call of a tool by a person.
type ExecuteInput struct {
	// CallID is made by the page (a UUID), so that it can follow the chunks and
	// cancel the call; "" lets the gate make one.
	CallID    string          `json:"callId,omitempty"`
	Ref       core.ToolRef    `json:"ref"`
	Arguments json.RawMessage `json:"arguments"`
}

// ExecuteOutput is how the call ended. A refusal or a failure is told in Status
// and Error, not as a failed request.
type ExecuteOutput struct {
	CallID string          `json:"callId"`
	Status core.CallStatus `json:"status"`
	Result core.ToolResult `json:"result"`
	Error  string          `json:"error,omitempty"`
	Code   core.Code       `json:"code,omitempty"`
	Millis int64           `json:"millis"`
	// ModelText is what a model would be given.
	ModelText string `json:"modelText"`
}

// CancelInput names a running call.
type CancelInput struct {
	CallID string `json:"callId"`
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

// LinkView is a link that was opened from outside.
type LinkView struct {
	Link string `json:"link"` // "" when none waits
}
