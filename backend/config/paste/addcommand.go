package paste

import (
	"strings"

	"patchbay/backend/config/internal/entry"
	"patchbay/backend/config/internal/jsonc"
	"patchbay/backend/core"
)

// addCommand reads "claude mcp add", "code --add-mcp" and their like in other
// programs. handled is false when words is another command.
func addCommand(words []string) (f *found, err *Error, handled bool) {
	words = bareAdd(words)
	if len(words) >= 3 && words[1] == "mcp" && !strings.Contains(words[0], "/") {
		switch words[2] {
		case "add":
			f, err = mcpAdd(words[3:])
			if err == nil && (words[0] == "q" || words[0] == "kiro-cli") {
				f.spec.Env = atCommas(f.spec.Env)
			}
			return f, err, true
		case "add-json":
			f, err = mcpAddJSON(words[3:])
			return f, err, true
		}
	}
	if len(words) >= 3 && words[0] == "/mcp" && words[1] == "add" {
		f, err = mcpAdd(words[2:])
		return f, err, true
	}
	if words[0] == "goose" {
		if f, ok := gooseExtension(words); ok {
			return f, nil, true
		}
	}
	for i, w := range words[1:] {
		value, ok := strings.CutPrefix(w, "--add-mcp=")
		if w == "--add-mcp" {
			value = strings.Join(words[i+2:min(i+3, len(words))], "")
		} else if !ok {
			continue
		}
		f, err = jsonServer("", value, "Behind --add-mcp")
		return f, err, true
	}
	return nil, nil, false
}

// bareAdd takes off what starts the program that adds a server: "sudo claude mcp
// add", "npx @anthropic-ai/claude-code mcp add".
func bareAdd(words []string) []string {
	for i := 1; i+2 < len(words) && i < 4; i++ {
		if words[i+1] == "mcp" && (words[i+2] == "add" || words[i+2] == "add-json") && isLauncher(words[0]) {
			name := words[i][strings.LastIndexByte(words[i], '/')+1:]
			return append([]string{name}, words[i+1:]...)
		}
	}
	return words
}

// atCommas splits "A=1,B=2", which Amazon Q and Kiro take behind one --env.
func atCommas(env map[string]string) map[string]string {
	var out map[string]string
	for k, v := range env {
		parts := strings.Split(v, ",")
		value := parts[0]
		for _, part := range parts[1:] {
			if !isAssignment(part) {
				value += "," + part
				continue
			}
			set(&out, k, value)
			k, value, _ = strings.Cut(part, "=")
		}
		set(&out, k, value)
	}
	return out
}

// gooseExtension reads the server that "goose session" or "goose run" is given.
func gooseExtension(words []string) (*found, bool) {
	for i, w := range words[:len(words)-1] {
		value := words[i+1]
		switch w {
		case "--with-extension":
			rest, err := entry.Split(value)
			if err != nil {
				return nil, false
			}
			command, env := cutEnv(rest)
			if len(command) == 0 {
				return nil, false
			}
			f := &found{spec: Server{Transport: core.TransportStdio, Command: command[0], Args: append([]string(nil), command[1:]...), Env: env}}
			f.unwrap()
			return f, true
		case "--with-streamable-http-extension", "--with-remote-extension":
			if isWebAddress(value) && entry.CheckURL(value) == "" {
				return &found{spec: Server{Transport: entry.GuessTransport(value), URL: value}}, true
			}
		}
	}
	return nil, false
}

// adder collects what the words behind "mcp add" say.
type adder struct {
	spec                        Server
	pos                         []string
	transport, address, command string
	args                        []string
}

func set(m *map[string]string, k, v string) {
	if *m == nil {
		*m = map[string]string{}
	}
	(*m)[k] = v
}

