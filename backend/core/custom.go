package core

import "encoding/json"

// Capabilities are what a custom tool may reach, as it declares them. What is
// not declared cannot be reached.
type Capabilities struct {
	// Hosts that fetch may reach: "api.example.com", "*.example.org" for all
	// below, "localhost:8080". Without a port every port is meant. An address
	// of this machine or a private network must stand there literally.
	Hosts []string `json:"hosts,omitempty"`
	// Folders that files may read, absolute or beginning with "~/", with all below.
	Folders []string `json:"folders,omitempty"`
	// WriteFolders are folders that files may read and write.
	WriteFolders []string `json:"writeFolders,omitempty"`
	// Secrets that may be read, by name.
	Secrets []string `json:"secrets,omitempty"`
	// Tools that may be called, as models name them ("server__tool"). nil means
	// every tool that the gate allows, an empty list none.
	Tools *[]string `json:"tools,omitempty"`
}

// CustomTool is a tool of the person's own: in JavaScript, or a request that is
// declared without code.
type CustomTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Parameters is the JSON Schema of the arguments; never empty in a tool that was read.
	Parameters json.RawMessage `json:"parameters"`
	Code       string          `json:"code"` // the body of an async JavaScript function; "" with HTTP
	// HTTP is the request that the tool makes; nil for one in JavaScript.
	HTTP *Connector `json:"http,omitempty"`
	// TimeoutMS limits one call, in milliseconds; 0 means the gate's default.
	TimeoutMS int64 `json:"timeout,omitempty"`
	// Enabled is true in the file unless it says otherwise.
	Enabled bool `json:"enabled"`
	Capabilities
}

// CustomVersion is a former state of a custom tool.
type CustomVersion struct {
	ID      int64      `json:"id"`
	SavedAt string     `json:"savedAt"` // RFC 3339: when it was replaced
	Tool    CustomTool `json:"tool"`
}
