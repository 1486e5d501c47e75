package paste

import (
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"patchbay/backend/config/internal/jsonc"
)

// NotTOML is the reason for TOML that cannot be read.
const NotTOML Reason = "not_toml"

// tomlDialect reads TOML, as Codex keeps its servers.
func tomlDialect() dialect {
	return dialect{match: isTOML, parse: (*parser).toml}
}

// tomlHeader reports whether l is the head of a table: [a.b] or [[a]].
func tomlHeader(l string) bool {
	l = strings.TrimSpace(l)
	if i := strings.IndexByte(l, '#'); i > 0 {
		l = strings.TrimSpace(l[:i])
	}
	if !strings.HasPrefix(l, "[") || !strings.HasSuffix(l, "]") {
		return false
	}
	name := strings.TrimSuffix(strings.TrimPrefix(strings.Trim(l, " "), "["), "]")
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	first := name
	if i := strings.IndexByte(name, '.'); i >= 0 {
		first = name[:i]
	}
	return first != "" && !strings.ContainsAny(name, "{}[],=:()") && bareKey(strings.Trim(strings.TrimSpace(first), `"'`))
}

func bareKey(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}

// tomlSetting reports whether l reads key = value.
func tomlSetting(l string) bool {
	k, v, ok := strings.Cut(l, "=")
	k, v = strings.TrimSpace(k), strings.TrimSpace(v)
	if !ok || v == "" {
		return false
	}
	for _, part := range strings.Split(k, ".") {
		if !bareKey(strings.Trim(strings.TrimSpace(part), `"'`)) {
			return false
		}
	}
	return true
}

func isTOML(t string) bool {
	n := 0
	header := false
	for off := 0; off < len(t) && n < 2; {
		end := lineEnd(t, off)
		l := strings.TrimSpace(t[off:end])
		off = end + 1
		if l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		if n++; n == 1 {
			if header = tomlHeader(l); !header {
				return tomlSetting(l) && (strings.HasPrefix(l, "mcp_servers.") || tomlServer(l) || strings.Contains(t, "\n[mcp"))
			}
			continue
		}
		return tomlHeader(l) || tomlSetting(l)
	}
	return header && strings.HasPrefix(strings.TrimLeft(t, "[ "), "mcp")
}

// tomlServer reports whether l is the first setting of a server without a head.
func tomlServer(l string) bool {
	k, v, _ := strings.Cut(l, "=")
	v = strings.TrimSpace(v)
	switch strings.TrimSpace(k) {
	case "command", "url", "args", "env":
		return strings.HasPrefix(v, `"`) && strings.Contains(l, " = ") || strings.HasPrefix(v, "'") && strings.Contains(l, " = ") ||
			strings.HasPrefix(v, "[") || strings.HasPrefix(v, "{")
	}
	return false
}

// tomlBytes is how much TOML is read.
const tomlBytes = 2 << 20

func (p *parser) toml(src source) *Error {
	if len(src.text) > tomlBytes {
		return p.errorAt(src, 0, TooLarge, "The TOML is larger than %d MiB. Paste only the part with the servers.", tomlBytes>>20)
	}
	src = plain(src)
	t, err := p.tomlTree(src)
	if err != nil {
		return err
	}
	return p.readTree(src, t)
}

// tomlRegions reads the tables of servers in a text that is not TOML as a whole.
func (p *parser) tomlRegions(src source) bool {
	start, last, ok := -1, 0, false
	tries := 20
	flush := func() {
		if start < 0 || tries == 0 {
			return
		}
		tries--
		before := len(p.found)
		if err := p.toml(src.sub(start, last)); err == nil {
			ok = true
		} else {
			p.found = p.found[:before]
		}
		start = -1
	}
	for off := 0; off < len(src.text) && tries > 0; {
		end := lineEnd(src.text, off)
		l := strings.TrimSpace(src.text[off:end])
		switch {
		case tomlHeader(l) && strings.HasPrefix(strings.TrimLeft(l, "[ "), "mcp"):
			if start < 0 {
				start = off
			}
			last = end
		case start < 0 || l == "":
		case tomlSetting(l) || strings.HasPrefix(l, "#") || strings.HasPrefix(l, "]") || strings.HasPrefix(l, `"`) || tomlHeader(l):
			last = end
		default:
			flush()
		}
		off = end + 1
	}
	flush()
	return ok
}

