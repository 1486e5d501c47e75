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
	// TimeoutMS is how long a call of this server's tools may be silent, in
	// milliseconds: progress resets it. 0 means the gate's default.
	TimeoutMS int64 `json:"timeout,omitempty"`
	// MaxTotalTimeoutMS limits such a call in all, whatever its progress, in
	// milliseconds. 0 means the gate's default.
	MaxTotalTimeoutMS int64 `json:"maxTotalTimeout,omitempty"`
	// ToolTimeouts is TimeoutMS for single tools, by their name.
	ToolTimeouts map[string]int64 `json:"toolTimeouts,omitempty"`
	// ConnectTimeoutMS limits starting and connecting, in milliseconds. 0 means
	// the engine's default, which is longer for package runners.
	ConnectTimeoutMS int64 `json:"connectTimeout,omitempty"`
	// Start says when the server runs; "" means together with the app.
	Start StartMode `json:"start,omitempty"`
	// IdleStopMS stops a server that starts on demand after so many milliseconds
	// without a call. 0 means 5 minutes.
	IdleStopMS int64 `json:"idleStop,omitempty"`
	// ToolListTTLMS makes the engine list the tools anew once the list is so many
	// milliseconds old. 0 means that a list is good until the server says that it changed.
	ToolListTTLMS int64 `json:"toolListTtl,omitempty"`
	// DisabledTools are the names of tools that nobody may call.
	DisabledTools []string `json:"disabledTools,omitempty"`
	// AllowLoaders are the places, such as "env.NODE_OPTIONS", that load other code
	// into the program and to which a person agreed.
	AllowLoaders []string `json:"allowLoaders,omitempty"`
	// Roots are the folders that the server is told about (MCP 2025-11-25,
	// Roots). nil means none; the server may still read what it wants.
	Roots []string `json:"roots,omitempty"`
	// Auth says how to sign in to an HTTP server; nil means OAuth with what the
	// server itself tells.
	Auth *ServerAuth `json:"auth,omitempty"`
}

// StartMode says when a server runs.
type StartMode string

const (
	StartWithApp  StartMode = ""
	StartOnDemand StartMode = "on_demand" // when one of its tools is called; stops when idle
	StartManual   StartMode = "manual"    // only when a person connects it
)

// GrantType is how a token for a server is got.
type GrantType string

const (
	GrantPerson            GrantType = "" // a person signs in with a browser
	GrantClientCredentials GrantType = "client_credentials"
	GrantWorkload          GrantType = "workload_identity"
	GrantEnterprise        GrantType = "enterprise_managed"
)

// ServerAuth is what signing in to a server needs beyond what the server tells.
// Every text may hold placeholders; secrets belong into the secret store.
type ServerAuth struct {
	Grant        GrantType `json:"grant,omitempty"`
	ClientID     string    `json:"clientId,omitempty"`
	ClientSecret string    `json:"clientSecret,omitempty"`
	// PrivateKey is a PEM block that signs in the place of a secret (RFC 7523).
	PrivateKey  string   `json:"privateKey,omitempty"`
	Issuer      string   `json:"issuer,omitempty"` // the authorization server that ClientID belongs to
	RedirectURL string   `json:"redirectUrl,omitempty"`
	Scopes      []string `json:"scopes,omitempty"` // beside those that the server names
	// Assertion is the workload's or the person's token, for the grants
	// workload_identity and enterprise_managed.
	Assertion        string            `json:"assertion,omitempty"`
	IdentityProvider *IdentityProvider `json:"identityProvider,omitempty"` // for enterprise_managed
	DPoP             bool              `json:"dpop,omitempty"`             // RFC 9449, also where it is not demanded
}

// IdentityProvider is the token endpoint of an organisation, and what it knows us by.
type IdentityProvider struct {
	TokenURL     string `json:"tokenUrl"`
	ClientID     string `json:"clientId"`
	ClientSecret string `json:"clientSecret,omitempty"`
}

// ServerState is where a server's supervisor stands.
type ServerState string

const (
	StateOff          ServerState = "off"
	StateOnDemand     ServerState = "on_demand" // stopped, and started by the next call
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

// ServerFlag is what a person should know of a connected server beside its state.
type ServerFlag string

const (
	FlagNone      ServerFlag = ""
	FlagVerifying ServerFlag = "verifying" // the computer slept; whether the server still answers is being checked
	FlagOutdated  ServerFlag = "outdated"  // a secret that it uses has another value since it was connected
)

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
	// Flag is set in the state connected only.
	Flag  ServerFlag `json:"flag,omitempty"`
	Since string     `json:"since"` // RFC 3339, of the state
	// VerifiedAt is the time of the last successful exchange, RFC 3339; "" if there was none.
	VerifiedAt string `json:"verifiedAt,omitempty"`
	LatencyMS  int64  `json:"latencyMs,omitempty"` // of the last exchange
	ToolCount  int    `json:"toolCount"`
	// ToolsCachedAt is when the tools were listed, RFC 3339, if they were
	// remembered and the server has not confirmed them yet; "" otherwise.
	ToolsCachedAt string `json:"toolsCachedAt,omitempty"`
	// ServerTitle and ServerVersion are the server's own words; for display only.
	ServerTitle     string `json:"serverTitle,omitempty"`
	ServerVersion   string `json:"serverVersion,omitempty"`
	ProtocolVersion string `json:"protocolVersion,omitempty"` // "" until connected
	// EraReason is one sentence of why this revision of the protocol is spoken:
	// "It answered server/discover." "" until connected.
	EraReason    string `json:"eraReason,omitempty"`
	Instructions string `json:"instructions,omitempty"` // untrusted text of the server
	// Features is what the server offers beside tools; nil until connected.
	Features []Feature `json:"features,omitempty"`
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
