// Package entry reads one server's entry, as tools.json and the configuration
// files of other programs write it, and says which key holds which field.
package entry

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/tailscale/hujson"
	"golang.org/x/net/http/httpguts"

	"patchbay/backend/config/internal/jsonc"
	"patchbay/backend/core"
)

// The reasons of a [Problem]. They are stable: programs compare them.
const (
	WrongType        = "wrong_type"
	MissingCommand   = "missing_command"
	MissingURL       = "missing_url"
	UnknownTransport = "unknown_transport"
	BadURL           = "bad_url"
	BadName          = "bad_name"
	ControlChars     = "control_characters"
	Ambiguous        = "ambiguous"
	DuplicateKey     = "duplicate_key"
)

// Problem is why an entry cannot be used. Offset is the byte in the document.
type Problem struct {
	Reason, Message, Path string
	Offset                int
}

// keys lists the spellings of each field, our own first.
func keys(field string) []string {
	switch field {
	case "transport":
		return []string{"transport", "type", "transportType"}
	case "url":
		return []string{"url", "serverUrl", "httpUrl", "serverURL", "sseUrl", "endpoint", "uri", "baseUrl", "server_url", "http_url"}
	case "env":
		return []string{"env", "environment", "envs"}
	case "headers":
		return []string{"headers", "http_headers", "httpHeaders"}
	case "cwd":
		return []string{"cwd", "workingDirectory", "working_directory", "workingDir"}
	case "disabled":
		return []string{"disabled", "enabled", "isActive", "active"}
	case "args":
		return []string{"args", "arguments"}
	case "command":
		return []string{"command", "cmd"}
	}
	return []string{field}
}

// KeyOf returns the key under which o keeps field, the field's own name when it
// keeps none.
func KeyOf(o *hujson.Object, field string) string {
	for _, k := range keys(field) {
		if jsonc.Member(o, k) != nil {
			return k
		}
	}
	return field
}

// DropOthers removes every spelling of field but keep.
func DropOthers(o *hujson.Object, field, keep string) {
	for _, k := range keys(field) {
		if k != keep {
			jsonc.Delete(o, k)
		}
	}
}

// LooksLikeServer reports whether v is an object with a command or an address.
func LooksLikeServer(v *hujson.Value) bool {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return false
	}
	for _, field := range []string{"command", "url"} {
		if m := jsonc.Member(o, KeyOf(o, field)); m != nil {
			switch m.Value.Kind() {
			case '"', '[':
				return true
			case '{': // Zed: {"command": {"path": …, "args": […]}}
				if inner, ok := m.Value.(*hujson.Object); ok && field == "command" && jsonc.Member(inner, "path") != nil {
					return true
				}
			}
		}
	}
	return false
}

// ignored are keys of other programs that mean nothing here.
func ignored(key string) bool {
	switch key {
	case "name", "description", "autoApprove", "alwaysAllow", "disabledTools", "icon", "iconUrl", "title", "trust",
		"gallery", "version", "source", "includeTools", "excludeTools", "tools", "id", "$schema", "timeout",
		"connected", "toolCount", "lastConnected", "logo", "logoUrl", "provider", "providerUrl", "tags", "note", "_comment",
		"inputs", "envFile", "env_file", "env_keys", "env_vars", "bearer_token_env_var", "bearer_token", "authorization_token", "server_label", "require_approval", "allowed_tools", "tool_configuration", "env_http_headers",
		"requestOptions", "requestInit", "tool_timeout_sec", "startup_timeout_sec", "startup_timeout_ms", "enabled_tools", "disabled_tools",
		"bundled", "display_name", "available_tools", "initTimeout", "serverInstructions", "iconPath", "chatMenu", "startup",
		"customUserVars", "watchPaths", "networkTimeout", "autoStart", "start_on_launch", "dev", "settings", "registryUrl",
		"key", "longRunning", "installSource", "reference", "required", "author", "homepage", "repository", "connectionTimeout", "schema":
		return true
	}
	return false
}

// Decoder reads the entries of one document.
type Decoder struct {
	Doc *jsonc.Doc
	// Foreign says that the entry may come from another program: small time
	// limits are then read as seconds, and keys that are left out are named.
	Foreign  bool
	Warnings []string
	// Missing names the values that the entry asks for without giving them, as
	// "env.KEY".
	Missing []string

	name string
	path string
}

type fail struct{ *Problem }

func (d *Decoder) fail(reason string, v *hujson.Value, path, format string, args ...any) {
	panic(fail{&Problem{Reason: reason, Message: d.label() + fmt.Sprintf(format, args...), Path: path, Offset: v.StartOffset}})
}

