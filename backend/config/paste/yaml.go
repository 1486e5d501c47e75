package paste

import (
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"patchbay/backend/config/internal/jsonc"
)

// NotYAML is the reason for YAML that cannot be read.
const NotYAML Reason = "not_yaml"

// yamlDialect reads YAML: Goose, LibreChat, Continue, Docker Compose style.
func yamlDialect() dialect {
	return dialect{match: isYAML, parse: (*parser).yaml}
}

// yamlKey takes "- key: value" apart. ok is false for any other line.
func yamlKey(l string) (key, value string, ok bool) {
	l = strings.TrimSpace(l)
	for strings.HasPrefix(l, "- ") {
		l = strings.TrimSpace(l[2:])
	}
	if l == "" {
		return "", "", false
	}
	if q := l[0]; q == '"' || q == '\'' {
		end := strings.IndexByte(l[1:], q)
		if end < 0 {
			return "", "", false
		}
		key, l = l[1:1+end], l[end+2:]
		if l != ":" && !strings.HasPrefix(l, ": ") {
			return "", "", false
		}
		return key, strings.TrimSpace(l[1:]), true
	}
	i := strings.Index(l, ": ")
	if i < 0 {
		if !strings.HasSuffix(l, ":") {
			return "", "", false
		}
		i = len(l) - 1
	}
	key = l[:i]
	if i == 0 || i > 80 || strings.ContainsAny(key, "{}[]\"'#,;`") {
		return "", "", false
	}
	value = strings.TrimSpace(l[i+1:])
	if strings.HasPrefix(value, "#") {
		value = ""
	}
	return key, value, true
}

// yamlPlace reports whether servers stand under this key, and yamlField whether
// it is one that makes a server.
func yamlPlace(key string) bool {
	return isWrapper(key) || key == "extensions" || key == "mcp"
}

func yamlField(key string) bool {
	switch key {
	case "command", "cmd", "url", "uri", "serverUrl", "httpUrl", "server_url":
		return true
	}
	return false
}

func isYAML(t string) bool {
	if strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") || strings.HasPrefix(t, "<") {
		return false
	}
	first, server := true, false
	for off := 0; off < len(t); {
		end := lineEnd(t, off)
		l := strings.TrimSpace(t[off:end])
		off = end + 1
		if l == "" || strings.HasPrefix(l, "#") || l == "---" || strings.HasPrefix(l, "%YAML") {
			continue
		}
		if strings.HasPrefix(l, "```") || strings.HasPrefix(l, "~~~") || strings.HasPrefix(l, "{") || strings.HasPrefix(l, "}") {
			return false
		}
		key, value, ok := yamlKey(l)
		flows := strings.HasSuffix(value, ",") || strings.HasSuffix(value, "{") || strings.HasSuffix(value, "[")
		if first {
			if !ok || flows || value != "" && (strings.ContainsAny(key, " \"") || l[0] == '"') {
				return false
			}
			first = false
		}
		if ok && !flows && (yamlPlace(key) && (value == "" || value[0] == '{' || value[0] == '&') || yamlField(key) && value != "") {
			server = true
		}
	}
	return server
}

func (p *parser) yaml(src source) *Error {
	before := len(p.found)
	err := p.yamlWhole(src)
	if err == nil || err.Reason != NotYAML && err.Reason != NoServers {
		return err
	}
	p.found = p.found[:before]
	if p.yamlRegions(src) {
		return nil
	}
	if err.Reason == NotYAML { // prose may look like YAML at its beginning
		if perr := p.prose(src); perr == nil || perr.Reason != Prose {
			return perr
		}
	}
	return err
}

// yamlDocuments bounds how many documents one text may hold.
const yamlDocuments = 100

// yamlBytes is how much YAML is read: its parser takes a second for a megabyte.
// yamlEffort bounds the tries with parts of a text.
const (
	yamlBytes  = 1 << 20
	yamlEffort = 2 * yamlBytes
)

