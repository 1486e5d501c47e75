package mcp

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
)

// inherited reports whether a server gets this variable of our environment. The
// list is short on purpose: a server is a stranger, and our environment may
// hold keys that are none of its business.
func inherited(name string) bool {
	switch strings.ToUpper(name) {
	case "HOME", "PATH", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP", "TERM", "SHELL",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
		"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS",
		"DOCKER_HOST", "DOCKER_CONFIG", "DOCKER_CONTEXT", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "PIP_INDEX_URL",
		"NVM_DIR", "NVM_BIN", "VOLTA_HOME", "PNPM_HOME", "BUN_INSTALL", "CARGO_HOME", "GOPATH", "GOROOT", "JAVA_HOME",
		"PYENV_ROOT", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR",
		// Windows programs do not start without these.
		"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "USERNAME", "USERDOMAIN", "HOMEDRIVE", "HOMEPATH",
		"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "COMMONPROGRAMFILES",
		"ALLUSERSPROFILE", "PUBLIC", "COMPUTERNAME", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "OS":
		return true
	}
	up := strings.ToUpper(name)
	return strings.HasPrefix(up, "LC_") || strings.HasPrefix(up, "XDG_") || strings.HasPrefix(up, "NPM_CONFIG_")
}

// childEnv is the environment of a server: our own through the allow-list, path
// as PATH, then what the configuration says.
func childEnv(environ []string, path string, own map[string]string) []string {
	fold := func(k string) string {
		if runtime.GOOS == "windows" {
			return strings.ToUpper(k)
		}
		return k
	}
	vals := map[string]string{}
	names := map[string]string{}
	set := func(k, v string) { names[fold(k)], vals[fold(k)] = k, v }
	for _, kv := range environ {
		if k, v, ok := strings.Cut(kv, "="); ok && k != "" && inherited(k) {
			set(k, v)
		}
	}
	set("PATH", path)
	for k, v := range own {
		set(k, v)
	}
	out := make([]string, 0, len(vals))
	for k, v := range vals {
		out = append(out, names[k]+"="+v)
	}
	sort.Strings(out)
	return out
}

// pathFinder knows where programs lie: our PATH, the folders of the usual
// installers, and the PATH of the login shell, which a program started from a
// desktop does not inherit.
type pathFinder struct {
	shell string // "" = $SHELL, "none" = ask nobody
	ctx   context.Context
	once  sync.Once
	ready chan struct{}
	login []string // valid after ready
}

func newPathFinder(ctx context.Context, shell string) *pathFinder {
	return &pathFinder{shell: shell, ctx: ctx, ready: make(chan struct{})}
}

// begin asks the login shell, once, in the background.
func (f *pathFinder) begin() {
	f.once.Do(func() {
		sh := f.shell
		if sh == "" {
			sh = os.Getenv("SHELL")
		}
		if sh == "none" || sh == "" || runtime.GOOS == "windows" {
			close(f.ready)
			return
		}
		go func() {
			defer close(f.ready)
			f.login = loginPath(f.ctx, sh)
		}()
	})
}

// wait blocks until the shell answered or was given up. It begins if nobody has.
func (f *pathFinder) wait() {
	f.begin()
	<-f.ready
}

// end waits for a shell that is being asked. The context of the finder must
// have ended.
func (f *pathFinder) end() {
	f.once.Do(func() { close(f.ready) })
	<-f.ready
}

const pathMark = "__patchbay_path__"

// loginPath asks a shell for PATH. The marker tells its answer from the noise
// that profiles print. Any failure means that nothing is known.
func loginPath(ctx context.Context, shell string) []string {
	print := `printf '\n` + pathMark + `%s\n' "$PATH"`
	if strings.Contains(filepath.Base(shell), "fish") {
		print = `printf '\n` + pathMark + `%s\n' (string join : $PATH)`
	}
	for _, flags := range [][]string{{"-l", "-i", "-c"}, {"-l", "-c"}} {
		c, cancel := context.WithTimeout(ctx, 2*time.Second)
		cmd := exec.CommandContext(c, shell, append(flags, print)...)
		ownSession(cmd)
		cmd.Cancel = func() error { killGroup(cmd); return nil }
		cmd.WaitDelay = 100 * time.Millisecond
		out, _ := cmd.Output() // a profile that ends with an error still gave us the line
		cancel()
		for line := range bytes.Lines(out) {
			if p, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte(pathMark)); ok {
				return filepath.SplitList(string(p))
			}
		}
		if ctx.Err() != nil {
			return nil
		}
	}
	return nil
}