// mcpAdd reads what follows "claude mcp add" and its like in other programs.
func mcpAdd(words []string) (*found, *Error) {
	var a adder
	// Claude takes its options behind the command too, unless "--" ends them.
	open := true
	for _, w := range words {
		open = open && w != "--"
	}
	for i := 0; i < len(words); i++ {
		w := words[i]
		// Behind a command every word is its own argument.
		inCommand := len(a.pos) >= 2 && !isWebAddress(a.pos[1]) || a.command != "" && !strings.HasPrefix(w, "-")
		switch {
		case w == "--":
			a.pos = append(a.pos, words[i+1:]...)
			i = len(words)
		case inCommand && !(open && a.late(words[i:])) || !strings.HasPrefix(w, "-"):
			a.pos = append(a.pos, w)
		default:
			used, err := a.option(words[i:])
			if err != nil {
				return nil, err
			}
			i += used
		}
	}
	return a.finish()
}

// late reports whether an option behind the command is meant for the program
// that adds the server: it has to look like nothing else.
func (a *adder) late(words []string) bool {
	if len(words) < 2 || len(a.pos) > 1 && strings.HasPrefix(a.pos[1], "docker") || len(a.pos) > 1 && a.pos[1] == "podman" {
		return false
	}
	switch words[0] {
	case "-e", "--env":
		return isAssignment(words[1])
	case "-s", "--scope":
		return words[1] == "user" || words[1] == "local" || words[1] == "project"
	case "-t", "--transport":
		return words[1] == "stdio"
	}
	return false
}

// option reads the option at the beginning of words and returns how many words
// belong to it beside its own.
func (a *adder) option(words []string) (used int, err *Error) {
	flag, value, hasValue := strings.Cut(words[0], "=")
	if !strings.HasPrefix(flag, "--") {
		flag, value, hasValue = words[0], "", false
	}
	take := func() string {
		if !hasValue && used+1 < len(words) {
			used++
			value = words[used]
		}
		hasValue = false
		return value
	}
	more := func(ok func(string) bool) bool { return used+1 < len(words) && ok(words[used+1]) }
	switch flag {
	case "-e", "--env", "--environment":
		for first := true; first || more(isAssignment); first = false {
			k, v, ok := strings.Cut(take(), "=")
			if !ok {
				return used, &Error{Reason: WrongType, Message: "Behind " + flag + " must stand KEY=value."}
			}
			set(&a.spec.Env, k, v)
		}
	case "-H", "--header", "--headers":
		isHeader := func(w string) bool { return strings.Contains(w, ": ") && !strings.HasPrefix(w, "-") }
		for first := true; first || more(isHeader); first = false {
			k, v, ok := strings.Cut(take(), ":")
			if !ok {
				k, v, ok = strings.Cut(value, "=")
			}
			if !ok {
				return used, &Error{Reason: WrongType, Message: `Behind ` + flag + ` must stand "Name: value".`}
			}
			set(&a.spec.Headers, strings.TrimSpace(k), strings.TrimSpace(v))
		}
	case "-t", "--transport", "--type":
		a.transport = take()
	case "--url":
		a.address = take()
	case "--name":
		a.pos = append([]string{take()}, a.pos...)
	case "--command":
		a.command = take()
	case "--args":
		// Amazon Q and Kiro separate the arguments by commas.
		a.args = append(a.args, strings.Split(take(), ",")...)
	case "--bearer-token-env-var":
		set(&a.spec.Headers, "Authorization", "Bearer ${"+take()+"}")
	case "-s", "--scope", "--callback-port", "--client-id", "--timeout", "--description", "--include-tools", "--exclude-tools", "--agent", "--workspace", "--env-file":
		take()
	}
	return used, nil
}

func badName(s string) *Error {
	if strings.TrimSpace(s) == "" {
		return &Error{Reason: BadName, Message: "The command adds a server whose name is empty. Write a name behind add."}
	}
	if len(s) > 200 {
		return &Error{Reason: BadName, Message: "The command adds a server whose name is longer than 200 bytes. Give it a shorter one."}
	}
	return nil
}

