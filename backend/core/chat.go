package core

// Conversation is a chat with an agent. Its messages are kept apart.
type Conversation struct {
	ID    string `json:"id"`
	Title string `json:"title"` // "" until the first message gives one
	// AgentID, ProviderID and Model say who answers. They may change between
	// two runs.
	AgentID    string `json:"agentId"`
	ProviderID string `json:"providerId"`
	Model      string `json:"model"`
	CreatedAt  string `json:"createdAt"` // RFC 3339
	UpdatedAt  string `json:"updatedAt"` // RFC 3339
}

// ToolChoice says which tools an agent may use.
type ToolChoice string

const (
	ToolsAll  ToolChoice = "all"  // every enabled tool, also those that come later
	ToolsNone ToolChoice = "none" // no tool
	ToolsSome ToolChoice = "some" // the servers and tools that are listed
)

// Agent is instructions, a model and a choice of tools.
type Agent struct {
	ID           string     `json:"id"`
	Name         string     `json:"name"`
	Instructions string     `json:"instructions"`
	ProviderID   string     `json:"providerId"` // "" means the default provider
	Model        string     `json:"model"`      // "" means the provider's default model
	ToolChoice   ToolChoice `json:"toolChoice"`
	// Servers and Tools are read when ToolChoice is some, and the built-in tools
	// among Tools also when it is all. A server stands for all its tools.
	// Digests in Tools are not compared.
	Servers []string  `json:"servers"`
	Tools   []ToolRef `json:"tools"`
	// BuiltIn marks the agent that the product brings; it can be edited and not removed.
	BuiltIn bool `json:"builtIn,omitempty"`
}

// ProviderKind names a wire that a vendor of models speaks.
type ProviderKind string

const (
	ProviderRehearsal ProviderKind = "rehearsal" // no AI: built in, deterministic
	ProviderOllama    ProviderKind = "ollama"
	ProviderOpenAI    ProviderKind = "openai" // any OpenAI-compatible endpoint
)

// Provider is the configuration of one vendor of models. The key is never part of it.
type Provider struct {
	ID      string       `json:"id"`
	Kind    ProviderKind `json:"kind"`
	Name    string       `json:"name"`
	BaseURL string       `json:"baseUrl"` // "" for rehearsal
	HasKey  bool         `json:"hasKey"`
	// DefaultModel is used where neither conversation nor agent names one; "" for none.
	DefaultModel string `json:"defaultModel"`
	// Origin says where the configuration comes from: "builtin", "environment" or "user".
	Origin string `json:"origin"`
}

// Model is one model of a provider.
type Model struct {
	ID            string `json:"id"`
	Name          string `json:"name"`
	ContextWindow int    `json:"contextWindow,omitempty"` // in tokens; 0: unknown
	// Tools says whether the model can call tools; nil: unknown.
	Tools *bool `json:"tools,omitempty"`
}

// RunCall is one tool call of a turn, as it stands now.
type RunCall struct {
	CallID    string      `json:"callId"`
	Alias     string      `json:"alias"`
	Ref       *ToolRef    `json:"ref,omitempty"` // nil: the model named a tool that does not exist
	Title     string      `json:"title"`
	Arguments string      `json:"arguments"`
	Status    CallStatus  `json:"status"`
	StartedAt string      `json:"startedAt"` // RFC 3339
	Millis    int64       `json:"millis,omitempty"`
	Chunks    []Chunk     `json:"chunks"` // the last ones
	Result    *ToolResult `json:"result,omitempty"`
	Error     string      `json:"error,omitempty"`
}

// Run is one user request on its way until the agent is done.
type Run struct {
	ID             string `json:"id"`
	ConversationID string `json:"conversationId"`
	StartedAt      string `json:"startedAt"` // RFC 3339
	Turn           int    `json:"turn"`      // 1-based
	// Reply is the message that is being written; its parts grow. nil between turns.
	Reply *Message `json:"reply,omitempty"`
	// Calls are the calls of the current turn, in the model's order.
	Calls []RunCall `json:"calls"`
}
