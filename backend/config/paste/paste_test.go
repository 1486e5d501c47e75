package paste

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
)

func brief(s Server) string {
	out := fmt.Sprintf("%s|%s|%s", s.Name, s.Transport, strings.Join(append([]string{s.Command}, s.Args...), " "))
	if s.URL != "" {
		out = fmt.Sprintf("%s|%s|%s", s.Name, s.Transport, s.URL)
	}
	for _, k := range sortedKeys(s.Env) {
		out += "|" + k + "=" + s.Env[k]
	}
	for _, k := range sortedKeys(s.Headers) {
		out += "|" + k + ": " + s.Headers[k]
	}
	if s.Disabled {
		out += "|off"
	}
	return out
}

func TestAccepted(t *testing.T) {
	const gh = "github|stdio|npx -y @modelcontextprotocol/server-github"
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"mcpServers":                     {`{"mcpServers":{"github":{"command":"npx","args":["-y","@modelcontextprotocol/server-github"]}}}`, []string{gh}},
		"comments":                       {"// mine\n{\"mcpServers\":{/* x */\"github\":{\"command\":\"npx\",\"args\":[\"-y\",\"@modelcontextprotocol/server-github\",],},},} // end", []string{gh}},
		"BOM":                            {"\ufeff{\"a\":{\"command\":\"x\"}}", []string{"a|stdio|x"}},
		"UTF-16":                         {utf16le(`{"a":{"command":"x"}}`), []string{"a|stdio|x"}},
		"smart quotes":                   {"{“a”: {“command”: “npx”, ‘args’: [‘it\"s’]}}", []string{`a|stdio|npx it"s`}},
		"mixed quotes":                   {"{“a\": {\"command”: \"npx\"}}", nil},
		"no-break spaces":                {"{\u00a0\"a\":\u2003{\"command\": \"npx\u00a0\"}}", []string{"a|stdio|npx\u00a0"}},
		"JSON5":                          {"{a: {command: 'npx', args: ['-y',], disabled: True}} # end", []string{"a|stdio|npx -y|off"}},
		"Windows path":                   {`{"a":{"command":"C:\Users\me\x.exe","args":["\\\\host\\y"]}}`, []string{`a|stdio|C:\Users\me\x.exe \\host\y`}},
		"fence":                          {"Put this:\n```jsonc\n{\"a\":{\"command\":\"x\"}} // c\n```\nDone {really}.", []string{"a|stdio|x"}},
		"open fence":                     {"Put this:\n~~~\n{\"a\":{\"command\":\"x\"}}", []string{"a|stdio|x"}},
		"two fences":                     {"A\n```\n{\"a\":{\"command\":\"x\"}}\n```\nB\n```sh\nnpm install -g it && run\n```\n```\n{\"b\":{\"command\":\"y\"}}\n```", []string{"a|stdio|x", "b|stdio|y"}},
		"quoted fence":                   {"> ```\n> npx foo\n> ```", []string{"foo|stdio|npx foo"}},
		"loose prose":                    {"Use {\"a\":{\"command\":\"x\"}} and enjoy.", []string{"a|stdio|x"}},
		"prose with key":                 {"Add this to settings:\n  \"a\": {\"command\":\"x\"},\nand restart", []string{"a|stdio|x"}},
		"fragment":                       {`"a": {"command": "x"}, "b": {"url": "https://b.dev/mcp"},`, []string{"a|stdio|x", "b|streamable-http|https://b.dev/mcp"}},
		"fragment, one bracket too many": {"\"mcpServers\": {\"a\": {\"command\": \"x\"}}\n}", []string{"a|stdio|x"}},
		"members without braces":         {`"command": "npx", "args": ["-y", "foo-mcp"]`, []string{"foo|stdio|npx -y foo-mcp"}},
		"two values":                     {"{\"a\":{\"command\":\"x\"}}\n{\"b\":{\"command\":\"y\"}}", []string{"a|stdio|x", "b|stdio|y"}},
		"servers":                        {`{"inputs":[],"servers":{"a":{"type":"stdio","command":"x"}}}`, []string{"a|stdio|x"}},
		"mcp.servers":                    {`{"mcp.servers":{"a":{"command":"x"}}}`, []string{"a|stdio|x"}},
		"mcp servers":                    {`{"mcp":{"servers":{"a":{"command":"x"}}}}`, []string{"a|stdio|x"}},
		"settings":                       {`{"theme":"x","mcp":{"servers":{"a":{"command":"x"}}},"z":{"y":1}}`, []string{"a|stdio|x"}},
		"dotted":                         {`{"amp.mcpServers":{"a":{"command":"x"}}}`, []string{"a|stdio|x"}},
		"opencode":                       {`{"mcp":{"a":{"type":"local","command":["x","y"],"environment":{"K":"v"},"enabled":false}}}`, []string{"a|stdio|x y|K=v|off"}},
		"zed":                            {`{"context_servers":{"a":{"source":"custom","command":{"path":"x","args":["y"],"env":{"K":"v"}}}}}`, []string{"a|stdio|x y|K=v"}},
		"per project":                    {`{"projects":{"/home/x":{"mcpServers":{"a":{"command":"x"}}}}}`, []string{"a|stdio|x"}},
		"list":                           {`[{"name":"a","command":"x"},{"name":"b","url":"http://localhost:1/sse"}]`, []string{"a|stdio|x", "b|sse|http://localhost:1/sse"}},
		"tools.json":                     {`{"tools":[{"name":"t"}],"mcpServers":[{"name":"a","transport":"streamable-http","url":"https://x.dev"}]}`, []string{"a|streamable-http|https://x.dev"}},
		"one unnamed":                    {`{"command":"uvx","args":["mcp-server-git","--repository","."]}`, []string{"git|stdio|uvx mcp-server-git --repository ."}},
		"one named":                      {`{"name":"n","serverUrl":"https://x.dev/mcp"}`, []string{"n|streamable-http|https://x.dev/mcp"}},
		"httpUrl":                        {`{"g":{"httpUrl":"https://x.dev/mcp","headers":{"A":"b"}}}`, []string{"g|streamable-http|https://x.dev/mcp|A: b"}},
		"spellings":                      {`{"a":{"type":"streamableHttp","url":"https://x.dev"},"b":{"transport":"streamable_http","url":"https://x.dev"},"c":{"type":"http","url":"https://x.dev/sse"},"d":{"transportType":"SSE","url":"https://x.dev"}}`, []string{"a|streamable-http|https://x.dev", "b|streamable-http|https://x.dev", "c|streamable-http|https://x.dev/sse", "d|sse|https://x.dev"}},
		"args as text":                   {`{"a":{"command":"npx","args":"-y 'a b' \"c d\""}}`, []string{"a|stdio|npx -y a b c d"}},
		"command line as command":        {`{"a":{"command":"npx -y foo"}}`, []string{"a|stdio|npx -y foo"}},
		"numbers in env":                 {`{"a":{"command":"x","env":{"P":8080,"B":true}}}`, []string{"a|stdio|x|B=true|P=8080"}},
		"argv":                           {`["npx","-y","foo"]`, []string{"foo|stdio|npx -y foo"}},
		"name to line":                   {`{"mcpServers":{"a":"https://x.dev/mcp","b":"npx -y foo"}}`, []string{"a|streamable-http|https://x.dev/mcp", "b|stdio|npx -y foo"}},
		"URL":                            {" https://mcp.linear.app/sse ", []string{"linear|sse|https://mcp.linear.app/sse"}},
		"URLs":                           {"https://mcp.a.dev/mcp\nhttps://b.co.uk/mcp\nhttp://127.0.0.1:9/mcp", []string{"a|streamable-http|https://mcp.a.dev/mcp", "b|streamable-http|https://b.co.uk/mcp", "127.0.0.1-9|streamable-http|http://127.0.0.1:9/mcp"}},
		"command":                        {"$ npx -y @modelcontextprotocol/server-github@1.2", []string{gh + "@1.2"}},
		"command with env":               {`A=1 B='x y' npx -y foo`, []string{"foo|stdio|npx -y foo|A=1|B=x y"}},
		"export":                         {"export A=1\nnpx -y foo", []string{"foo|stdio|npx -y foo|A=1"}},
		"continued":                      {"docker run -i --rm \\\n  -e T=1 \\\n  ghcr.io/github/github-mcp-server:latest", []string{"github|stdio|docker run -i --rm -e T=1 ghcr.io/github/github-mcp-server:latest"}},
		"package":                        {"@playwright/mcp@latest", []string{"playwright|stdio|npx -y @playwright/mcp@latest"}},
		"path":                           {"/opt/x/my-server --stdio", []string{"my|stdio|/opt/x/my-server --stdio"}},
		"uv":                             {"uv --directory /a/b run weather.py", []string{"weather|stdio|uv --directory /a/b run weather.py"}},
		"module":                         {"python -m mcp_server_fetch", []string{"fetch|stdio|python -m mcp_server_fetch"}},
		"index.js":                       {"node /home/x/notes-mcp/build/index.js", []string{"notes|stdio|node /home/x/notes-mcp/build/index.js"}},
		"claude add":                     {`claude mcp add db -s user --env K=v --env L=w -- npx -y db --flag`, []string{"db|stdio|npx -y db --flag|K=v|L=w"}},
		"claude add http":                {`claude mcp add --transport http s https://x.dev/mcp --header "Authorization: Bearer t"`, []string{"s|streamable-http|https://x.dev/mcp|Authorization: Bearer t"}},
		"claude add sse":                 {"claude mcp add --transport=sse s https://x.dev/mcp", []string{"s|sse|https://x.dev/mcp"}},
		"claude add-json":                {`claude mcp add-json w '{"type":"stdio","command":"x","args":["y"]}'`, []string{"w|stdio|x y"}},
		"several adds":                   {"# two\nclaude mcp add a -- x 1\nclaude mcp add b -- y 2", []string{"a|stdio|x 1", "b|stdio|y 2"}},
		"codex add":                      {"codex mcp add c --url https://x.dev/mcp --bearer-token-env-var TOK", []string{"c|streamable-http|https://x.dev/mcp|Authorization: Bearer ${TOK}"}},
		"derived names are unique":       {"npx -y foo\nuvx foo", []string{"foo|stdio|npx -y foo", "foo-2|stdio|uvx foo"}},
		"YAML":                           {"mcpServers:\n  a:\n    command: npx\n    args: [-y, foo]\n", []string{"a|stdio|npx -y foo"}},
		"YAML list":                      {"mcpServers:\n- name: a\n  url: https://x.dev/mcp\n", []string{"a|streamable-http|https://x.dev/mcp"}},
		"YAML, two documents":            {"---\na:\n  command: x\n---\nb:\n  command: y\n", []string{"a|stdio|x", "b|stdio|y"}},
		"TOML":                           {"[mcp_servers.a]\ncommand = \"x\"\n[mcp_servers.a.env]\nK = \"v\"\n", []string{"a|stdio|x|K=v"}},
		"TOML, table of tables":          {"[[mcp_servers]]\nname = \"a\"\ncommand = 'x'\n[[mcp_servers]]\nname = \"b\"\ncommand = 'y'\n", []string{"a|stdio|x", "b|stdio|y"}},
		"TOML without a head":            {"command = \"npx\"\nargs = [\"-y\", \"foo\"]\n", []string{"foo|stdio|npx -y foo"}},
		"link":                           {"patchbay://add?name=a&config=%7B%22command%22%3A%22x%22%7D", []string{"a|stdio|x"}},
		"link, base64url":                {"patchbay://add?name=a&config=eyJjb21tYW5kIjoieD8_In0", []string{"a|stdio|x??"}},
		"PowerShell":                     {"$env:A = 'x y'; npx -y foo", []string{"foo|stdio|npx -y foo|A=x y"}},
		"set and &&":                     {"set A=1&& npx -y foo", []string{"foo|stdio|npx -y foo|A=1"}},
		"cmd /c":                         {"cmd /c npx -y foo", []string{"foo|stdio|npx -y foo"}},
		"cmd /c in JSON":                 {`{"a":{"command":"cmd.exe","args":["/C","npx -y foo"]}}`, []string{"a|stdio|npx -y foo"}},
		"cmd /c of the shell":            {`{"a":{"command":"cmd","args":["/c","dir","&&","npx"]}}`, []string{"a|stdio|cmd /c dir && npx"}},
		"claude add, late options":       {"claude mcp add a npx foo -e K=v -s user", []string{"a|stdio|npx foo|K=v"}},
		"claude add, docker keeps -e":    {"claude mcp add a docker run -e K=v img", []string{"a|stdio|docker run -e K=v img"}},
		"command in prose":               {"To run it, type\nnpx -y foo\nand you are done.", []string{"foo|stdio|npx -y foo"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Parse(tc.text)
			if tc.want == nil {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			var got []string
			for _, s := range r.Servers {
				got = append(got, brief(s))
			}
			assert.Equal(t, tc.want, got)
			assert.Empty(t, r.Rejected)
			// What was read must come out of its own JSON again.
			b, jerr := json.Marshal(r.Servers)
			require.NoError(t, jerr)
			again, err := Parse(string(b))
			require.NoError(t, err)
			assert.Equal(t, r.Servers, again.Servers)
		})
	}
}

