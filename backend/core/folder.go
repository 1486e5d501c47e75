package core

// ToolFolder is a folder that a person chose for the built-in tools.
type ToolFolder struct {
	Path  string `json:"path"`  // absolute
	Write bool   `json:"write"` // false: it may only be read
}

// BuiltinAccess is what the built-in tools may get at. The zero value is nothing
// but public addresses.
type BuiltinAccess struct {
	Folders []ToolFolder `json:"folders"`
	// AllowPrivate lets fetch_url reach this machine and private networks.
	AllowPrivate bool `json:"allowPrivate"`
}
