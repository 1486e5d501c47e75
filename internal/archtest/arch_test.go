// Package archtest keeps the arrows of the house pointing downwards.
package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "patchbay/"

// allowed says which packages of ours each package may import; "x/..." is x and
// all below it. A package that is not listed may not exist.
var allowed = map[string][]string{
	"patchbay": {"backend/host", "backend/api", "backend/api/rpc", "backend/core", "backend/mcp", "backend/tools/custom/worker", "frontend"},
	"cmd/patchbay": {"backend/host", "backend/api", "backend/api/rpc", "backend/api/wire", "backend/approval", "backend/config/...", "backend/core",
		"backend/doctor", "backend/event", "backend/llm", "backend/mcp", "backend/mcp/demo", "backend/tools", "backend/tools/custom/worker", "frontend"},
	"frontend": {},

	"backend/core":  {},
	"backend/event": {"backend/core"},

	"backend/config":                {"backend/core", "backend/event", "backend/config/internal/...", "internal/syncdir"},
	"backend/config/paste":          {"backend/core", "backend/config/internal/..."},
	"backend/config/bundle":         {"backend/core"},
	"backend/config/export":         {"backend/core", "backend/config/internal/..."},
	"backend/config/discover":       {"backend/core", "backend/config/paste"},
	"backend/config/internal/entry": {"backend/core", "backend/config/internal/..."},
	"backend/config/internal/jsonc": {"backend/core"},
	"backend/secret":                {"backend/core", "internal/syncdir"},
	"backend/store":                 {"backend/core"},
	"backend/doctor":                {"backend/core"},
	"backend/serverlog":             {"backend/core"},
	"backend/mcp":                   {"backend/core", "backend/event"},
	"backend/mcp/demo":              {},
	"backend/tools":                 {"backend/core", "backend/event"},
	"backend/tools/reach":           {"backend/core"},
	"backend/tools/connector":       {"backend/core", "backend/tools/reach"},
	"backend/tools/builtin":         {"backend/core", "backend/tools/reach"},
	"backend/tools/openapi":         {"backend/core"},
	"backend/tools/custom":          {"backend/core", "backend/tools", "backend/tools/reach", "backend/tools/custom/frame"},
	"backend/tools/custom/frame":    {},
	"backend/tools/custom/worker":   {"backend/tools/custom/frame"},
	"backend/policy":                {"backend/core"},
	"backend/waiting":               {},
	"backend/approval":              {"backend/core", "backend/event", "backend/waiting"},
	"backend/question":              {"backend/core", "backend/event", "backend/waiting"},
	"backend/sampling":              {"backend/core", "backend/event"},
	"backend/limit":                 {"backend/core"},
	"backend/llm":                   {"backend/core"},
	"backend/llm/llmtest":           {"backend/core", "backend/llm", "internal/testllm"},
	"backend/llm/ollama":            {"backend/core", "backend/llm", "backend/llm/internal/..."},
	"backend/llm/openai":            {"backend/core", "backend/llm", "backend/llm/internal/..."},
	"backend/llm/rehearsal":         {"backend/core", "backend/llm"},
	"backend/llm/registry":          {"backend/core", "backend/event", "backend/llm"},
	"backend/chat":                  {"backend/core", "backend/event"},
	"backend/agent":                 {"backend/core", "backend/event", "backend/llm"},

	"backend/api/wire": {"backend/core"},
	"backend/api": {"backend/api/wire", "backend/core", "backend/event", "backend/agent", "backend/approval", "backend/chat", "backend/config/...",
		"backend/doctor", "backend/mcp", "backend/question", "backend/tools", "backend/tools/custom", "backend/tools/openapi", "backend/llm", "backend/llm/registry"},
	"backend/api/rpc": {"backend/api", "backend/core", "backend/event"},
	"backend/host":    {"backend/..."},

	"internal/conformance/client":  {"backend/core", "backend/mcp"},
	"internal/gen":                 {"backend/api/...", "backend/event"},
	"internal/archtest":            {},
	"internal/windowtest":          {},
	"internal/syncdir":             {},
	"internal/testmcp":             {},
	"internal/testmcp/cmd/testmcp": {"internal/testmcp"},
	"internal/testllm":             {},
	"internal/testllm/cmd/testllm": {"internal/testllm"},
}

