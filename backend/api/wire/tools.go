package wire

import (
	"encoding/json"

	"patchbay/backend/core"
)

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
	// Expected is the result that makes the request a test of the tool: any JSON
	// value; nil for none.
	Expected json.RawMessage `json:"expected,omitempty"`
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
