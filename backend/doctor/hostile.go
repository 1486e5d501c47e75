package doctor

import (
	"maps"
	"net"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"patchbay/backend/core"
)

// Loaders lists the places of spec that would load foreign code into the
// program that is started, or into what it starts: "env.LD_PRELOAD". A person
// has to agree to them by name.
func Loaders(spec core.ServerSpec) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(spec.Env)) {
		if isLoader(k) {
			out = append(out, "env."+k)
		}
	}
	switch base(spec.Command) {
	case "env", "sudo", "doas", "cmd":
		for i, a := range spec.Args {
			if k, _, ok := strings.Cut(a, "="); ok && isLoader(k) {
				out = append(out, "args."+strconv.Itoa(i))
			}
		}
	}
	return out
}

func isLoader(name string) bool {
	name = strings.ToUpper(name)
	switch name {
	case "PATH", "NODE_OPTIONS", "NODE_PATH", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "RUBYOPT", "RUBYLIB", "PERL5OPT", "PERL5LIB",
		"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "BASH_ENV", "ENV", "PROMPT_COMMAND", "PATHEXT", "COMSPEC",
		"GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "DOTNET_STARTUP_HOOKS", "COR_PROFILER", "CORECLR_PROFILER", "GCONV_PATH", "NPM_CONFIG_SCRIPT_SHELL":
		return true
	}
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_")
}