func (p *parser) yamlWhole(src source) *Error {
	if p.yamlRead += len(src.text); len(src.text) > yamlBytes || p.yamlRead > yamlEffort {
		return p.errorAt(src, 0, TooLarge, "The YAML is larger than %d MiB. Paste only the part with the servers.", yamlBytes>>20)
	}
	src = plain(src)
	dec := yaml.NewDecoder(strings.NewReader(src.text))
	var first *Error
	ok := false
	for range yamlDocuments {
		var n yaml.Node
		err := dec.Decode(&n)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return p.yamlError(src, err)
		}
		y := &yamlReader{p: p, src: src}
		t, terr := y.tree(&n, 0, false)
		if terr == nil {
			terr = p.readTree(src, t)
		}
		switch {
		case terr == nil:
			ok = true
		case terr.Reason != NoServers:
			return terr
		case first == nil:
			first = terr
		}
	}
	if ok {
		return nil
	}
	if first == nil {
		first = p.errorAt(src, 0, NoServers, "There is no server in this YAML.")
	}
	return first
}

// yamlError gives a fault of the parser its place. The parser names the line only.
func (p *parser) yamlError(src source, err error) *Error {
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	line, off := 0, 0
	if n, serr := fmt.Sscanf(msg, "line %d: ", &line); serr == nil && n == 1 {
		_, msg, _ = strings.Cut(msg, ": ")
	}
	if strings.Contains(msg, "exceeded max depth") {
		return p.errorAt(src, 0, TooDeep, "The text nests more than %d levels deep.", jsonc.MaxDepth)
	}
	if strings.Contains(msg, "did not find expected") {
		line = yamlFault(src.text, msg, line)
	}
	for ; line > 1; line-- {
		end := lineEnd(src.text, off)
		if end == len(src.text) {
			break
		}
		off = end + 1
	}
	l := src.text[off:lineEnd(src.text, off)]
	body := strings.TrimLeft(l, " \t")
	switch {
	case strings.Contains(l[:len(l)-len(body)], "\t"):
		msg = "a tab stands at the beginning of the line; YAML indents with spaces only"
	case strings.Contains(msg, "mapping values are not allowed"):
		msg = "a key does not fit here; check the indentation, and put quotes around a value that holds a colon"
	case strings.Contains(msg, "did not find expected key"):
		msg = "the indentation does not fit the lines around it"
	case strings.Contains(msg, "unexpected end of stream"):
		return p.errorAt(src, len(src.text), Truncated, "The text ends before a quote or a bracket is closed. Copy it again, to its end.")
	}
	return p.errorAt(src, off+len(l)-len(body), NotYAML, "This is not valid YAML: %s.", msg)
}

// yamlRegions reads the blocks below a known key in a text that is not YAML as
// a whole.
func (p *parser) yamlRegions(src source) (ok bool) {
	tries := 20
	indent := func(l string) int { return len(l) - len(strings.TrimLeft(l, " ")) }
	for off := 0; off < len(src.text) && tries > 0; {
		end := lineEnd(src.text, off)
		l := src.text[off:end]
		key, value, isKey := yamlKey(l)
		start, depth := off, indent(l)
		off = min(end+1, len(src.text))
		if !isKey || value != "" || !yamlPlace(key) || strings.HasPrefix(strings.TrimSpace(l), "-") {
			continue
		}
		last := off
		for off < len(src.text) {
			end = lineEnd(src.text, off)
			l = src.text[off:end]
			body := strings.TrimSpace(l)
			if body != "" {
				if d := indent(l); d < depth || d == depth && !strings.HasPrefix(body, "- ") {
					break
				}
				last = end
			}
			off = min(end+1, len(src.text))
		}
		tries--
		before := len(p.found)
		// YAML counts columns, so the piece has to begin with its line.
		if e := p.yamlWhole(src.sub(start, last)); e == nil {
			ok = true
		} else {
			p.found = p.found[:before]
		}
	}
	return ok
}