func utf16le(s string) string {
	out := "\xff\xfe"
	for _, u := range utf16.Encode([]rune(s)) {
		out += string([]byte{byte(u), byte(u >> 8)})
	}
	return out
}

func TestRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		text      string
		reason    Reason
		line, col int
		path      string
	}{
		"empty":               {" \n\u200b", Empty, 2, 1, ""},
		"only comments":       {"// x", Empty, 1, 1, ""},
		"empty object":        {"{}", NoServers, 1, 1, ""},
		"empty wrapper":       {`{"mcpServers": {}}`, NoServers, 1, 1, ""},
		"other JSON":          {`{"name":"x","version":"1","scripts":{"a":"b"}}`, NoServers, 1, 1, ""},
		"truncated":           {"{\"mcpServers\": {\n  \"a\": {\"command\": \"x\"", Truncated, 2, 23, ""},
		"truncated in fence":  {"Hi\n```json\n{\"mcpServers\": {\n```", Truncated, 3, 17, ""},
		"missing comma":       {"{\"a\": {\n  \"command\": \"x\"\n  \"args\": []\n}}", NotJSON, 3, 3, ""},
		"neither":             {`{"mcpServers":{"a":{"args":[]}}}`, MissingCommand, 1, 20, "/mcpServers/a"},
		"both":                {`{"a":{"command":"x","url":"https://x.dev"}}`, Ambiguous, 1, 6, "/a"},
		"two urls":            {`{"a":{"serverUrl":"https://y.dev","url":"https://x.dev"}}`, Ambiguous, 1, 19, "/a/serverUrl"},
		"unknown transport":   {`{"a":{"type":"ws","url":"https://x.dev"}}`, UnknownTransport, 1, 14, "/a/type"},
		"stdio without":       {`{"a":{"type":"stdio","url":"https://x.dev"}}`, MissingCommand, 1, 14, "/a/command"},
		"http without":        {`{"a":{"type":"http","command":"x"}}`, MissingURL, 1, 14, "/a/url"},
		"scheme":              {`{"a":{"url":"ftp://x.dev"}}`, BadURL, 1, 13, "/a/url"},
		"space in url":        {`{"a":{"url":"https://x .dev"}}`, BadURL, 1, 13, "/a/url"},
		"no host":             {"https://", BadURL, 1, 1, ""},
		"raw control":         {"{\"a\":\x1b}", ControlChars, 1, 6, ""},
		"bidi":                {"npx \u202efoo", ControlChars, 1, 5, ""},
		"not UTF-8":           {"npx \xff", ControlChars, 1, 5, ""},
		"escaped control":     {`{"a":{"command":"x\u0000y"}}`, ControlChars, 1, 17, "/a/command"},
		"header injection":    {`{"a":{"url":"https://x.dev","headers":{"A":"b\r\nC: d"}}}`, ControlChars, 1, 44, "/a/headers/A"},
		"duplicate server":    {"{\"mcpServers\":{\"a\":{\"command\":\"x\"},\n\"a\":{\"command\":\"y\"}}}", DuplicateName, 2, 5, "/mcpServers/a"},
		"duplicate in list":   {`[{"name":"a","command":"x"},{"name":"a","command":"y"}]`, DuplicateName, 1, 29, "/1"},
		"duplicate key":       {`{"a":{"command":"x","command":"y"}}`, DuplicateKey, 1, 21, "/a/command"},
		"deep":                {strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100), TooDeep, 1, 321, ""},
		"args wrong":          {`{"a":{"command":"x","args":[["y"]]}}`, WrongType, 1, 29, "/a/args/0"},
		"env wrong":           {`{"a":{"command":"x","env":{"K":{}}}}`, WrongType, 1, 32, "/a/env/K"},
		"command wrong":       {`{"mcpServers":{"a":{"command":5}}}`, WrongType, 1, 31, "/mcpServers/a/command"},
		"server wrong":        {`{"mcpServers":{"a":5}}`, WrongType, 1, 20, "/mcpServers/a"},
		"wrapper wrong":       {`{"mcpServers":5}`, WrongType, 1, 15, "/mcpServers"},
		"HTML":                {"<!DOCTYPE html><html></html>", HTML, 1, 1, ""},
		"prose":               {"Please install the GitHub server for me.", Prose, 1, 1, ""},
		"node is nice":        {"node is nice.", Prose, 1, 1, ""},
		"pipe":                {"npx foo | tee log", ShellSyntax, 1, 1, ""},
		"substitution":        {`TOKEN="$(cat x)" npx foo`, ShellSyntax, 1, 1, ""},
		"open quote":          {"npx foo 'bar", Truncated, 1, 1, ""},
		"link":                {"cursor://anysphere.cursor-deeplink/mcp/install?name=x", UnknownLink, 1, 1, ""},
		"web socket":          {"wss://x.dev/mcp", UnknownTransport, 1, 1, ""},
		"claude add nothing":  {"claude mcp add x", MissingCommand, 1, 1, ""},
		"empty name":          {`{"mcpServers":{" ":{"command":"x"}}}`, "", 0, 0, ""},
		"variables only":      {"A=1", MissingCommand, 1, 1, ""},
		"port":                {"http://x.dev:99999/", BadURL, 1, 1, ""},
		"timeout":             {`{"a":{"command":"x","timeout":"soon"}}`, WrongType, 1, 31, "/a/timeout"},
		"disabled":            {`{"a":{"command":"x","disabled":"no"}}`, WrongType, 1, 32, "/a/disabled"},
		"too large":           {strings.Repeat(" ", MaxBytes+1), TooLarge, 0, 0, ""},
		"YAML syntax":         {"mcpServers:\n  a:\n    command: x: y\n", NotYAML, 3, 5, ""},
		"YAML wrong type":     {"mcpServers:\n  ä: {command: npx, args: {}}\n", WrongType, 2, 27, "/mcpServers/ä/args"},
		"YAML deep":           {"command: x\nmcpServers: " + strings.Repeat("[", 70) + strings.Repeat("]", 70), TooDeep, 2, 77, ""},
		"YAML loop":           {"mcpServers: &a\n  command: *a\n", TooDeep, 1, 13, ""},
		"YAML open quote":     {"mcpServers:\n  a:\n    command: \"x\n", Truncated, 3, 16, ""},
		"TOML syntax":         {"[mcp_servers.a]\ncommand = npx\n", NotTOML, 2, 11, ""},
		"TOML wrong type":     {"[mcp_servers.a]\ncommand = \"x\"\nargs = 5\n", WrongType, 3, 8, "/mcp_servers/a/args"},
		"TOML deep":           {"[mcp_servers.a]\nx = " + strings.Repeat("[", 70) + strings.Repeat("]", 70), TooDeep, 2, 1, ""},
		"link, not base64":    {"patchbay://add?config=%21", BadLink, 1, 1, ""},
		"link, no server":     {"patchbay://add?config=%7B%7D", NoServers, 1, 1, ""},
		"link, wrong type":    {"so\npatchbay://add?config=%7B%22command%22%3A5%7D", Prose, 1, 1, ""},
		"file address":        {"file:///x", BadURL, 1, 1, ""},
		"installer":           {"pip install foo", MissingCommand, 1, 1, ""},
		"empty name in add":   {`claude mcp add "" npx foo`, BadName, 1, 1, ""},
		"several commands":    {"Do this:\nnpx foo\nor that:\nuvx bar", Prose, 4, 1, ""},
		"place after repairs": {"{‘a’: {‘command’: ‘x’,\n  ‘type’: ‘nope’}}", UnknownTransport, 2, 11, "/a/type"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Parse(tc.text)
			if tc.reason == "" {
				require.NoError(t, err)
				assert.Equal(t, "x", r.Servers[0].Name) // a blank key is no name
				return
			}
			var e *Error
			require.ErrorAs(t, err, &e, "%+v", r)
			assert.Equal(t, tc.reason, e.Reason, e.Message)
			assert.Equal(t, [2]int{tc.line, tc.col}, [2]int{e.Line, e.Column}, e.Message)
			assert.Equal(t, tc.path, e.Path)
			assert.True(t, strings.HasSuffix(e.Message, "."), e.Message)
			var ce *core.Error
			require.True(t, errors.As(err, &ce))
			assert.Equal(t, e.Message, ce.Message)
		})
	}
}

