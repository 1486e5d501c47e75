package paste

import (
	"encoding/base64"
	"net/url"
	"strings"
	"unicode/utf8"

	"patchbay/backend/config/internal/entry"
	"patchbay/backend/core"
)

// BadLink is the reason for a link whose configuration cannot be unpacked.
const BadLink Reason = "bad_link"

// linkDialect reads the links by which web pages add a server to a program. A
// link of a program is read for what it holds; nothing is opened.
func linkDialect() dialect {
	return dialect{
		match: func(t string) bool { return !strings.ContainsAny(t, " \t\n") && isLink(t) },
		parse: func(p *parser, src source) *Error { return p.link(src, 0, src.text) },
	}
}

// isLink reports whether s is a link to a program rather than to a server.
func isLink(s string) bool {
	if isWebAddress(s) {
		return isInstallPage(s)
	}
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok || len(scheme) < 2 || len(scheme) > 30 || rest == "" {
		return false
	}
	for _, r := range scheme {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("+-.", r) {
			return false
		}
	}
	switch scheme {
	case "vscode", "vscode-insiders", "cursor", "patchbay", "lmstudio":
		return true
	}
	return strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "mcp/") || strings.HasPrefix(rest, "/install")
}

// isInstallPage knows the web pages that do nothing but open such a link. Other
// addresses are servers, even if they carry a parameter "config".
func isInstallPage(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.RawQuery == "" {
		return false
	}
	switch strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.") {
	case "cursor.com":
		return strings.HasSuffix(u.Path, "/install-mcp") || strings.HasPrefix(u.Path, "/link/mcp")
	case "vscode.dev", "insiders.vscode.dev":
		return strings.HasPrefix(u.Path, "/redirect")
	case "lmstudio.ai":
		return strings.HasSuffix(u.Path, "install-mcp")
	case "kiro.dev":
		return strings.HasPrefix(u.Path, "/launch/mcp")
	}
	return false
}

// payload is what a link holds: JSON, or the parts of one server.
type payload struct {
	name string
	json string
	tree *tree
	must []string
}

// link adds the servers of the link s, which stands at the byte off of src.
func (p *parser) link(src source, off int, s string) *Error {
	scheme, _, _ := strings.Cut(s, ":")
	switch strings.ToLower(scheme) {
	case "ws", "wss":
		return p.errorAt(src, off, UnknownTransport, "Servers cannot be reached over WebSocket (%s://); use an http or https address.", scheme)
	case "ftp", "ftps", "sftp", "file", "tcp", "udp", "unix", "ssh", "git", "stdio":
		return p.errorAt(src, off, BadURL, "An address of a server must begin with http:// or https://, not with %s:.", scheme)
	}
	got, msg := unpack(strings.ReplaceAll(s, "&amp;", "&"), 0)
	if msg != "" {
		return p.errorAt(src, off, BadLink, "%s", msg)
	}
	if got.tree != nil {
		got.json, _ = got.tree.render()
	}
	if got.json == "" {
		return p.errorAt(src, off, UnknownLink, "This link (%s:…) holds no configuration that can be read. Paste the server's JSON, its http address or its command line.", core.Clip(scheme, 80))
	}
	// What was packed has not been seen by anyone yet.
	if hidden := (&parser{text: got.json}).checkCharacters(); hidden != nil {
		return p.errorAt(src, off, ControlChars, "What is packed into the link holds an invisible control character. Ask for another link.")
	}
	before := len(p.found)
	d, used, err := p.load(inner(got.json, src.offset(off)))
	if err == nil {
		err = p.collect(d, used)
	}
	if err != nil {
		err.Message = "In the link: " + err.Message
		err.Line, err.Column = p.position(src.offset(off))
		return err
	}
	if len(p.found) == before+1 {
		f := &p.found[before]
		f.missing = append(f.missing, got.must...)
		if name := strings.TrimSpace(got.name); f.spec.Name == "" && name != "" && len(name) <= 200 && !entry.HasControl(name, false) {
			f.name(name)
		}
	}
	return nil
}

