package paste

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// indents is YAML whose every line stands deeper than the one before.
func indents(n int) string {
	var b strings.Builder
	for i := 2; b.Len() < n; i++ {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// numbered is n bytes of members of a flow mapping.
func numbered(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "k%d: 1, ", i)
	}
	return b.String()
}

// A paste of any shape up to the limit must not freeze the window. The limit
// here is far above what a slow machine needs, and far below what a shape costs
// whose time grows with the square of its size.
func TestLargeAndHostileTextsAreReadInTime(t *testing.T) {
	n := MaxBytes / 16 // the whole size takes minutes on a small machine
	if os.Getenv("PASTE_FULL") != "" {
		n = MaxBytes
	}
	rep := func(s string) string { return strings.Repeat(s, n/len(s)) }
	for name, text := range map[string]string{
		"long value":       `{"a":{"command":"x","env":{"K":"` + strings.Repeat("x", n-100) + `"}}}`,
		"open brackets":    rep("["),
		"open braces":      rep("{"),
		"pairs":            rep("{}"),
		"prose, braces":    "text " + rep("{ "),
		"prose, pairs":     "text " + rep("{}{"),
		"nested pairs":     "text " + strings.Repeat("{", n/2-10) + strings.Repeat("}", n/2-10),
		"keys":             rep(`"a":`),
		"fragment":         `"a": {` + rep(`"b": {}, `) + "}",
		"closers":          `"a": 1` + strings.Repeat("}", n/2),
		"commands":         rep("npx foo\n"),
		"packages":         rep("@a/b\n"),
		"URLs":             rep("http://a\n"),
		"fences":           rep("```\n{\n```\n"),
		"quotes":           rep("‘"),
		"bad servers":      `{"mcpServers":[` + rep(`{"command":5},`) + `]}`,
		"many servers":     `{"mcpServers":[` + rep(`{"command":"x"},`) + `]}`,
		"prose":            rep("hello there, "),
		"prose, lines":     rep("hello there\n"),
		"backslashes":      rep("\\"),
		"continued lines":  rep("npx \\\n"),
		"slashes":          `"a": ` + rep("/*"),
		"YAML servers":     "mcpServers:\n" + rep("- {command: x}\n"),
		"YAML one line":    "mcpServers: [" + rep("{command: x}, ") + "]",
		"YAML deep":        "command: x\nmcpServers: " + rep("["),
		"YAML indents":     "mcpServers:\n command: x\n x:\n" + indents(n/2),
		"YAML keys":        "command: x\n" + rep("? a\n"),
		"YAML same key":    "mcpServers:\n" + rep(" a: {command: x}\n"),
		"YAML anchors":     "command: x\na: &a " + strings.Repeat("x", n/4) + "\nb: [" + strings.Repeat("*a, ", n/8) + "]",
		"YAML merges":      "command: x\na: &a {" + numbered(n/32) + "}\n" + strings.Repeat("b:\n  <<: *a\n", n/32),
		"YAML regions":     "so\n" + rep("mcpServers:\n  command: x: y\n"),
		"YAML not really":  "command: x\n" + rep("hello there\n"),
		"YAML documents":   rep("---\ncommand: x\n"),
		"YAML quote":       "command: x\na: \"" + rep("x\n"),
		"YAML keys in { }": "command: x\na: {" + rep("x,"),
		"YAML long key":    "command: x\n" + rep("a "),
		"TOML tables":      rep("[mcp_servers.a]\ncommand=\"x\"\n"),
		"TOML arrays":      rep("[[mcp_servers]]\ncommand=\"x\"\n"),
		"TOML dots":        "[mcp]\n" + rep("a.") + "b = 1",
		"TOML deep":        "[mcp]\na = " + rep("["),
		"TOML braces":      "[mcp]\na = " + rep("{a="),
		"TOML list":        "[mcp]\na = [" + rep("1,") + "]",
		"TOML regions":     "so\n" + rep("[mcp]\n=\n"),
		"TOML string":      "[mcp]\na = \"\"\"" + rep("x\n"),
		"links":            "so " + rep("cursor://x/mcp/install?config=e30 "),
		"links, lines":     rep("cursor://x/mcp/install?config=e30\n"),
		"link":             "patchbay://add?config=" + rep("e30"),
		"link, many":       "patchbay://add?" + rep("config=&"),
		"link, percent":    "vscode:mcp/install?" + rep("%25"),
		"backticks":        "so " + rep("`npx a` "),
		"assignments":      rep("A=1 "),
		"set":              rep("set A=1 && "),
		"env":              rep("$env:A=1;"),
		"add":              "claude mcp add x " + rep("-e A=1 "),
		"add, headers":     "claude mcp add x " + rep("-H 'A: b' "),
		"docker":           "docker run " + rep("-e A "),
		"registry":         `{"servers":[` + rep(`{"name":"a/b","packages":[{"identifier":"x","registryType":"npm"}]},`) + `]}`,
		"registry args":    `{"name":"a/b","packages":[{"identifier":"x","registryType":"oci","environmentVariables":[` + rep(`{"name":"A","value":"b"},`) + `]}]}`,
		"markdown links":   rep("[a](b)"),
		"dots":             `{x: ` + rep("... "),
		"dots, commas":     `{x: [` + rep("...,") + `]}`,
		"numbers":          `{x: [` + rep("+1,.5,0x1,") + `]}`,
		"unseen":           `{"a":{"command":"x` + rep("\u200b") + `"}}`,
		"tags":             rep("<a></a>"),
		"set -x":           rep("set -x A 1\n"),
		"env in a list":    `{"a":{"command":"x","env":[` + rep(`{"name":"A","value":"b"},`) + `]}}`,
		"patch":            rep("+a\n"),
		"commas in --env":  "q mcp add --name x --command y --env A=" + rep("1,B=2,"),
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			_, err := Parse(text[:min(len(text), n)])
			t.Log(time.Since(began), err)
			assert.Less(t, time.Since(began), 30*time.Second)
		})
	}
}
