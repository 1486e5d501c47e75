package core

// Transport names how a server is reached.
type Transport string

const (
	TransportStdio Transport = "stdio"
	TransportHTTP  Transport = "streamable-http"
	TransportSSE   Transport = "sse" // HTTP+SSE of MCP 2024-11-05
)

// ServerSpec is the configuration of one MCP server, as tools.json keeps it.
// Values may hold placeholders (${VAR}, ${env:VAR}, ${VAR:-default},
// ${secret:…}), which only the engine expands, and only to start a server.
type ServerSpec struct {
	Name      string            `json:"name"`
	Transport Transport         `json:"transport"`
	Command   string            `json:"command,omitempty"` // stdio
	Args      []string          `json:"args,omitempty"`    // stdio
	Env       map[string]string `json:"env,omitempty"`     // stdio
	Cwd       string            `json:"cwd,omitempty"`     // stdio; "" means the person's home folder
	URL       string            `json:"url,omitempty"`     // streamable-http, sse
	Headers   map[string]string `json:"headers,omitempty"` // streamable-http, sse
	Disabled  bool              `json:"disabled,omitempty"`
	// TimeoutMS limits each call of this server's tools, in milliseconds; 0
	// means the gate's default.
	TimeoutMS int64 `json:"timeout,omitempty"`
}

// ServerState is where a server's supervisor stands.
type ServerState string

const (
	StateOff          ServerState = "off"
	StateStarting     ServerState = "starting"
	StateInstalling   ServerState = "installing" // a package runner is fetching the server
	StateNegotiating  ServerState = "negotiating"
	StateConnected    ServerState = "connected"
	StateNeedsSignIn  ServerState = "needs_sign_in"
	StateSigningIn    ServerState = "signing_in" // a person has a browser open
	StateNeedsValues  ServerState = "needs_values"
	StateReconnecting ServerState = "reconnecting"
	StateFailed       ServerState = "failed"
	StateCrashLoop    ServerState = "crash_loop"
)

// Settled reports whether the state will not change by itself soon: nobody need
// wait for a server that is settled.
func (s ServerState) Settled() bool {
	switch s {
	case StateStarting, StateInstalling, StateNegotiating:
		return false
	}
	return true
}

// Fix names the one action that would mend a failure, for a button.
type Fix string

const (
	FixNone      Fix = ""
	FixReconnect Fix = "reconnect"
	FixEdit      Fix = "edit"    // the configuration is wrong
	FixInstall   Fix = "install" // a runtime is missing
	FixSignIn    Fix = "sign_in"
	FixValues    Fix = "values" // fill in missing values
	FixShowLog   Fix = "show_log"
)

// ServerStatus is what is known of one configured server at one moment.
// A snapshot: it never changes after it was handed out.
type ServerStatus struct {
	Name      string      `json:"name"`
	Transport Transport   `json:"transport"`
	State     ServerState `json:"state"`
	// Message is one sentence of truth about the state: "12 tools, 38 ms" or
	// "Command not found: uvx. Install uv, or give the full path."
	Message string `json:"message"`
	// Detail is for the curious: the last lines of stderr, the exit code, the cause. May be "".
	Detail string `json:"detail,omitempty"`
	Fix    Fix    `json:"fix,omitempty"`
	Since  string `json:"since"` // RFC 3339, of the state
	// VerifiedAt is the time of the last successful exchange, RFC 3339; "" if there was none.
	VerifiedAt string `json:"verifiedAt,omitempty"`
	LatencyMS  int64  `json:"latencyMs,omitempty"` // of the last exchange
	ToolCount  int    `json:"toolCount"`
	// ServerTitle and ServerVersion are the server's own words; for display only.
	ServerTitle     string `json:"serverTitle,omitempty"`
	ServerVersion   string `json:"serverVersion,omitempty"`
	ProtocolVersion string `json:"protocolVersion,omitempty"` // "" until connected
	Instructions    string `json:"instructions,omitempty"`    // untrusted text of the server
	// MissingValues are the placeholders without a value, for state needs_values.
	MissingValues []string `json:"missingValues,omitempty"`
	// RetryAt is when the next attempt starts, RFC 3339; "" if none is planned.
	RetryAt string `json:"retryAt,omitempty"`
	Attempt int    `json:"attempt,omitempty"` // 1-based, of the attempts in a row
}

// StepStatus is the verdict of one step of a test.
type StepStatus string

const (
	StepOK      StepStatus = "ok"
	StepWarning StepStatus = "warning"
	StepFailed  StepStatus = "failed"
)

// TestStep is one thing that a test of a server looked at.
type TestStep struct {
	Name    string     `json:"name"` // "Find command", "Start", "Handshake", "List tools"
	Status  StepStatus `json:"status"`
	Message string     `json:"message"`
	Millis  int64      `json:"millis"`
}

// TestReport is the outcome of testing a configuration without saving it.
type TestReport struct {
	OK bool `json:"ok"`
	// Message is the verdict in one sentence.
	Message         string     `json:"message"`
	Detail          string     `json:"detail,omitempty"`
	Fix             Fix        `json:"fix,omitempty"`
	Steps           []TestStep `json:"steps"`
	Tools           []Tool     `json:"tools"`
	ProtocolVersion string     `json:"protocolVersion,omitempty"`
	ServerTitle     string     `json:"serverTitle,omitempty"`
	ServerVersion   string     `json:"serverVersion,omitempty"`
}
