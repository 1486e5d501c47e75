package core

// ApprovalChoice is what a person chose for all calls of one tool.
type ApprovalChoice string

const (
	ChoiceInherit ApprovalChoice = ""      // the rules decide
	ChoiceAsk     ApprovalChoice = "ask"   // each call is asked for
	ChoiceAllow   ApprovalChoice = "allow" // runs unasked, as long as its definition is the one that was allowed
	ChoiceBlock   ApprovalChoice = "block" // nobody may call it, whatever its definition
)

// ToolApproval is the choice for one tool, and the definition it was made for.
type ToolApproval struct {
	Choice ApprovalChoice `json:"choice"`
	Since  string         `json:"since"` // RFC 3339
	// Tool is the tool as it was when the person chose; its Ref says which.
	Tool Tool `json:"tool"`
}

// Changed reports whether an allowed tool has another definition now, with the
// digest now: the choice then counts for nothing.
func (a ToolApproval) Changed(now string) bool {
	return a.Choice == ChoiceAllow && a.Tool.Ref.Digest != now
}