// knownFolders are where the usual installers put programs.
func knownFolders() []string {
	home, _ := os.UserHomeDir()
	var out []string
	h := func(parts ...string) { out = append(out, filepath.Join(append([]string{home}, parts...)...)) }
	if runtime.GOOS == "windows" {
		for _, v := range []string{"ProgramFiles", "ProgramFiles(x86)"} {
			if d := os.Getenv(v); d != "" {
				out = append(out, filepath.Join(d, "nodejs"), filepath.Join(d, "Docker", "Docker", "resources", "bin"))
			}
		}
		if d := os.Getenv("APPDATA"); d != "" {
			out = append(out, filepath.Join(d, "npm"))
		}
		if d := os.Getenv("LOCALAPPDATA"); d != "" {
			out = append(out, filepath.Join(d, "Volta", "bin"), filepath.Join(d, "Microsoft", "WinGet", "Links"))
		}
		h(".local", "bin")
		h("scoop", "shims")
		h(".bun", "bin")
		h(".cargo", "bin")
		return out
	}
	out = append(out, "/opt/homebrew/bin", "/opt/homebrew/sbin", "/usr/local/bin", "/home/linuxbrew/.linuxbrew/bin")
	h(".local", "bin")
	h(".volta", "bin")
	h(".asdf", "shims")
	h(".local", "share", "mise", "shims")
	h(".pyenv", "shims")
	h(".bun", "bin")
	h(".cargo", "bin")
	h(".deno", "bin")
	h("go", "bin")
	// nvm has no folder for the current version; the newest installed one will do.
	if dirs, _ := filepath.Glob(filepath.Join(home, ".nvm", "versions", "node", "*", "bin")); len(dirs) > 0 {
		slices.SortFunc(dirs, func(a, b string) int { return compareVersions(b, a) })
		out = append(out, dirs[0])
	}
	return append(out, "/usr/bin", "/bin", "/usr/sbin", "/sbin")
}

// compareVersions compares the runs of digits in a and b as numbers.
func compareVersions(a, b string) int {
	digits := func(s string) (out []int) {
		n, in := 0, false
		for _, c := range s + " " {
			if c >= '0' && c <= '9' {
				n, in = n*10+int(c-'0'), true
			} else if in {
				out, n, in = append(out, n), 0, false
			}
		}
		return out
	}
	return slices.Compare(digits(a), digits(b))
}

// folders merges base (a PATH) with what else is known, keeping the first of
// equal entries.
func (f *pathFinder) folders(base string) []string {
	all := filepath.SplitList(base)
	select {
	case <-f.ready:
		all = append(all, f.login...)
	default:
	}
	all = append(all, knownFolders()...)
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(d string) bool {
		if d == "" || seen[d] || !filepath.IsAbs(d) {
			return true
		}
		seen[d] = true
		return false
	})
}

// find resolves command to an absolute path, and returns the PATH to start it
// with. base is the PATH of the configuration or else our own; dir is what a
// relative path with a separator is relative to. "" means not found.
func (f *pathFinder) find(command, base, dir string) (abs, path string) {
	f.begin()
	list := f.folders(base)
	look := func() string {
		if filepath.Base(command) != command {
			p := command
			if !filepath.IsAbs(p) {
				p = filepath.Join(dir, p)
			}
			return executable(p)
		}
		for _, d := range list {
			if p := executable(filepath.Join(d, command)); p != "" {
				return p
			}
		}
		return ""
	}
	if abs = look(); abs == "" && filepath.Base(command) == command {
		f.wait()
		list = f.folders(base)
		abs = look()
	}
	if abs != "" {
		// A script such as npx looks for its interpreter on PATH: the one beside it is right.
		if d := filepath.Dir(abs); !slices.Contains(list, d) {
			list = append([]string{d}, list...)
		}
	}
	return abs, strings.Join(list, string(filepath.ListSeparator))
}

// executable returns the file to run for p, which on Windows may lack its
// extension; "" if there is none.
func executable(p string) string {
	if runtime.GOOS != "windows" {
		st, err := os.Stat(p)
		if err != nil || st.IsDir() || st.Mode()&0o111 == 0 {
			return ""
		}
		return p
	}
	exts := filepath.SplitList(os.Getenv("PATHEXT"))
	if len(exts) == 0 {
		exts = []string{".com", ".exe", ".bat", ".cmd"}
	}
	if ext := filepath.Ext(p); ext != "" && slices.ContainsFunc(exts, func(e string) bool { return strings.EqualFold(e, ext) }) {
		exts = []string{""}
	}
	for _, e := range exts {
		if st, err := os.Stat(p + e); err == nil && !st.IsDir() {
			return p + e
		}
	}
	return ""
}

// runner reports whether the command may have to download its server first.
func runner(command string) bool {
	switch strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(filepath.Base(command)), ".exe"), ".cmd") {
	case "npx", "uvx", "uv", "bunx", "bun", "pnpm", "pnpx", "yarn", "npm", "pipx", "docker", "podman", "deno", "dnx":
		return true
	}
	return false
}
