package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"patchbay/backend/core"
)

// maxAlias is the longest tool name that every vendor of models takes.
const maxAlias = 64

// builtinServer stands where the name of a server stands in others' aliases.
const builtinServer = "builtin"

// Naming is how the names that models see are made of a server's and a tool's.
type Naming string

const (
	NamingPlain  Naming = "" // server__tool
	NamingPrefix Naming = "mcp__server__tool"
	NamingSingle Naming = "mcp_server_tool"
)

// Valid reports whether n is one of the namings.
func (n Naming) Valid() bool { return n == NamingPlain || n == NamingPrefix || n == NamingSingle }

// Alias returns the name under which models see a tool: that of its server and
// its own for MCP, builtin__tool for the product's, the bare name for others, in [A-Za-z0-9_-], at most 64
// characters, starting with a letter or "_". It depends on the reference alone,
// so load order and restarts do not change it, and two tools never share one: a
// name that had to be bent, or that could be read in two ways, carries a hash of
// the reference. It is looked up, never parsed.
func (n Naming) Alias(ref core.ToolRef) string {
	plain := ref.Name
	ambiguous := strings.Contains(ref.Name, "__") || n == NamingSingle && strings.HasPrefix(ref.Name, "mcp_")
	if ref.Server != "" || ref.Kind == core.ToolMCP {
		first, sep := "", "__"
		switch n {
		case NamingPrefix:
			first = "mcp__"
		case NamingSingle:
			first, sep = "mcp_", "_"
		}
		plain = first + ref.Server + sep + ref.Name
		// Without the separator inside and "_" at its end, the first one ends the server's name.
		ambiguous = ref.Server == "" || strings.Contains(ref.Server, sep) || strings.HasSuffix(ref.Server, "_")
	}
	switch ref.Kind {
	case core.ToolFeature: // the server may have a tool of this name too
		ambiguous = true
	case core.ToolBuiltin:
		plain = builtinServer + "__" + ref.Name
	case core.ToolMCP:
		ambiguous = ambiguous || n == NamingPlain && ref.Server == builtinServer
	}
	clean := sanitize(plain)
	if clean == plain && !ambiguous && len(plain) <= maxAlias && !looksHashed(plain) {
		return plain
	}
	sum := sha256.Sum256([]byte(string(ref.Kind) + "\x00" + ref.Server + "\x00" + ref.Name))
	suffix := "_" + hex.EncodeToString(sum[:5])
	return clean[:min(len(clean), maxAlias-len(suffix))] + suffix
}

func sanitize(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, s)
	if s == "" || (s[0] >= '0' && s[0] <= '9') || s[0] == '-' {
		s = "_" + s
	}
	return s
}

// looksHashed reports whether a plain name ends as a hashed one does, which
// would let a server forge the alias of another's tool.
func looksHashed(s string) bool {
	i := strings.LastIndexByte(s, '_')
	if i < 0 || len(s)-i-1 != 10 {
		return false
	}
	_, err := hex.DecodeString(s[i+1:])
	return err == nil
}
