package paste

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"patchbay/backend/config/internal/entry"
	"patchbay/backend/config/internal/jsonc"
)

// jsonDialect reads JSON in all its forms: whole files, fragments without their
// braces, several values after each other.
func jsonDialect() dialect {
	return dialect{
		match: func(t string) bool {
			return strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") && !isMarkdownLink(t) || isFragment(t) ||
				strings.HasPrefix(t, "//") || strings.HasPrefix(t, "/*")
		},
		parse: (*parser).json,
	}
}

// isMarkdownLink reports whether t begins with [text](address), as a README
// with badges does.
func isMarkdownLink(t string) bool {
	return strings.HasPrefix(t, "[!") || strings.Contains(t[:lineEnd(t, 0)], "](")
}

// isFragment reports whether t begins with a key and its value, as in
// `"github": {` or `mcpServers: {`.
func isFragment(t string) bool {
	t = strings.TrimLeftFunc(t, func(r rune) bool { return r == ',' || isSpace(r) })
	c, n := utf8.DecodeRuneInString(t)
	var rest string
	switch {
	case isDouble(c) || isSingle(c):
		end := strings.IndexFunc(t[n:], func(r rune) bool { return r == '\n' || isDouble(r) || isSingle(r) })
		if end < 0 {
			return false
		}
		_, m := utf8.DecodeRuneInString(t[n+end:])
		rest = t[n+end+m:]
	case unicode.IsLetter(c) || c == '_':
		end := strings.IndexFunc(t, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.", r)
		})
		if end < 0 {
			return false
		}
		rest = t[end:]
		colon := strings.TrimLeftFunc(rest, isSpace)
		return strings.HasPrefix(colon, ":") && strings.HasPrefix(strings.TrimLeftFunc(colon[1:], isSpace), "{")
	default:
		return false
	}
	return strings.HasPrefix(strings.TrimLeftFunc(rest, isSpace), ":")
}

func (p *parser) json(src source) *Error {
	whole := src
	src.text = strings.TrimRight(src.text, ",; \t\r\n")
	if cut := strings.TrimLeft(src.text, ", \t\r\n"); cut != src.text {
		src = src.sub(len(src.text)-len(cut), len(src.text))
	}
	fragment := isFragment(src.text)
	if fragment {
		src = wrap(trimClosers(src))
	}
	d, used, err := p.load(src)
	if err == nil {
		return p.collect(d, used)
	}
	if err.Reason == NotJSON && !fragment {
		if ok, broken, rerr := p.regions(whole); ok {
			if broken != nil { // some servers are lost in it; that must not go unseen
				p.rejected = append(p.rejected, Rejected{Error: broken})
			}
			return rerr
		}
	}
	return err
}

// wrap puts braces around a fragment.
func wrap(s source) source {
	at := make([]int32, 0, len(s.text)+3)
	at = append(at, 0)
	for i := range len(s.text) {
		at = append(at, int32(i))
	}
	end := int32(max(len(s.text)-1, 0))
	at = append(at, end, end)
	if s.at != nil {
		for i, v := range at {
			at[i] = s.at[min(int(v), len(s.at)-1)]
		}
	}
	return source{text: "{" + s.text + "\n}", base: s.base, at: at}
}

// trimClosers takes away brackets at the end that nothing opened: people
// select one too many.
func trimClosers(s source) source {
	depth, extra := 0, 0
	walk(s.text, func(_ int, c byte) bool {
		if c == '{' || c == '[' {
			depth++
		} else if depth > 0 {
			depth--
		} else {
			extra++
		}
		return true
	})
	for ; extra > 0; extra-- {
		t := strings.TrimRight(s.text, ", \t\r\n")
		if t == "" || (t[len(t)-1] != '}' && t[len(t)-1] != ']') {
			break
		}
		s.text = t[:len(t)-1]
	}
	return s
}