// unpack takes a link apart. msg says what is wrong with it.
func unpack(s string, depth int) (out payload, msg string) {
	head, query, _ := strings.Cut(s, "?")
	query, _, _ = strings.Cut(query, "#")
	if j := jsonText(query); j != "" { // vscode:mcp/install?{…}
		return payload{json: j}, ""
	}
	params := parameters(query)
	if next := params.get("url"); depth == 0 && next != "" && !isWebAddress(next) && isLink(next) {
		_, raw, _ := strings.Cut(query, "url=")
		if t, err := url.PathUnescape(raw); err == nil {
			next = t
		}
		return unpack(next, depth+1)
	}
	out.name = params.get("name")
	if out.name == "" {
		out.name = params.get("id")
	}
	for _, key := range []string{"config", "servers", "server", "json", "mcp", "data"} {
		v := params.get(key)
		if v == "" {
			continue
		}
		if out.json = jsonText(v); out.json == "" {
			out.json = base64Text(v)
		}
		if out.json == "" {
			return out, "The configuration in the link (" + key + "=…) is neither JSON nor base64, or it is cut off. Copy the link again, to its end."
		}
		return out, ""
	}
	if !isWebAddress(head) {
		out.fromParts(params)
	}
	return out, ""
}

// fromParts reads the links that name the parts of a server: cmd, arg, env, url.
func (l *payload) fromParts(params query) {
	o := object(0)
	command := params.get("cmd")
	if command == "" {
		command = params.get("command")
	}
	switch u := params.get("url"); {
	case command != "":
		o.put("command", 0, text(command, 0))
		o.put("args", 0, textList(append(params["arg"], params["args"]...)...))
		env := object(0)
		for _, e := range params["env"] {
			// Behind the name stands what the value is for, not the value.
			k, _, _ := strings.Cut(e, "=")
			env.put(k, 0, text("", 0))
			l.must = append(l.must, "env."+k)
		}
		o.put("env", 0, env)
	case u != "":
		o.put("url", 0, text(u, 0))
		if t := params.get("type"); t != "" {
			o.put("type", 0, text(t, 0))
		}
	default:
		return
	}
	l.tree = o
}

// query is the part of a link behind "?". url.ParseQuery refuses semicolons,
// which stand in configurations.
type query map[string][]string

func parameters(s string) query {
	out := query{}
	for _, part := range strings.SplitN(s, "&", 200) {
		k, v, _ := strings.Cut(part, "=")
		if t, err := url.QueryUnescape(v); err == nil {
			v = t
		}
		out[k] = append(out[k], v)
	}
	return out
}

func (q query) get(key string) string {
	for _, v := range q[key] {
		if v != "" {
			return v
		}
	}
	return ""
}

// jsonText returns s if it is JSON, perhaps written for an address.
func jsonText(s string) string {
	for range 3 {
		s = strings.TrimSpace(s)
		if strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") {
			return s
		}
		t, err := url.PathUnescape(s)
		if err != nil || t == s {
			return ""
		}
		s = t
	}
	return ""
}

// base64Text unpacks base64 in all its alphabets, with or without padding.
func base64Text(s string) string {
	s = strings.NewReplacer(" ", "+", "-", "+", "_", "/", "\n", "", "\r", "").Replace(strings.TrimSpace(s))
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	if err != nil || !utf8.Valid(b) {
		return ""
	}
	return jsonText(string(b))
}

// linkStarts are how the links begin that are looked for inside other text.
func linkStarts() []string {
	return []string{"cursor://", "https://cursor.com/", "https://www.cursor.com/", "vscode:mcp/", "vscode-insiders:mcp/", "https://insiders.vscode.dev/redirect",
		"https://vscode.dev/redirect", "patchbay://", "lmstudio://", "https://lmstudio.ai/", "goose://", "kiro://", "https://kiro.dev/launch"}
}

// links reads the first link of a text that holds a server: the others add the
// same server to other programs.
func (p *parser) links(src source) (ok bool) {
	tries := 50
	for _, start := range linkStarts() {
		for off := 0; tries > 0; {
			i := strings.Index(src.text[off:], start)
			if i < 0 {
				break
			}
			i += off
			end := strings.IndexFunc(src.text[i:], func(r rune) bool { return isSpace(r) || strings.ContainsRune("()[]<>\"'`", r) })
			if end < 0 {
				end = len(src.text) - i
			}
			off = i + end
			if s := src.text[i:off]; isLink(s) {
				tries--
				before := len(p.found)
				if err := p.link(src, i, s); err == nil {
					p.warn("Only the link %q was read; the rest of the text is not configuration.", core.Clip(s, 80))
					return true
				}
				p.found = p.found[:before]
			}
		}
	}
	return false
}
