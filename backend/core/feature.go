package core

// Feature is what a server offers beside tools (MCP 2025-11-25, Lifecycle,
// server capabilities).
type Feature string

const (
	FeatureResources   Feature = "resources"
	FeatureSubscribe   Feature = "resources.subscribe" // it tells when a resource changes
	FeaturePrompts     Feature = "prompts"
	FeatureCompletions Feature = "completions" // it completes arguments
)

// Resource is something that can be read (MCP 2025-11-25, Resources).
type Resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
	Size        *int64 `json:"size,omitempty"` // in bytes; nil: unknown
}

// ResourceTemplate is a family of resources (MCP 2025-11-25, Resource Templates).
type ResourceTemplate struct {
	URITemplate string `json:"uriTemplate"` // RFC 6570
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
}

// Resources is what a server lists. Notes says what was left out, and why.
type Resources struct {
	Resources []Resource         `json:"resources"`
	Templates []ResourceTemplate `json:"templates"`
	Notes     []string           `json:"notes"`
}

// Prompt is a message or more that a server prepares for a person (MCP
// 2025-11-25, Prompts).
type Prompt struct {
	Name        string           `json:"name"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	Arguments   []PromptArgument `json:"arguments"`
}

// PromptArgument is a blank of a prompt; its value is text.
type PromptArgument struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// Prompts is what a server lists. Notes says what was left out, and why.
type Prompts struct {
	Prompts []Prompt `json:"prompts"`
	Notes   []string `json:"notes"`
}

// Completion asks a server to complete an argument (MCP 2025-11-25,
// Completion). Exactly one of Prompt and URITemplate is set.
type Completion struct {
	Prompt      string `json:"prompt,omitempty"`
	URITemplate string `json:"uriTemplate,omitempty"`
	Argument    string `json:"argument"`
	Value       string `json:"value"` // what was typed so far
	// Context holds the arguments that are filled in already.
	Context map[string]string `json:"context,omitempty"`
}

// Completed is what a server proposes, the best first.
type Completed struct {
	Values []string `json:"values"`
	More   bool     `json:"more"` // there are others
}