func (a *adder) finish() (*found, *Error) {
	spec, pos := a.spec, a.pos
	if len(pos) == 0 {
		return nil, &Error{Reason: MissingCommand, Message: "The command adds a server, but names none. Write the name behind add."}
	}
	if err := badName(pos[0]); err != nil {
		return nil, err
	}
	f := &found{named: true}
	spec.Name = strings.TrimSpace(pos[0])
	switch {
	case a.address != "":
		spec.URL = a.address
	case a.command != "":
		spec.Command, spec.Args = a.command, append(a.args, pos[1:]...)
	case len(pos) < 2:
		return nil, &Error{Reason: MissingCommand, Message: "The command adds the server " + pos[0] + ", but gives neither a command nor an address. Write it behind the name."}
	case isWebAddress(pos[1]) || len(pos) == 2 && a.transport != "" && a.transport != "stdio":
		spec.URL = pos[1]
	default:
		rest, env := cutEnv(pos[1:])
		for k, v := range env {
			set(&spec.Env, k, v)
		}
		if len(rest) == 1 && strings.Contains(rest[0], " ") { // the whole line in quotes
			if words, err := entry.Split(rest[0]); err == nil && isCommand(words) && !strings.ContainsAny(words[0], `/\`) {
				rest = words
			}
		}
		if len(rest) > 0 {
			spec.Command = rest[0]
			spec.Args = append([]string(nil), rest[1:]...)
		}
	}
	f.spec = spec
	t, ok := entry.ParseTransport(a.transport)
	switch {
	case a.transport != "" && !ok:
		f.problem = &entry.Problem{Reason: entry.UnknownTransport, Message: spec.Name + ": the transport \"" + a.transport + "\" is not known; use stdio, streamable-http or sse."}
	case spec.URL != "" && (a.transport == "" || t == core.TransportStdio):
		f.spec.Transport = entry.GuessTransport(spec.URL)
	case spec.URL == "":
		f.spec.Transport = core.TransportStdio
		if strings.TrimSpace(spec.Command) == "" {
			f.problem = &entry.Problem{Reason: entry.MissingCommand, Message: spec.Name + ": there is no command."}
		}
	default:
		f.spec.Transport = t
	}
	if msg := entry.CheckURL(spec.URL); spec.URL != "" && msg != "" && f.problem == nil {
		f.problem = &entry.Problem{Reason: entry.BadURL, Message: spec.Name + ": " + msg}
	}
	for k, v := range spec.Headers {
		switch {
		case f.problem != nil:
		case entry.HasControl(k, false) || entry.HasControl(v, false):
			f.problem = &entry.Problem{Reason: entry.ControlChars, Message: spec.Name + ": a header holds a control character; remove it."}
		case !entry.IsHeader(k):
			f.problem = &entry.Problem{Reason: entry.BadName, Message: spec.Name + ": " + entry.NotHeader(k)}
		}
	}
	f.unwrap()
	return f, nil
}

// mcpAddJSON reads "add-json name '{…}'".
func mcpAddJSON(words []string) (*found, *Error) {
	var pos []string
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "-s" || w == "--scope":
			i++
		case !strings.HasPrefix(w, "-"):
			pos = append(pos, w)
		}
	}
	if len(pos) < 2 {
		return nil, &Error{Reason: Truncated, Message: "Behind add-json must stand a name and the server's JSON in single quotes."}
	}
	if err := badName(pos[0]); err != nil {
		return nil, err
	}
	return jsonServer(strings.TrimSpace(pos[0]), pos[1], "Behind add-json")
}

// jsonServer reads one server's JSON that stands among the words of a command.
func jsonServer(name, s, where string) (*found, *Error) {
	d, err := jsonc.Parse([]byte(s))
	if err != nil {
		if fixed, _, _ := repair(s); fixed != s {
			if d2, err2 := jsonc.Parse([]byte(fixed)); err2 == nil {
				d, err = d2, nil
			}
		}
	}
	if err != nil {
		label := where
		if name != "" {
			label = name
		}
		reason := NotJSON
		switch err.Kind {
		case jsonc.Truncated, jsonc.Empty:
			reason = Truncated
		case jsonc.TooDeep:
			reason = TooDeep
		}
		return nil, &Error{Reason: reason, Message: label + ": the server's JSON cannot be read: " + err.Message}
	}
	dec := entry.Decoder{Doc: d, Foreign: true}
	spec, problem := dec.Decode(name, "", &d.Root)
	if name != "" {
		spec.Name = name
	}
	return &found{spec: spec, named: spec.Name != "", problem: problem, warnings: dec.Warnings, missing: dec.Missing}, nil
}