// owners says which of our packages may import what comes from outside.
var owners = map[string][]string{
	"github.com/wailsapp/wails/":                   {"patchbay"},
	"github.com/modelcontextprotocol/go-sdk":       {"backend/mcp/...", "internal/testmcp/..."},
	"modernc.org/sqlite":                           {"backend/store"},
	"modernc.org/quickjs":                          {"backend/tools/custom/worker"},
	"github.com/pressly/goose":                     {"backend/store"},
	"github.com/sashabaranov/go-openai":            {"backend/llm/openai"},
	"github.com/zalando/go-keyring":                {"backend/secret"},
	"filippo.io/age":                               {"backend/secret"},
	"github.com/tailscale/hujson":                  {"backend/config/...", "backend/llm"},
	"go.yaml.in/yaml":                              {"backend/config/paste", "backend/config/export"},
	"github.com/pelletier/go-toml":                 {"backend/config/paste", "backend/config/export"},
	"golang.org/x/text/":                           {"backend/config/bundle", "backend/tools"},
	"github.com/adrg/xdg":                          {"backend/host"},
	"github.com/alecthomas/kong":                   {"cmd/patchbay"},
	"golang.org/x/term":                            {"cmd/patchbay"},
	"github.com/JohannesKaufmann/html-to-markdown": {"backend/tools/builtin"},
	"github.com/bmatcuk/doublestar":                {"backend/tools/builtin"},
	"github.com/pmezard/go-difflib":                {"backend/tools/builtin"},
	"github.com/getkin/kin-openapi":                {"backend/tools/openapi"},
	"github.com/tidwall/gjson":                     {"backend/tools/connector"},
	"github.com/DeRuina/timberjack":                {"backend/host", "backend/serverlog"},
	"github.com/coder/websocket":                   {"backend/api/rpc"},
	"github.com/shirou/gopsutil":                   {"backend/mcp"},
}

type pkg struct {
	ImportPath string
	Imports    []string
}

func TestImportsPointDownwards(t *testing.T) {
	for _, p := range packages(t) {
		from := strings.TrimPrefix(p.ImportPath, module)
		rule, known := allowed[from]
		if !known {
			t.Errorf("%s is new: say in this test what it may import, and in ARCHITECTURE.md what it is for", from)
			continue
		}
		for _, imp := range p.Imports {
			if to, ours := strings.CutPrefix(imp, module); ours && !matches(to, rule) {
				t.Errorf("%s must not import %s", from, to)
			}
			if from == "backend/core" && strings.Contains(strings.Split(imp, "/")[0], ".") {
				t.Errorf("backend/core may import the standard library only, not %s", imp)
			}
			for prefix, who := range owners {
				if strings.HasPrefix(imp, prefix) && !matches(from, who) {
					t.Errorf("only %s may import %s, not %s", strings.Join(who, ", "), imp, from)
				}
			}
		}
	}
}

// The test must be able to fail.
func TestRulesRefuse(t *testing.T) {
	require.False(t, matches("backend/store", allowed["backend/tools"]))
	require.False(t, matches("backend/api", allowed["backend/agent"]))
	require.False(t, matches("backend/toolsmith", []string{"backend/tools/..."}))
	require.True(t, matches("backend/config/paste", allowed["backend/api"]))
}

func matches(path string, rule []string) bool {
	for _, r := range rule {
		if base, all := strings.CutSuffix(r, "/..."); path == base || all && strings.HasPrefix(path, base+"/") {
			return true
		}
	}
	return false
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-tags", "window", "-json=ImportPath,Imports", "./...")
	cmd.Dir = "../.."
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	var all []pkg
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(fmt.Errorf("reading go list: %w", err))
		}
		all = append(all, p)
	}
	require.Greater(t, len(all), 15)
	return all
}