// walk calls f for each bracket outside quotes and comments, until f returns false.
func walk(t string, f func(i int, c byte) bool) {
	for i := 0; i < len(t); i++ {
		switch c := t[i]; {
		case c == '"':
			for i++; i < len(t) && t[i] != '"' && t[i] != '\n'; i++ {
				if t[i] == '\\' {
					i++
				}
			}
		case strings.HasPrefix(t[i:], "//") && (i == 0 || t[i-1] != ':'):
			i = lineEnd(t, i)
		case strings.HasPrefix(t[i:], "/*"):
			j := strings.Index(t[i+2:], "*/")
			if j < 0 {
				return
			}
			i += j + 3
		case c == '{' || c == '[' || c == '}' || c == ']':
			if !f(i, c) {
				return
			}
		}
	}
}

// load parses src as it is and, if that fails, repaired. It returns the source
// that could be parsed.
func (p *parser) load(src source) (*jsonc.Doc, source, *Error) {
	d, err := jsonc.ParsePart([]byte(src.text), p.placer(src))
	if err == nil {
		return d, src, nil
	}
	out, at, notes := repair(src.text)
	if err.Kind == jsonc.TooDeep || err.Kind == jsonc.Empty || out == src.text {
		return nil, src, p.convert(src, err)
	}
	fixed := source{text: out, base: src.base, at: at}
	if src.at != nil {
		for i, v := range at {
			fixed.at[i] = src.at[v]
		}
	}
	d, err2 := jsonc.ParsePart([]byte(out), p.placer(fixed))
	if err2 != nil {
		if fixed.offset(err2.Offset) >= src.offset(err.Offset) {
			return nil, src, p.convert(fixed, err2)
		}
		return nil, src, p.convert(src, err)
	}
	p.warnings = append(p.warnings, notes...)
	return d, fixed, nil
}

func (p *parser) placer(src source) func(int) (int, int) {
	return func(off int) (int, int) { return p.position(src.offset(off)) }
}

func (p *parser) convert(src source, err *jsonc.Error) *Error {
	reason := map[jsonc.Kind]Reason{jsonc.Empty: Empty, jsonc.Truncated: Truncated, jsonc.TooDeep: TooDeep, jsonc.Duplicate: DuplicateKey}[err.Kind]
	if reason == "" {
		reason = NotJSON
	}
	e := p.errorAt(src, err.Offset, reason, "%s", err.Message)
	e.Path = err.Path
	return e
}

// regions reads each balanced piece of JSON in a text that is not JSON as a
// whole. ok is false when there is none with servers in it; a region that holds
// none is passed over.
//
// broken says what is wrong with the first piece that could not be read as a
// whole; those inside it are tried.
func (p *parser) regions(src source) (ok bool, broken, err *Error) {
	effort := regionEffort
	for i := 0; i < len(src.text) && effort > 0; {
		start := strings.IndexAny(src.text[i:], "{[")
		if start < 0 {
			break
		}
		start += i
		end := balanced(src.text, start)
		if end < 0 {
			break
		}
		effort -= end - start + regionCost
		from := keyBefore(src.text, start)
		if from == start && isValue(src.text, start) {
			i = end
			continue
		}
		piece := src.sub(from, end)
		if from < start {
			piece = wrap(piece)
		}
		d, used, lerr := p.load(piece)
		if lerr == nil {
			if cerr := p.collect(d, used); cerr == nil {
				ok = true
			} else if cerr.Reason != NoServers {
				err = cerr
			}
			i = end
			continue
		}
		if broken == nil && strings.Contains(piece.text, ":") { // not {this} in a sentence
			broken = lerr
		}
		i = start + 1
	}
	return ok, broken, err
}

// regionEffort bounds how much of a text that is not JSON is looked at, in
// bytes, counting each piece as often as it is tried and regionCost for the try.
const (
	regionEffort = 3 * MaxBytes
	regionCost   = 16 << 10
)

// balanced returns the end of the bracket that opens at start, -1 if it does not close.
func balanced(t string, start int) int {
	depth, end := 0, -1
	walk(t[start:], func(i int, c byte) bool {
		if c == '{' || c == '[' {
			depth++
		} else {
			depth--
		}
		if depth <= 0 {
			end = start + i + 1
			return false
		}
		return true
	})
	return end
}

