package wire

import "patchbay/backend/core"

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

// LogInput names a server and how many lines of its log are wanted.
type LogInput struct {
	Name  string `json:"name"`
	Lines int    `json:"lines,omitempty"` // 0 means 2,000, which is the most
}

// LogView is the end of the file about a server.
type LogView struct {
	Path  string   `json:"path"`
	Lines []string `json:"lines"` // the oldest first
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
