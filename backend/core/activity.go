package core

// ActivityKind names what an entry of a server's timeline is.
type ActivityKind string

const (
	ActivityEvent    ActivityKind = "event"    // what Patchbay did, or what happened to the server
	ActivityStderr   ActivityKind = "stderr"   // a line that the server printed there
	ActivityStdout   ActivityKind = "stdout"   // a line on stdout that is not MCP
	ActivityLog      ActivityKind = "log"      // a log message by MCP
	ActivitySent     ActivityKind = "sent"     // a JSON-RPC message to the server
	ActivityReceived ActivityKind = "received" // a JSON-RPC message from the server
)

// Activity is one entry of a server's timeline. Known secrets are blanked out.
type Activity struct {
	Seq  int64        `json:"seq"` // rises through the timeline
	At   string       `json:"at"`  // RFC 3339
	Kind ActivityKind `json:"kind"`
	Text string       `json:"text"`
	// Level is that of a log message.
	Level string `json:"level,omitempty"`
	// Method is that of a message; for an answer, that of its request, if it is known.
	Method string `json:"method,omitempty"`
	// ID joins a request with its answer; "" for a notification.
	ID     string `json:"id,omitempty"`
	Answer bool   `json:"answer,omitempty"`
	Failed bool   `json:"failed,omitempty"` // an answer that is an error
	// Millis is how long the answer took; nil where that is not known.
	Millis *float64 `json:"millis,omitempty"`
	Bytes  int64    `json:"bytes,omitempty"` // of the whole message
	// Cut says that Text holds only the begin and the end of a long message.
	Cut bool `json:"cut,omitempty"`
}