// keyBefore returns where the key of the value at start begins, start if the
// value has none.
func keyBefore(t string, start int) int {
	head := strings.TrimRight(t[:start], " \t")
	if !strings.HasSuffix(head, ":") {
		return start
	}
	if len(head) > maxKeyLine {
		head = head[len(head)-maxKeyLine:]
	}
	line := head[strings.LastIndexByte(head, '\n')+1:]
	key := strings.TrimLeft(line, " \t")
	if isFragment(key + t[start:start+1]) {
		return len(strings.TrimRight(t[:start], " \t")) - len(key)
	}
	return start
}

// isValue reports whether the list at start belongs to a name in some program's
// text, as in args=["server.py"]: alone it would be taken for a command.
func isValue(t string, start int) bool {
	if t[start] != '[' {
		return false
	}
	head := strings.TrimRight(t[max(0, start-maxKeyLine):start], " \t")
	return strings.HasSuffix(head, "=") || strings.HasSuffix(head, ":") || strings.HasSuffix(head, "(")
}

// maxKeyLine is how far before a bracket its key is looked for.
const maxKeyLine = 300

// collector finds the servers in a tree.
type collector struct {
	p   *parser
	d   *jsonc.Doc
	src source
	n   int  // servers found
	hit bool // a place for servers was found, perhaps an empty one
}

// collect adds the servers of a document.
func (p *parser) collect(d *jsonc.Doc, src source) *Error {
	c := &collector{p: p, d: d, src: src}
	switch t := d.Root.Value.(type) {
	case *hujson.Object:
		if err := c.object(&d.Root, t, "", 0); err != nil {
			return err
		}
		if tools := jsonc.Member(t, "tools"); c.n > 0 && tools != nil && len(elements(tools)) > 0 && !callsServers(tools) {
			p.warn("The %d custom tools in the text were left out; only servers are read.", len(elements(tools)))
		}
	case *hujson.Array:
		if !c.argv(t) {
			if err := c.container(&d.Root, ""); err != nil {
				return err
			}
		}
	}
	switch {
	case c.n > 0:
		return nil
	case c.hit:
		return p.errorAt(src, d.Root.StartOffset, NoServers, "The place for servers is empty: there is no server in it.")
	}
	return p.errorAt(src, d.Root.StartOffset, NoServers,
		`There is no server in this configuration. It should look like {"mcpServers": {"name": {"command": "npx", "args": ["…"]}}}.`)
}

func elements(v *hujson.Value) []hujson.Value {
	if a, ok := v.Value.(*hujson.Array); ok {
		return a.Elements
	}
	return nil
}

// isWrapper reports whether servers stand under this key.
func isWrapper(key string) bool {
	switch key {
	case "mcpServers", "modelContextProtocolServers", "mcp_servers", "mcp-servers", "servers", "context_servers", "contextServers", "mcp.servers":
		return true
	}
	return strings.HasSuffix(key, ".mcpServers") || strings.HasSuffix(key, ".mcp.servers") || strings.HasSuffix(key, ".context_servers")
}