func TestTooManyServers(t *testing.T) {
	_, err := Parse("[" + strings.Repeat(`{"command":"x"},`, MaxServers+1) + "]")
	assert.Equal(t, core.CodeTooLarge, core.CodeOf(err))
}

func TestPartialSuccess(t *testing.T) {
	r, err := Parse(`{"mcpServers":{"good":{"command":"x"},"bad":{"type":"ws","url":"https://x.dev"},"dup":{"command":"1"},"dup":{"command":"2"},"same":{"command":"s"},"same":{"command":"s"}}}`)
	require.NoError(t, err)
	assert.Len(t, r.Servers, 2)
	assert.Equal(t, "same", r.Servers[1].Name)
	require.Len(t, r.Rejected, 2)
	assert.Equal(t, "bad", r.Rejected[0].Name)
	assert.Equal(t, UnknownTransport, r.Rejected[0].Error.Reason)
	assert.Equal(t, DuplicateName, r.Rejected[1].Error.Reason)
	assert.Contains(t, strings.Join(r.Warnings, "\n"), "same stands in the text more than once")
}

func TestMissing(t *testing.T) {
	r, err := Parse(`{"s":{"command":"npx","args":["-y","foo","/path/to/dir","./..."],"env":{
		"A":"${input:a}","B":"<YOUR_API_KEY>","C_TOKEN":"YOUR_TOKEN_HERE","D":"...","E":"…","F_KEY":"","G":"","H":"${HOME}","I":"${env:X}","J":"sk-...","K":"ghp_xxxxxxxx","L":"real","M":"${X:-y}"}},
		"h":{"url":"https://your-domain.atlassian.net/mcp","headers":{"Authorization":"Bearer ","X":"Bearer ${TOKEN}","Y":"{{key}}"}}}`)
	require.NoError(t, err)
	assert.Equal(t, []string{"s.args.2", "s.env.A", "s.env.B", "s.env.C_TOKEN", "s.env.D", "s.env.E", "s.env.F_KEY", "s.env.J", "s.env.K",
		"h.url", "h.headers.Authorization", "h.headers.Y"}, r.Missing)
}