func (d *Decoder) label() string {
	if d.name == "" {
		return ""
	}
	return d.name + ": "
}

func (d *Decoder) warn(format string, args ...any) {
	d.Warnings = append(d.Warnings, d.label()+fmt.Sprintf(format, args...))
}

// Decode reads v, which stands at the JSON pointer path. name is the key under
// which it stands, "" if it has none; a "name" inside then counts. The name of
// the result is "" when there is neither.
func (d *Decoder) Decode(name, path string, v *hujson.Value) (spec core.ServerSpec, problem *Problem) {
	d.name, d.path = name, path
	defer func() {
		switch r := recover().(type) {
		case nil:
		case fail:
			problem = r.Problem
		default:
			panic(r)
		}
	}()
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		d.fail(WrongType, v, path, "a server must be an object, not %s.", jsonc.TypeName(v))
	}
	if m := jsonc.Member(o, "name"); m != nil && name == "" {
		s, ok := jsonc.String(m)
		if !ok {
			d.fail(WrongType, m, path+"/name", "the name must be text, not %s.", jsonc.TypeName(m))
		}
		d.name = strings.TrimSpace(s)
		d.checkName(m, d.name)
	} else if name != "" {
		d.checkName(v, name)
	}
	if dup := d.Doc.DuplicatesIn(v, path); dup != nil {
		panic(fail{&Problem{Reason: DuplicateKey, Message: d.label() + dup.Message, Path: dup.Path, Offset: dup.Offset}})
	}
	spec.Name = strings.TrimSpace(d.name)
	d.command(o, &spec)
	spec.Env = d.stringMap(o, "env")
	spec.Headers = d.stringMap(o, "headers")
	spec.Cwd = d.text(o, "cwd")
	spec.URL = strings.TrimSpace(d.address(o))
	d.switches(o, &spec)
	d.settings(o, &spec)
	if d.Foreign {
		d.extras(o, &spec)
	}
	d.transport(o, v, &spec)
	if d.Foreign {
		d.leftOut(o)
	}
	return spec, nil
}

func (d *Decoder) checkName(v *hujson.Value, name string) {
	switch {
	case strings.TrimSpace(name) == "":
		d.fail(BadName, v, d.path+"/name", "a server needs a name.")
	case len(name) > 200:
		d.name = ""
		d.fail(BadName, v, d.path+"/name", "a server's name may have at most 200 bytes, this one has %d.", len(name))
	case HasControl(name, false):
		d.name = strconv.Quote(name)
		d.fail(ControlChars, v, d.path+"/name", "the name holds a control character.")
	}
}

// command reads command and args in all their shapes.
func (d *Decoder) command(o *hujson.Object, spec *core.ServerSpec) {
	key := KeyOf(o, "command")
	path := d.path + "/" + key
	if m := jsonc.Member(o, key); m != nil {
		switch t := m.Value.(type) {
		case *hujson.Array:
			words := d.list(m, path)
			if len(words) > 0 {
				spec.Command, spec.Args = words[0], words[1:]
			}
		case *hujson.Object:
			spec.Command = d.text(t, "path")
			spec.Args = d.args(t, path)
			spec.Env = nil
		default:
			if m.Value.Kind() != 'n' {
				spec.Command = d.text(o, "command")
			}
		}
	}
	spec.Args = append(spec.Args, d.args(o, d.path)...)
	if d.Foreign && strings.ContainsAny(spec.Command, " \t") {
		d.splitCommand(spec)
	}
	d.checkText("command", jsonc.Member(o, key), path, spec.Command, false)
}

