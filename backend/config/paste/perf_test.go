package paste

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A paste of any shape up to the limit must not freeze the window.
func TestLargeAndHostileTextsAreReadInTime(t *testing.T) {
	const n = MaxBytes / 8
	rep := func(s string) string { return strings.Repeat(s, n/len(s)) }
	for name, text := range map[string]string{
		"long value":      `{"a":{"command":"x","env":{"K":"` + strings.Repeat("x", n-100) + `"}}}`,
		"open brackets":   rep("["),
		"open braces":     rep("{"),
		"pairs":           rep("{}"),
		"prose, braces":   "text " + rep("{ "),
		"prose, pairs":    "text " + rep("{}{"),
		"nested pairs":    "text " + strings.Repeat("{", n/2-10) + strings.Repeat("}", n/2-10),
		"keys":            rep(`"a":`),
		"fragment":        `"a": {` + rep(`"b": {}, `) + "}",
		"closers":         `"a": 1` + strings.Repeat("}", n/2),
		"commands":        rep("npx foo\n"),
		"packages":        rep("@a/b\n"),
		"URLs":            rep("http://a\n"),
		"fences":          rep("```\n{\n```\n"),
		"quotes":          rep("‘"),
		"bad servers":     `{"mcpServers":[` + rep(`{"command":5},`) + `]}`,
		"many servers":    `{"mcpServers":[` + rep(`{"command":"x"},`) + `]}`,
		"prose":           rep("hello there, "),
		"prose, lines":    rep("hello there\n"),
		"backslashes":     rep("\\"),
		"continued lines": rep("npx \\\n"),
		"slashes":         `"a": ` + rep("/*"),
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			_, err := Parse(text[:min(len(text), n)])
			t.Log(time.Since(began), err)
			assert.Less(t, time.Since(began), 10*time.Second)
		})
	}
}