func TestWarnings(t *testing.T) {
	r, err := Parse(`{"tools":[{}],"mcpServers":{"a":{"command":"npx -y foo","env":{"P":1},"timeout":60,"envFile":".env","autoApprove":[]}}}`)
	require.NoError(t, err)
	all := strings.Join(r.Warnings, "\n")
	assert.Contains(t, all, `env.P was a number`)
	assert.Contains(t, all, `timeout 60 is read as seconds`)
	assert.Contains(t, all, `"envFile"`)
	assert.NotContains(t, all, "autoApprove")
	assert.Contains(t, all, "1 custom tools")
	assert.EqualValues(t, 60000, r.Servers[0].TimeoutMS)
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"mcpServers":{"a":{"command":"x","args":["y"],"env":{"K":"<v>"}}}}`, "```\n{a: {command: ‘x’}}\n```", "A=1 npx -y foo 'b'",
		`claude mcp add x -e A=1 -- y`, "https://x.dev/sse", `"a": {"url": "http://h"}},`, "text {\"a\": [{\"command\": [\"x\"]}]} more", `["npx","x"]`,
		`claude mcp add-json w '{"command":"x"}'`, "\xff\xfe{\x00", "{\"a\":{\"command\":\"C:\\U\"}}",
	} {
		f.Add(s)
	}
	samples, err := filepath.Glob("testdata/pastes/*.txt")
	require.NoError(f, err)
	for _, file := range samples {
		b, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(string(b))
	}
	f.Fuzz(func(t *testing.T, s string) {
		began := time.Now()
		r, err := Parse(s)
		if d := time.Since(began); d > 3*time.Second {
			t.Fatalf("took %v", d)
		}
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Reason == "" || e.Message == "" {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		if len(r.Servers) == 0 {
			t.Fatal("success without a server")
		}
		names := map[string]bool{}
		for _, srv := range r.Servers {
			if srv.Name == "" || names[srv.Name] || srv.Transport == "" || (srv.Command == "") == (srv.URL == "") && srv.Command == "" {
				t.Fatalf("bad server %+v", srv)
			}
			names[srv.Name] = true
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatal(err)
		}
	})
}
