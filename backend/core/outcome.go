package core

// Outcome is how a tool call ended.
type Outcome struct {
	CallID string
	Tool   Tool // the zero Tool when there is none of that name
	Status CallStatus
	Result ToolResult // the zero value unless Status is done or tool_error
	// ModelText is what a model is given: the result's text, or for a call
	// without a result a fixed sentence that it can act on. Never empty.
	ModelText string
	Millis    int64 // from begin to end, with the time a person took
	Err       error // an *Error; nil when Status is done or tool_error
}

// Watch follows one call. Each function may be nil, must not block, and is
// called by one goroutine at a time.
type Watch struct {
	Status func(CallStatus) // waiting, running
	Chunk  func(Chunk)
}

// OfferedTool is a tool that a model may call in this run.
type OfferedTool struct {
	Alias string // the name that the model sees
	Tool  Tool
}