// tomlTree builds the tables from the parser's expressions, because only they
// know their places.
func (p *parser) tomlTree(src source) (*tree, *Error) {
	var up unstable.Parser
	data := []byte(src.text)
	up.Reset(data)
	b := &tomlBuilder{up: &up, root: object(0)}
	cur := b.root
	for up.NextExpression() {
		e := up.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			cur = b.table(e)
		case unstable.KeyValue:
			b.setting(cur, e, 0)
		}
		if b.deep {
			return nil, p.errorAt(src, b.at, TooDeep, "The text nests more than %d levels deep.", jsonc.MaxDepth)
		}
	}
	err := up.Error()
	if err == nil {
		return b.root, nil
	}
	off := len(data)
	var pe *unstable.ParserError
	if errors.As(err, &pe) {
		if o := cap(data) - cap(pe.Highlight); o >= 0 && o <= len(data) {
			off = o
		}
	}
	msg := strings.TrimPrefix(err.Error(), "toml: ")
	if off >= len(strings.TrimRight(src.text, " \t\r\n")) || strings.Contains(msg, "incomplete") || strings.Contains(msg, "EOF") {
		return nil, p.errorAt(src, off, Truncated, "The text ends before a value, a quote or a bracket is closed (%s). Copy it again, to its end.", msg)
	}
	if strings.Contains(msg, "expected keyword") || strings.Contains(msg, "expected value but") {
		msg = "a value is neither a number nor true nor false; text needs quotes"
	}
	return nil, p.errorAt(src, off, NotTOML, "This is not valid TOML: %s.", strings.TrimSuffix(msg, "."))
}

type tomlBuilder struct {
	up   *unstable.Parser
	root *tree
	deep bool
	at   int
}

// step returns the table below t with that name, making it if it is new.
func (b *tomlBuilder) step(t *tree, name string, off int) *tree {
	next := t.get(name)
	if next != nil && next.kind == '[' && len(next.items) > 0 {
		next = next.items[len(next.items)-1]
	}
	if next == nil || next.kind != '{' {
		next = object(off)
		t.put(name, off, next)
	}
	return next
}

// key returns the parts of a dotted key.
func (b *tomlBuilder) key(e *unstable.Node) []treeName {
	var parts []treeName
	for it := e.Key(); it.Next(); {
		n := it.Node()
		b.at = int(n.Raw.Offset)
		if parts = append(parts, treeName{string(n.Data), b.at}); len(parts) > jsonc.MaxDepth {
			b.deep = true
			break
		}
	}
	return parts
}

func (b *tomlBuilder) table(e *unstable.Node) *tree {
	parts := b.key(e)
	t := b.root
	for i, k := range parts {
		if i < len(parts)-1 {
			t = b.step(t, k.text, k.off)
			continue
		}
		old := t.get(k.text)
		switch {
		case e.Kind == unstable.ArrayTable:
			if old == nil || old.kind != '[' {
				old = list(k.off)
				t.put(k.text, k.off, old)
			}
			next := object(k.off)
			old.items = append(old.items, next)
			return next
		case old != nil && old.kind == '{' && !old.fixed:
			old.fixed = true
			return old
		}
		// A table that stands twice is kept twice: it is refused by its name.
		next := object(k.off)
		next.fixed = true
		t.put(k.text, k.off, next)
		return next
	}
	return t
}

func (b *tomlBuilder) setting(t *tree, e *unstable.Node, depth int) {
	parts := b.key(e)
	if b.deep || len(parts) == 0 {
		return
	}
	for _, k := range parts[:len(parts)-1] {
		t = b.step(t, k.text, k.off)
	}
	k := parts[len(parts)-1]
	t.put(k.text, k.off, b.value(e.Value(), k.off, depth+1))
}

// value turns a value into a tree; off is where its key stands, for those
// values whose own place the parser does not tell.
func (b *tomlBuilder) value(n *unstable.Node, off, depth int) *tree {
	if depth > jsonc.MaxDepth {
		b.deep = true
		return list(off)
	}
	if n.Raw.Length > 0 {
		off = int(n.Raw.Offset)
	}
	switch n.Kind {
	case unstable.String:
		return text(strings.ToValidUTF8(string(n.Data), "\ufffd"), off)
	case unstable.Array:
		l := list(off)
		for it := n.Children(); it.Next() && !b.deep; {
			if it.Node().Kind != unstable.Comment {
				l.items = append(l.items, b.value(it.Node(), off, depth+1))
			}
		}
		return l
	case unstable.InlineTable:
		o := object(off)
		for it := n.Children(); it.Next() && !b.deep; {
			if it.Node().Kind == unstable.KeyValue {
				b.setting(o, it.Node(), depth)
			}
		}
		return o
	}
	return literal(string(n.Data), off)
}
