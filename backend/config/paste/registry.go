package paste

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"patchbay/backend/config/internal/entry"
	"patchbay/backend/config/internal/jsonc"
	"patchbay/backend/core"
)

// isRegistry reports whether o describes a server as the MCP registry does
// (server.json): with packages or remotes.
func isRegistry(o *hujson.Object) bool {
	if m := jsonc.Member(o, "name"); m == nil {
		return false
	}
	for _, field := range []string{"packages", "remotes"} {
		m := jsonc.Member(o, field)
		if m == nil {
			continue
		}
		for _, e := range elements(m) {
			inner, ok := e.Value.(*hujson.Object)
			if !ok {
				continue
			}
			for _, k := range []string{"registryType", "registry_type", "registry_name", "registryName", "identifier", "transport_type", "url"} {
				if jsonc.Member(inner, k) != nil {
					return true
				}
			}
		}
	}
	return false
}

// data is a JSON object whose fields may be spelled in two ways: the registry
// wrote them with underscores once.
type data map[string]any

func (d data) value(name string) any {
	if v, ok := d[name]; ok {
		return v
	}
	var b strings.Builder
	for _, r := range name {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return d[b.String()]
}

func (d data) text(names ...string) string {
	for _, n := range names {
		switch v := d.value(n).(type) {
		case string:
			if v != "" {
				return v
			}
		case bool:
			return strconv.FormatBool(v)
		case json.Number:
			return v.String()
		}
	}
	return ""
}

func (d data) object(name string) data {
	o, _ := d.value(name).(map[string]any)
	return o
}

func (d data) list(name string) []data {
	l, _ := d.value(name).([]any)
	out := make([]data, 0, len(l))
	for _, v := range l {
		if o, ok := v.(map[string]any); ok {
			out = append(out, o)
		}
	}
	return out
}

// required is true for a value that the person has to give.
func (d data) required() bool { return d.text("isRequired") == "true" }

// registry reads a description of the MCP registry. Its packages and remotes
// are ways to the same server: the first that can be used is taken.
func (c *collector) registry(path string, v *hujson.Value) {
	c.hit = true
	c.n++
	var d data
	dec := json.NewDecoder(strings.NewReader(string(jsonc.Standard(v))))
	dec.UseNumber()
	f := found{src: c.src, offset: v.StartOffset, path: path}
	if err := dec.Decode(&d); err != nil {
		f.problem = &entry.Problem{Reason: entry.WrongType, Message: "The description of the server cannot be read.", Path: path, Offset: v.StartOffset}
		c.p.add(f)
		return
	}
	name := registryName(d.text("name"))
	f.spec.Name, f.named = name, name != ""
	packages, remotes := d.list("packages"), d.list("remotes")
	var ways, unusable []string
	var r *recipe
	for _, pkg := range packages {
		next, why := packageRecipe(pkg)
		switch {
		case why != "":
			unusable = append(unusable, why)
		case r == nil:
			r = next
		default:
			ways = append(ways, pkg.text("registryType", "registryName", "packageType")+" "+pkg.text("identifier", "name"))
		}
	}
	for _, rem := range remotes {
		if r == nil {
			r = remoteRecipe(rem)
			continue
		}
		ways = append(ways, rem.text("url"))
	}
	if len(unusable) == 0 {
		unusable = []string{"the description names no package and no address; paste the server's command line instead."}
	}
	if r == nil {
		f.problem = &entry.Problem{Reason: entry.UnknownTransport, Path: path, Offset: v.StartOffset,
			Message: name + ": " + strings.Join(unusable, " And ")}
		c.p.add(f)
		return
	}
	rendered, _ := r.tree().render()
	used := inner(rendered, c.src.offset(v.StartOffset))
	doc, err := jsonc.Parse([]byte(rendered))
	if err != nil { // our own JSON
		f.problem = &entry.Problem{Reason: entry.WrongType, Message: name + ": " + err.Message, Path: path, Offset: v.StartOffset}
		c.p.add(f)
		return
	}
	decoder := entry.Decoder{Doc: doc, Foreign: true}
	f.src, f.offset = used, 0
	f.spec, f.problem = decoder.Decode(name, path, &doc.Root)
	if f.problem != nil {
		f.problem.Offset = 0
	}
	f.spec.Name = name
	f.warnings = append(decoder.Warnings, r.warnings...)
	f.missing = r.missing
	if len(ways) > 0 {
		f.warnings = append(f.warnings, name+": the description offers other ways as well ("+core.Clip(strings.Join(ways, ", "), 80)+"); the first one was taken.")
	}
	c.p.add(f)
}

// registryName makes "weather" of "io.github.someone/weather".
func registryName(s string) string {
	publisher, name, ok := strings.Cut(s, "/")
	if !ok {
		return s
	}
	if name == "mcp" || name == "server" || name == "mcp-server" || name == "" {
		return publisher[strings.LastIndexByte(publisher, '.')+1:]
	}
	return name
}

// recipe is how one package or remote is reached.
type recipe struct {
	command, url, transport string
	args                    []string
	env, headers            [][2]string
	missing, warnings       []string
}

func (r *recipe) tree() *tree {
	o := object(0)
	pairs := func(name string, from [][2]string) {
		m := object(0)
		for _, kv := range from {
			if m.get(kv[0]) == nil {
				m.put(kv[0], 0, text(kv[1], 0))
			}
		}
		o.put(name, 0, m)
	}
	if r.url != "" {
		o.put("url", 0, text(r.url, 0))
		pairs("headers", r.headers)
		if r.transport != "" {
			o.put("type", 0, text(r.transport, 0))
		}
		return o
	}
	o.put("command", 0, text(r.command, 0))
	o.put("args", 0, texts(0, r.args))
	pairs("env", r.env)
	return o
}

func packageRecipe(pkg data) (r *recipe, why string) {
	kind := strings.ToLower(pkg.text("registryType", "registryName", "packageType"))
	id, version := pkg.text("identifier", "name"), pkg.text("version")
	if t := pkg.object("transport").text("type"); t != "" && t != "stdio" {
		return nil, "the package " + id + " starts a web server (" + t + ") instead of speaking over stdio; start it yourself and paste its address."
	}
	if id == "" {
		return nil, "a package has no identifier; paste the server's command line instead."
	}
	r = &recipe{command: pkg.text("runtimeHint")}
	runtime := r.arguments(pkg.list("runtimeArguments"))
	more := r.arguments(pkg.list("packageArguments"))
	for _, e := range pkg.list("environmentVariables") {
		name := e.text("name")
		if v, ok := r.value(e, "env."+name); ok && name != "" {
			r.env = append(r.env, [2]string{name, v})
		}
	}
	at := id
	if version != "" && version != "latest" && !strings.Contains(strings.TrimPrefix(id, "@"), "@") {
		at += "@" + version
	}
	// Some publishers write the package among the arguments of its runner.
	whole := slices.ContainsFunc(runtime, func(a string) bool { return a == id || strings.HasPrefix(a, id+"@") || strings.HasPrefix(a, id+":") })
	hint := func(command string, first ...string) {
		if r.command == "" {
			r.command = command
		}
		if r.command == command {
			for _, a := range first {
				if !slices.Contains(runtime, a) {
					r.args = append(r.args, a)
				}
			}
		}
		r.args = append(r.args, runtime...)
	}
	switch kind {
	case "npm":
		hint("npx", "-y")
	case "pypi":
		hint("uvx")
	case "nuget":
		hint("dnx")
		if !whole {
			r.args = append(r.args, at)
		}
		if !slices.Contains(runtime, "--yes") && !slices.Contains(runtime, "-y") {
			r.args = append(r.args, "--yes")
		}
		if len(more) > 0 {
			r.args = append(append(r.args, "--"), more...)
		}
		return r, ""
	case "oci", "docker":
		if slices.Contains(runtime, "run") {
			runtime = slices.DeleteFunc(runtime, func(a string) bool { return a == "run" })
		}
		r.args = append(r.args, "run")
		hint("docker", "-i", "--rm")
		for _, e := range r.env {
			if !slices.ContainsFunc(runtime, func(a string) bool { return a == e[0] || strings.HasPrefix(a, e[0]+"=") }) {
				r.args = append(r.args, "-e", e[0])
			}
		}
		at = id
		if tail := id[strings.LastIndexByte(id, '/')+1:]; version != "" && !strings.ContainsAny(tail, ":@") {
			at += ":" + version
		}
	case "":
		return nil, "the package " + id + " does not say from which registry it comes; paste the server's command line instead."
	default:
		return nil, "packages of the kind " + kind + " (" + core.Clip(id, 80) + ") are not read here; paste the server's command line instead."
	}
	if !whole {
		r.args = append(r.args, at)
	}
	r.args = append(r.args, more...)
	return r, ""
}

func remoteRecipe(rem data) *recipe {
	r := &recipe{url: fill(rem.text("url"), rem.object("variables")), transport: rem.text("type", "transportType")}
	for _, h := range rem.list("headers") {
		name := h.text("name")
		if v, ok := r.value(h, "headers."+name); ok && name != "" {
			r.headers = append(r.headers, [2]string{name, v})
		}
	}
	return r
}

// arguments turns the registry's arguments into words.
func (r *recipe) arguments(list []data) []string {
	var out []string
	for _, a := range list {
		v := fill(a.text("value", "default"), a.object("variables"))
		hint := a.text("valueHint", "name", "description")
		switch {
		case a.text("type") == "named" || a.text("type") == "" && strings.HasPrefix(a.text("name"), "-"):
			name := a.text("name")
			if v == "" && a.required() && (a.text("valueHint") != "" || a.text("format") != "" && a.text("format") != "boolean" || a.text("isSecret") == "true") {
				v = "<" + strings.TrimLeft(hint, "-") + ">"
			}
			if v == "" && !a.required() && a.text("valueHint", "format", "choices") != "" {
				continue // an optional argument that nobody gave
			}
			if v == "true" && a.text("format") == "boolean" {
				v = ""
			}
			out = append(out, name)
			if v != "" {
				out = append(out, v)
			}
		case v != "":
			out = append(out, v)
		case a.required():
			out = append(out, "<"+hint+">")
		}
	}
	return out
}

// value returns what to put for an environment variable or a header; ok is
// false for an optional one without a value.
func (r *recipe) value(d data, place string) (v string, ok bool) {
	v = fill(d.text("value", "default"), d.object("variables"))
	if v == "" && d.required() {
		r.missing = append(r.missing, place)
		return "", true
	}
	return v, v != ""
}

// fill puts the values of the variables in; one without a value becomes a
// placeholder for the person.
func fill(s string, vars data) string {
	for name := range vars {
		v := vars.object(name)
		value := fillOnce(v.text("value", "default"))
		if value == "" {
			value = "<" + name + ">"
		}
		s = strings.ReplaceAll(s, "{"+name+"}", value)
	}
	return s
}

// fillOnce keeps a value from being filled in again by another variable.
func fillOnce(s string) string { return strings.NewReplacer("{", "", "}", "").Replace(s) }