// base is the name of a program in lower case, without folder and ending.
func base(command string) string {
	s := strings.ToLower(path.Base(strings.ReplaceAll(strings.TrimSpace(command), `\`, "/")))
	for _, ending := range []string{".exe", ".cmd", ".bat", ".com"} {
		s = strings.TrimSuffix(s, ending)
	}
	return s
}

var fetchAndRun = regexp.MustCompile(`(?is)\b(curl|wget|fetch|iwr|irm|invoke-webrequest|invoke-restmethod|downloadstring)\b.*(\|\s*(sudo\s+)?(sh|bash|zsh|dash|python3?|node|perl|ruby|iex|invoke-expression)\b|\biex\b)|\b(sh|bash|zsh|iex|eval)\b[^|]{0,20}(\$\(|<\(|\()\s*(curl|wget|iwr|irm|new-object)`)

// hostile notes what a harmless server has no need of.
func (n *notes) hostile(spec core.ServerSpec) {
	for _, place := range Loaders(spec) {
		name := strings.TrimPrefix(place, "env.")
		if i, ok := argIndex(place); ok {
			name, _, _ = strings.Cut(spec.Args[i], "=")
		}
		if slices.Contains(spec.AllowLoaders, place) {
			n.add("loader_variable", core.SeverityWarning, place, core.MendNone, "%s makes the program load or run other code, to which you agreed.", name)
			continue
		}
		n.add("loader_variable", core.SeverityDanger, place, core.MendConfirm, "%s makes the program load or run other code. Nothing is saved or started before you agree to it.", name)
	}
	if spec.Transport == core.TransportStdio {
		n.shell(spec)
		n.container(spec)
		for i, a := range append([]string{spec.Command}, spec.Args...) {
			place := "command"
			if i > 0 {
				place = "args." + strconv.Itoa(i-1)
			}
			n.word(place, a)
		}
		if whole := strings.Join(append([]string{spec.Command}, spec.Args...), " "); fetchAndRun.MatchString(whole) {
			n.add("downloads_and_runs", core.SeverityDanger, "command", core.MendEdit, "The command downloads a script and runs it unseen. Install the server first and paste the command that starts it.")
		}
	}
	n.address(spec.URL)
	if spec.Cwd != "" && isUNC(spec.Cwd) {
		n.add("network_path", core.SeverityWarning, "cwd", core.MendEdit, "The working folder lies on another computer.")
	}
}

func argIndex(place string) (int, bool) {
	s, ok := strings.CutPrefix(place, "args.")
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(s)
	return i, err == nil
}

// shell notes a command that is handed to a shell: what runs is then in one
// text that is hard to read.
func (n *notes) shell(spec core.ServerSpec) {
	name, args := base(spec.Command), spec.Args
	at := 0
	if name == "env" || name == "sudo" || name == "doas" {
		if name != "env" {
			n.add("elevated", core.SeverityDanger, "command", core.MendEdit, "%s gives the server the rights of another person, often of the administrator.", spec.Command)
		}
		for at < len(args) && (strings.HasPrefix(args[at], "-") || strings.Contains(args[at], "=")) {
			at++
		}
		if at < len(args) {
			name = base(args[at])
			at++
		}
	}
	for i := at; i < len(args); i++ {
		flag := strings.ToLower(args[i])
		place := "args." + strconv.Itoa(i)
		switch name {
		case "sh", "bash", "zsh", "dash", "ksh", "fish", "ash":
			if strings.HasPrefix(flag, "-") && !strings.HasPrefix(flag, "--") && strings.Contains(flag, "c") {
				n.add("shell", core.SeverityWarning, place, core.MendEdit, "A shell runs the text that follows: %s -c can do anything that you can. Read it word by word.", name)
				return
			}
		case "powershell", "pwsh":
			switch {
			case len(flag) > 1 && strings.HasPrefix("-encodedcommand", flag) || flag == "-ec":
				n.add("encoded_command", core.SeverityDanger, place, core.MendEdit, "PowerShell runs a command that is encoded so that nobody can read it.")
				return
			case len(flag) > 1 && strings.HasPrefix("-command", flag):
				n.add("shell", core.SeverityWarning, place, core.MendEdit, "PowerShell runs the text that follows, which can do anything that you can. Read it word by word.")
				return
			}
		case "cmd":
			if (flag == "/c" || flag == "/k") && strings.ContainsAny(strings.Join(args[i+1:], " "), "&|<>^%") {
				n.add("shell", core.SeverityWarning, place, core.MendEdit, "The Windows shell runs several commands or redirects them. Read them word by word.")
				return
			}
		case "python", "python3", "py", "node", "deno", "perl", "ruby", "php", "bun":
			if flag == "-c" || flag == "-e" || flag == "--eval" || flag == "-r" && name == "php" || flag == "eval" && i == at {
				n.add("inline_code", core.SeverityWarning, place, core.MendEdit, "%s runs the program text that follows. Read it before you go on.", name)
				return
			}
			if !strings.HasPrefix(flag, "-") {
				return
			}
		default:
			return
		}
	}
}

// container notes options that open the container to the computer.
func (n *notes) container(spec core.ServerSpec) {
	if c := base(spec.Command); c != "docker" && c != "podman" && c != "nerdctl" {
		return
	}
	for i, a := range spec.Args {
		place := "args." + strconv.Itoa(i)
		flag, value, ok := strings.Cut(a, "=")
		if !ok && i+1 < len(spec.Args) {
			value = spec.Args[i+1]
		}
		switch flag {
		case "--privileged":
			n.add("privileged", core.SeverityDanger, place, core.MendEdit, "--privileged takes every wall between the container and your computer away.")
		case "-v", "--volume":
			source, rest, _ := strings.Cut(value, ":")
			if len(source) == 1 && (strings.HasPrefix(rest, `\`) || strings.HasPrefix(rest, "/")) && strings.Contains(rest, ":") { // C:\folder:/inside
				folder, _, _ := strings.Cut(rest, ":")
				source += ":" + folder
			}
			n.mount(place, source)
		case "--mount":
			source := ""
			rest := a
			if !ok || flag == "--mount" && !strings.Contains(a, ",") {
				rest = value
			}
			for _, part := range strings.Split(strings.TrimPrefix(rest, "--mount="), ",") {
				if k, v, _ := strings.Cut(part, "="); k == "src" || k == "source" {
					source = v
				}
			}
			n.mount(place, source)
		case "--pid", "--ipc", "--userns", "--network", "--net":
			if value == "host" && flag != "--network" && flag != "--net" {
				n.add("privileged", core.SeverityDanger, place, core.MendEdit, "%s=host lets the container reach into your computer.", flag)
			}
		case "--cap-add":
			if v := strings.ToUpper(value); v == "ALL" || strings.Contains(v, "SYS_ADMIN") {
				n.add("privileged", core.SeverityDanger, place, core.MendEdit, "--cap-add=%s gives the container rights over your computer.", value)
			}
		}
	}
}

func (n *notes) mount(place, source string) {
	switch s := strings.TrimRight(source, `/\`); {
	case source == "":
	case s == "" || len(s) == 2 && s[1] == ':':
		n.add("mounts_everything", core.SeverityDanger, place, core.MendEdit, "The container gets every file of your computer (%s).", source)
	case strings.HasSuffix(s, "docker.sock"):
		n.add("mounts_docker", core.SeverityDanger, place, core.MendEdit, "The container gets Docker itself (docker.sock) and through it your whole computer.")
	case s == "~" || s == "$HOME" || s == "${HOME}" || s == "/home" || s == "/Users" || s == "/etc" || s == "/root":
		n.add("mounts_home", core.SeverityWarning, place, core.MendEdit, "The container gets the folder %s with all that is in it.", source)
	}
}

// longWord is longer than arguments are, and padding more spaces than anybody types.
const (
	longWord = 2000
	padding  = 30
)

func (n *notes) word(place, s string) {
	switch {
	case isUNC(s):
		n.add("network_path", core.SeverityDanger, place, core.MendEdit, "%s is a path on another computer (%s); what runs or opens it sends your sign-in there.", Label(place), core.Clip(s, 60))
	case len(s) > longWord:
		n.add("padding", core.SeverityWarning, place, core.MendEdit, "%s is %d characters long. Read it to its end.", Label(place), len(s))
	}
	if strings.Contains(s, strings.Repeat(" ", padding)) {
		n.add("padding", core.SeverityDanger, place, core.MendEdit, "%s hides what follows behind many spaces.", Label(place))
	}
	if strings.ContainsAny(s, "\n\r") {
		n.add("line_break", core.SeverityWarning, place, core.MendEdit, "%s has several lines; all of them are handed over.", Label(place))
	}
}

func isUNC(s string) bool {
	return strings.HasPrefix(s, `\\`) && !strings.HasPrefix(s, `\\?\`) && len(s) > 2 || strings.HasPrefix(s, "//") && len(s) > 2 && s[2] != '/'
}

func (n *notes) address(s string) {
	if s == "" {
		return
	}
	u, err := url.Parse(reference.ReplaceAllString(s, "x"))
	if err != nil {
		return
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	ip := net.ParseIP(host)
	local := host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
	if u.Scheme == "http" && !local {
		n.add("plain_http", core.SeverityWarning, "url", core.MendEdit, "The address begins with http://: everybody on the way can read and change what is said. Use https://.")
	}
	if ip != nil && ip.IsLinkLocalUnicast() {
		n.add("cloud_metadata", core.SeverityDanger, "url", core.MendEdit, "%s is an address that clouds give their secrets out at; no server lives there.", host)
	}
	if strings.HasPrefix(host, "xn--") || strings.Contains(host, ".xn--") || strings.ContainsFunc(host, func(r rune) bool { return r > unicode.MaxASCII }) {
		n.add("look_alike", core.SeverityWarning, "url", core.MendEdit, "The address has letters of another script in it and may only look like one that you know.")
	}
}

// hidden notes characters that cannot be seen, in every text of the configuration.
func (n *notes) hidden(spec core.ServerSpec) {
	look := func(place, text string) {
		for _, r := range text {
			if invisible(r) {
				n.add("hidden_characters", core.SeverityDanger, place, core.MendEdit, "%s holds the invisible character U+%04X, which can hide what it really says.", Label(place), r)
				return
			}
		}
	}
	look("name", spec.Name)
	look("command", spec.Command)
	look("cwd", spec.Cwd)
	look("url", spec.URL)
	for i, a := range spec.Args {
		look("args."+strconv.Itoa(i), a)
	}
	for _, m := range []struct {
		group  string
		values map[string]string
	}{{"env", spec.Env}, {"headers", spec.Headers}} {
		for _, k := range slices.Sorted(maps.Keys(m.values)) {
			look(m.group+"."+k, k)
			look(m.group+"."+k, m.values[k])
		}
	}
}

func invisible(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\r':
		return false
	case r == 0x00ad, r == 0x034f, r == 0x061c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x180e, r == 0x3164, r == 0xfeff, r == 0xffa0:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r >= 0xfff0 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe0fff, r >= 0xfe00 && r <= 0xfe0d:
		return true
	}
	return unicode.IsControl(r)
}