// splitCommand takes a whole command line apart that was put into "command". A
// path stays whole, because a folder's name may hold a space.
func (d *Decoder) splitCommand(spec *core.ServerSpec) {
	words, err := Split(spec.Command)
	if err != nil || len(words) < 2 {
		return
	}
	if quoted := strings.IndexByte("\"'", spec.Command[0]) >= 0; !quoted && strings.ContainsAny(words[0], `/\`) && !IsRunner(words[0]) {
		if len(spec.Args) > 0 {
			return
		}
		d.warn("the command has a space in it and was kept as one path; if the rest are arguments, put them into args.")
		return
	}
	spec.Command, spec.Args = words[0], append(words[1:len(words):len(words)], spec.Args...)
	d.warn("the command line was split into the command %q and %d arguments.", words[0], len(words)-1)
}

func (d *Decoder) args(o *hujson.Object, path string) []string {
	key := KeyOf(o, "args")
	m := jsonc.Member(o, key)
	if m == nil || m.Value.Kind() == 'n' {
		return nil
	}
	path += "/" + key
	if s, ok := jsonc.String(m); ok {
		words, err := Split(s)
		if err != nil {
			d.fail(WrongType, m, path, "args: %v.", err)
		}
		if len(words) > 0 {
			d.warn("args was one text and was split into %d arguments.", len(words))
		}
		for _, w := range words {
			d.checkText("args", m, path, w, true)
		}
		return words
	}
	return d.list(m, path)
}

func (d *Decoder) list(v *hujson.Value, path string) []string {
	a, ok := v.Value.(*hujson.Array)
	if !ok {
		d.fail(WrongType, v, path, "%s must be a list of texts, not %s.", last(path), jsonc.TypeName(v))
	}
	out := make([]string, 0, len(a.Elements))
	for i := range a.Elements {
		e := &a.Elements[i]
		at := path + "/" + strconv.Itoa(i)
		s, ok := d.scalar(e)
		if !ok {
			d.fail(WrongType, e, at, "%s must be a list of texts, but number %d is %s.", last(path), i+1, jsonc.TypeName(e))
		}
		if e.Value.Kind() != '"' {
			d.warn("number %d of %s was %s and is read as %q.", i+1, last(path), jsonc.TypeName(e), s)
		}
		d.checkText(last(path), e, at, s, true)
		out = append(out, s)
	}
	return out
}

func last(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// scalar reads text, a number or a boolean as text.
func (d *Decoder) scalar(v *hujson.Value) (string, bool) {
	lit, ok := v.Value.(hujson.Literal)
	if !ok || lit.Kind() == 'n' {
		return "", false
	}
	return lit.String(), true
}

// text reads an optional field that must be text.
func (d *Decoder) text(o *hujson.Object, field string) string {
	key := KeyOf(o, field)
	m := jsonc.Member(o, key)
	if m == nil || m.Value.Kind() == 'n' {
		return ""
	}
	s, ok := jsonc.String(m)
	if !ok {
		d.fail(WrongType, m, d.path+"/"+key, "%s must be text, not %s.", key, jsonc.TypeName(m))
	}
	if d.Foreign { // YAML's blocks of text end with a line break
		s = strings.Trim(s, " \t\r\n")
	}
	d.checkText(key, m, d.path+"/"+key, s, false)
	return s
}

// checkText refuses what no program could be started with.
func (d *Decoder) checkText(what string, v *hujson.Value, path, s string, lines bool) {
	if HasControl(s, lines) {
		d.fail(ControlChars, v, path, "%s holds a control character; remove it.", what)
	}
}

// HasControl reports whether s holds a control character. With lines, line
// breaks and tabs are let through.
func HasControl(s string, lines bool) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		if lines && (r == '\n' || r == '\r' || r == '\t') {
			return false
		}
		// Those that turn the direction of a text hide what would be run.
		return unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
	})
}

// address reads the URL; an entry may spell it in several ways, but not name two.
func (d *Decoder) address(o *hujson.Object) string {
	var found string
	for _, key := range keys("url") {
		m := jsonc.Member(o, key)
		if m == nil || m.Value.Kind() == 'n' {
			continue
		}
		s, ok := jsonc.String(m)
		if !ok {
			d.fail(WrongType, m, d.path+"/"+key, "%s must be text, not %s.", key, jsonc.TypeName(m))
		}
		if found != "" && s != found {
			d.fail(Ambiguous, m, d.path+"/"+key, "the entry names two addresses, %s and %s; keep one.", found, s)
		}
		if s != "" {
			found = s
		}
	}
	return found
}

func (d *Decoder) stringMap(o *hujson.Object, field string) map[string]string {
	key := KeyOf(o, field)
	m := jsonc.Member(o, key)
	path := d.path + "/" + key
	if m == nil { // Zed keeps env inside command
		if c, ok := memberObject(o, "command"); ok {
			m, path = jsonc.Member(c, field), d.path+"/command/"+field
		}
	}
	if m == nil || m.Value.Kind() == 'n' {
		return nil
	}
	out := map[string]string{}
	switch t := m.Value.(type) {
	case *hujson.Object:
		for i := range t.Members {
			k, v := jsonc.Key(&t.Members[i]), &t.Members[i].Value
			d.put(out, field, k, v, path+"/"+jsonc.Escape(k))
		}
	case *hujson.Array: // docker compose: ["KEY=value"]
		for i := range t.Elements {
			e := &t.Elements[i]
			at := path + "/" + strconv.Itoa(i)
			if inner, ok := e.Value.(*hujson.Object); ok { // [{"name": "KEY", "value": "…"}]
				if k, v := pair(inner); k != "" {
					d.put(out, field, k, v, at+"/value")
					continue
				}
			}
			s, _ := jsonc.String(e)
			k, v, ok := strings.Cut(s, "=")
			if !ok {
				d.fail(WrongType, e, at, "%s must be an object; in a list each entry must read KEY=value.", key)
			}
			lit := hujson.Value{Value: hujson.String(v), StartOffset: e.StartOffset}
			d.put(out, field, k, &lit, at)
		}
	default:
		d.fail(WrongType, m, path, "%s must be an object, not %s.", key, jsonc.TypeName(m))
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// pair takes {"name": "KEY", "value": "…"} apart; the name is "" for what is none.
func pair(o *hujson.Object) (name string, value *hujson.Value) {
	value = jsonc.Member(o, "value")
	for _, key := range []string{"name", "key"} {
		if m := jsonc.Member(o, key); m != nil && value != nil && name == "" {
			name, _ = jsonc.String(m)
		}
	}
	return name, value
}

func (d *Decoder) put(out map[string]string, field, k string, v *hujson.Value, path string) {
	var s string
	switch {
	case v.Value.Kind() == 'n':
		d.warn("%s.%s was null and is read as empty.", field, k)
	default:
		var ok bool
		if s, ok = d.scalar(v); !ok {
			d.fail(WrongType, v, path, "%s.%s must be text, not %s.", field, k, jsonc.TypeName(v))
		}
		if v.Value.Kind() != '"' {
			d.warn("%s.%s was %s and is read as the text %q.", field, k, jsonc.TypeName(v), s)
		}
	}
	if k == "" || strings.ContainsAny(k, "=\x00") && field == "env" || HasControl(k, false) {
		d.fail(ControlChars, v, path, "%q cannot be a name in %s.", k, field)
	}
	if field == "headers" && !IsHeader(k) {
		d.fail(BadName, v, path, "%s", NotHeader(k))
	}
	if HasControl(s, field == "env") {
		d.fail(ControlChars, v, path, "%s.%s holds a control character; remove it.", field, k)
	}
	out[k] = s
}

// IsHeader reports whether a header of HTTP can have this name.
func IsHeader(name string) bool { return httpguts.ValidHeaderFieldName(name) }

// NotHeader is the sentence for a name that is none.
func NotHeader(name string) string {
	return fmt.Sprintf("%s cannot be the name of a header; write it with letters, digits and dashes, without spaces.", core.Clip(strconv.Quote(name), 40))
}

func memberObject(o *hujson.Object, key string) (*hujson.Object, bool) {
	m := jsonc.Member(o, key)
	if m == nil {
		return nil, false
	}
	t, ok := m.Value.(*hujson.Object)
	return t, ok
}

func (d *Decoder) switches(o *hujson.Object, spec *core.ServerSpec) {
	for _, key := range keys("disabled") {
		m := jsonc.Member(o, key)
		if m == nil || m.Value.Kind() == 'n' {
			continue
		}
		lit, _ := m.Value.(hujson.Literal)
		if k := m.Value.Kind(); k != 't' && k != 'f' {
			d.fail(WrongType, m, d.path+"/"+key, "%s must be true or false, not %s.", key, jsonc.TypeName(m))
		}
		spec.Disabled = lit.Bool() == (key == "disabled")
		break
	}
}

const maxMillis = 24 * 3600 * 1000

// Millis reads a time limit in milliseconds: a whole number from 0 to a day.
func Millis(v *hujson.Value) (int64, bool) {
	lit, ok := v.Value.(hujson.Literal)
	if !ok || lit.Kind() != '0' {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(lit), 64)
	if err != nil || f < 0 || f > maxMillis || f != math.Trunc(f) {
		return 0, false
	}
	return int64(f), true
}

// leftOut names what an entry of another program has and we do not use.
func (d *Decoder) leftOut(o *hujson.Object) {
	known := map[string]bool{}
	for _, f := range []string{"transport", "url", "env", "headers", "cwd", "disabled", "args", "command"} {
		for _, k := range keys(f) {
			known[k] = true
		}
	}
	for _, s := range Settings(&core.ServerSpec{}) {
		known[s.Key] = true
	}
	for i := range o.Members {
		if k := jsonc.Key(&o.Members[i]); !known[k] && !ignored(k) {
			d.warn("the key %q is not known here and was left out.", core.Clip(k, 40))
		}
	}
}