func (c *collector) object(v *hujson.Value, o *hujson.Object, path string, depth int) *Error {
	if isRegistry(o) {
		c.registry(path, v)
		return nil
	}
	if isManifest(o) {
		return c.p.errorAt(c.src, v.StartOffset, NoServers, "This is the manifest of a bundle, which runs only inside of it. Add the bundle itself: the file that ends in .mcpb or .dxt.")
	}
	seen := map[string]bool{}
	wrapped := false
	for i := range o.Members {
		m := &o.Members[i]
		key := jsonc.Key(m)
		at := path + "/" + jsonc.Escape(key)
		switch {
		case isWrapper(key):
		case key == "tools" && callsServers(&m.Value):
		case (key == "mcp" || key == "extensions") && c.holdsServers(&m.Value):
		default:
			continue
		}
		wrapped, c.hit = true, true
		if seen[key] {
			c.p.warn("The key %q stands in the text more than once; the servers of each are read.", key)
		}
		seen[key] = true
		if err := c.container(&m.Value, at); err != nil {
			return err
		}
	}
	switch {
	case wrapped:
		return nil
	case looksLikeServer(v):
		c.add("", path, v)
		return nil
	case c.holdsServers(v):
		return c.container(v, path)
	case depth >= 6:
		return nil
	}
	for i := range o.Members {
		m := &o.Members[i]
		if child, ok := m.Value.Value.(*hujson.Object); ok {
			if err := c.object(&m.Value, child, path+"/"+jsonc.Escape(jsonc.Key(m)), depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// holdsServers reports whether a member of v looks like a server.
func (c *collector) holdsServers(v *hujson.Value) bool {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return false
	}
	for i := range o.Members {
		if looksLikeServer(&o.Members[i].Value) {
			return true
		}
	}
	return false
}

// container reads the servers under a wrapper: an object by name or a list.
func (c *collector) container(v *hujson.Value, path string) *Error {
	c.hit = true
	switch t := v.Value.(type) {
	case *hujson.Object:
		if looksLikeServer(v) {
			c.add("", path, v)
			return nil
		}
		for i := range t.Members {
			if len(c.p.found) > MaxServers {
				return tooMany()
			}
			m := &t.Members[i]
			key := jsonc.Key(m)
			at := path + "/" + jsonc.Escape(key)
			if _, isObject := m.Value.Value.(*hujson.Object); !isObject {
				if strings.HasPrefix(key, "$") || strings.HasPrefix(key, "_") || strings.HasPrefix(key, "/") || key == "inputs" || key == "version" {
					continue
				}
				if s, ok := jsonc.String(&m.Value); ok && c.line(key, at, s, &m.Value) {
					continue
				}
			}
			c.add(key, at, &m.Value)
		}
	case *hujson.Array:
		for i := range t.Elements {
			if len(c.p.found) > MaxServers {
				return tooMany()
			}
			e := &t.Elements[i]
			at := path + "/" + strconv.Itoa(i)
			if c.described(e, at) {
				continue
			}
			if s, ok := jsonc.String(e); ok && c.line("", at, s, e) {
				continue
			}
			if o, ok := e.Value.(*hujson.Object); ok && !looksLikeServer(e) && len(o.Members) == 1 && c.holdsServers(e) {
				if err := c.container(e, at); err != nil {
					return err
				}
				continue
			}
			c.add("", at, e)
		}
	default:
		e := c.p.errorAt(c.src, v.StartOffset, WrongType, "Servers must stand in an object or a list, not in %s.", jsonc.TypeName(v))
		e.Path = path
		return e
	}
	return nil
}

// line reads a text in the place of a server: an address or a command line.
func (c *collector) line(name, path, s string, v *hujson.Value) bool {
	f, err := c.p.lineServer(s)
	if err != nil || f == nil || f.spec.Command == "" && f.spec.URL == "" {
		return false
	}
	f.src, f.offset, f.path = c.src, v.StartOffset, path
	if name != "" {
		f.spec.Name, f.named = name, true
	}
	c.n++
	c.p.add(*f)
	return true
}

// argv reads a list of texts as one command with its arguments.
func (c *collector) argv(a *hujson.Array) bool {
	words := make([]string, 0, len(a.Elements))
	for i := range a.Elements {
		s, ok := jsonc.String(&a.Elements[i])
		if !ok {
			return false
		}
		words = append(words, s)
	}
	if len(words) == 0 || isWebAddress(words[0]) || !isCommand(words) || entry.HasControl(strings.Join(words, " "), true) {
		return false
	}
	c.n++
	c.p.add(found{spec: Server{Transport: "stdio", Command: words[0], Args: words[1:]}, src: c.src})
	return true
}

func (c *collector) add(name, path string, v *hujson.Value) {
	if name == "" {
		name = label(v)
	}
	c.n++
	if c.builtIn(name, v) {
		return
	}
	v = flatten(v)
	dec := entry.Decoder{Doc: c.d, Foreign: true}
	spec, problem := dec.Decode(strings.TrimSpace(name), path, v)
	f := found{spec: spec, src: c.src, offset: v.StartOffset, path: path, problem: problem, warnings: dec.Warnings, missing: dec.Missing}
	if problem != nil && f.spec.Name == "" {
		f.spec.Name = name
	}
	f.named = f.spec.Name != ""
	c.p.add(f)
}
