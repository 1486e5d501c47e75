package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"patchbay/backend/core"
)

// maxAlias is the longest tool name that every vendor of models takes.
const maxAlias = 64

// Alias returns the name under which models see a tool: server__tool for MCP,
// the bare name for others, in [A-Za-z0-9_-], at most 64 characters, starting
// with a letter or "_". It depends on the reference alone, so load order and
// restarts do not change it, and two tools never share one: a name that had to
// be bent, or that could be read in two ways, carries a hash of the reference.
// It is looked up, never parsed.
func Alias(ref core.ToolRef) string {
	plain := ref.Name
	ambiguous := strings.Contains(ref.Name, "__")
	if ref.Server != "" || ref.Kind == core.ToolMCP {
		plain = ref.Server + "__" + ref.Name
		// Without "__" inside and "_" at its end, the first "__" ends the server's name.
		ambiguous = ref.Server == "" || strings.Contains(ref.Server, "__") || strings.HasSuffix(ref.Server, "_")
	}
	if ref.Kind == core.ToolFeature { // the server may have a tool of this name too
		ambiguous = true
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