// yamlFault returns the first line with which the text cannot be read any more,
// counted from 1. The parser names the beginning of the block instead.
func yamlFault(t, msg string, line int) int {
	if len(t) > 64<<10 {
		return line
	}
	lines := strings.SplitAfter(t, "\n")
	n := sort.Search(len(lines), func(i int) bool {
		var n yaml.Node
		err := yaml.Unmarshal([]byte(strings.Join(lines[:i+1], "")), &n)
		return err != nil && strings.HasSuffix(err.Error(), msg)
	})
	if n >= len(lines) {
		return line
	}
	return n + 1
}

// yamlReader turns nodes into a tree.
type yamlReader struct {
	p        *parser
	src      source
	starts   []int // of the lines
	line     int   // the place that was asked for last
	column   int
	off      int
	expanded int // bytes that came from aliases
}

// yamlAliases bounds what aliases may add: a few lines can stand for gigabytes.
const yamlAliases = 1 << 20

func (y *yamlReader) tree(n *yaml.Node, depth int, aliased bool) (*tree, *Error) {
	off := y.offset(n)
	if aliased {
		if y.expanded += 16 + len(n.Value); y.expanded > yamlAliases {
			return nil, y.p.errorAt(y.src, off, TooLarge, "The YAML repeats itself through anchors (&name, *name) more than can be read. Write the servers out.")
		}
	}
	if depth > jsonc.MaxDepth {
		return nil, y.p.errorAt(y.src, off, TooDeep, "The text nests more than %d levels deep.", jsonc.MaxDepth)
	}
	switch n.Kind {
	case yaml.DocumentNode:
		if len(n.Content) == 1 {
			return y.tree(n.Content[0], depth, aliased)
		}
	case yaml.AliasNode:
		if n.Alias != nil {
			return y.tree(n.Alias, depth+1, true)
		}
	case yaml.SequenceNode:
		l := list(off)
		for _, c := range n.Content {
			t, err := y.tree(c, depth+1, aliased)
			if err != nil {
				return nil, err
			}
			l.items = append(l.items, t)
		}
		return l, nil
	case yaml.MappingNode:
		return y.mapping(n, off, depth, aliased)
	case yaml.ScalarNode:
		switch n.ShortTag() {
		case "!!null":
			return literal("null", off), nil
		case "!!bool":
			return literal(strings.ToLower(n.Value), off), nil
		case "!!int", "!!float":
			return literal(n.Value, off), nil
		}
		return text(n.Value, off), nil
	}
	return literal("null", off), nil
}

func (y *yamlReader) mapping(n *yaml.Node, off, depth int, aliased bool) (*tree, *Error) {
	o := object(off)
	var merged []*tree
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		at := y.offset(k)
		if k.Kind == yaml.AliasNode && k.Alias != nil {
			k = k.Alias
		}
		if k.Kind != yaml.ScalarNode {
			return nil, y.p.errorAt(y.src, at, WrongType, "A key must be text; write it on one line before the colon.")
		}
		t, err := y.tree(v, depth+1, aliased)
		if err != nil {
			return nil, err
		}
		if k.ShortTag() == "!!merge" {
			merged = append(merged, t)
			continue
		}
		o.put(k.Value, at, t)
	}
	for _, m := range merged {
		from := []*tree{m}
		if m.kind == '[' {
			from = m.items
		}
		for _, f := range from {
			for i, name := range f.names {
				if o.get(name.text) == nil {
					o.put(name.text, name.off, f.items[i])
				}
			}
		}
	}
	return o, nil
}

// offset returns the byte of a node, whose column counts characters.
func (y *yamlReader) offset(n *yaml.Node) int {
	if y.starts == nil {
		y.starts = []int{0}
		for i := range len(y.src.text) {
			if y.src.text[i] == '\n' {
				y.starts = append(y.starts, i+1)
			}
		}
	}
	line := max(1, min(n.Line, len(y.starts)))
	if line != y.line || n.Column < y.column {
		y.line, y.column, y.off = line, 1, y.starts[line-1]
	}
	// Nodes come in order, so a long line is walked once and not once a node.
	for y.column < n.Column && y.off < len(y.src.text) {
		_, size := utf8.DecodeRuneInString(y.src.text[y.off:])
		y.off += size
		y.column++
	}
	return y.off
}
