package jsonc

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tailscale/hujson"
)

// Bytes returns the text with the edits made to Root.
func (d *Doc) Bytes() []byte {
	out := d.Root.Pack()
	if d.added {
		out = bytes.TrimSuffix(out, []byte("\n"))
	}
	if d.bom {
		out = append([]byte(bom), out...)
	}
	return out
}

// style is how a text is laid out, as far as we follow it.
type style struct{ eol, unit string }

func (d *Doc) style() style {
	s := style{eol: "\n", unit: "  "}
	if bytes.Contains(d.src, []byte("\r\n")) {
		s.eol = "\r\n"
	}
	for line := range bytes.Lines(d.src) {
		trimmed := bytes.TrimLeft(line, " \t")
		if n := len(line) - len(trimmed); n > 0 && len(trimmed) > 0 && bytes.IndexByte([]byte(`"{[`), trimmed[0]) >= 0 {
			s.unit = string(line[:n])
			break
		}
	}
	return s
}

// render lays v out as JSON that starts at the given depth. A hujson.Value is
// taken as it is.
func (s style) render(v any, depth int) (hujson.Value, error) {
	if raw, ok := v.(hujson.Value); ok {
		return hujson.Value{Value: raw.Clone().Value}, nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent(strings.Repeat(s.unit, depth), s.unit)
	if err := enc.Encode(v); err != nil {
		return hujson.Value{}, err
	}
	out := bytes.TrimRight(buf.Bytes(), "\n")
	if s.eol != "\n" {
		out = bytes.ReplaceAll(out, []byte("\n"), []byte(s.eol))
	}
	return hujson.Parse(out)
}

func (s style) newline(depth int) hujson.Extra {
	return hujson.Extra(s.eol + strings.Repeat(s.unit, depth))
}

// inline says that a composite was written on one line.
func inline(first hujson.Extra) bool { return bytes.IndexByte(first, '\n') < 0 }

// Set puts value under key into o, which lies depth levels below the root (the
// root is 0). A member that is there keeps its place and the comments around it.
func (d *Doc) Set(o *hujson.Object, depth int, key string, value any) error {
	s := d.style()
	v, err := s.render(value, depth+1)
	if err != nil {
		return err
	}
	if old := Member(o, key); old != nil {
		old.Value = v.Value
		return nil
	}
	return d.insertMember(o, depth, len(o.Members), key, v)
}

// Insert puts a new member at position at (clipped to what there is).
func (d *Doc) Insert(o *hujson.Object, depth, at int, key string, value any) error {
	v, err := d.style().render(value, depth+1)
	if err != nil {
		return err
	}
	return d.insertMember(o, depth, at, key, v)
}

func (d *Doc) insertMember(o *hujson.Object, depth, at int, key string, v hujson.Value) error {
	s := d.style()
	at = max(0, min(at, len(o.Members)))
	m := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(key)}, Value: v}
	m.Value.BeforeExtra = hujson.Extra(" ")
	m.Name.BeforeExtra = s.newline(depth + 1)
	if len(o.Members) > 0 && inline(o.Members[0].Name.BeforeExtra) && bytes.IndexByte(v.Pack(), '\n') < 0 {
		m.Name.BeforeExtra = hujson.Extra(" ")
	}
	if at == len(o.Members) {
		m.Name.BeforeExtra = s.closeUp(&o.AfterExtra, m.Name.BeforeExtra, depth)
	}
	o.Members = append(o.Members[:at:at], append([]hujson.ObjectMember{m}, o.Members[at:]...)...)
	return nil
}

// InsertElement puts value into a, which lies depth levels below the root, at
// position at (clipped to what there is).
func (d *Doc) InsertElement(a *hujson.Array, depth, at int, value any) error {
	s := d.style()
	v, err := s.render(value, depth+1)
	if err != nil {
		return err
	}
	at = max(0, min(at, len(a.Elements)))
	v.BeforeExtra = s.newline(depth + 1)
	if at == len(a.Elements) {
		v.BeforeExtra = s.closeUp(&a.AfterExtra, v.BeforeExtra, depth)
	}
	a.Elements = append(a.Elements[:at:at], append([]hujson.Value{v}, a.Elements[at:]...)...)
	return nil
}

// closeUp prepares the end of a composite for one more entry, whose leading
// space it returns. Comments before the closing bracket stay before the new
// entry; unless all is on one line, the bracket gets a line of its own.
func (s style) closeUp(after *hujson.Extra, lead hujson.Extra, depth int) hujson.Extra {
	comments := bytes.TrimRight(*after, " \t\r\n")
	if inline(lead) && len(comments) == 0 {
		return lead
	}
	*after = s.newline(depth)
	return append(bytes.Clone(comments), s.newline(depth+1)...)
}

// Delete removes the member called key and the comments above it and behind it
// on its line. It reports whether there was one.
func Delete(o *hujson.Object, key string) bool {
	for i := range o.Members {
		if Key(&o.Members[i]) != key {
			continue
		}
		last := len(o.Members) - 1
		trailing := o.Members[last].Value.AfterExtra != nil
		next := &o.AfterExtra
		if i < last {
			next = &o.Members[i+1].Name.BeforeExtra
		}
		*next = joinExtra(o.Members[i].Name.BeforeExtra, *next)
		o.Members = append(o.Members[:i:i], o.Members[i+1:]...)
		if last > 0 {
			fixComma(&o.Members[last-1].Value, &o.AfterExtra, trailing)
		}
		return true
	}
	return false
}

// DeleteElement removes the element at position i, as [Delete] does.
func DeleteElement(a *hujson.Array, i int) {
	last := len(a.Elements) - 1
	trailing := a.Elements[last].AfterExtra != nil
	next := &a.AfterExtra
	if i < last {
		next = &a.Elements[i+1].BeforeExtra
	}
	*next = joinExtra(a.Elements[i].BeforeExtra, *next)
	a.Elements = append(a.Elements[:i:i], a.Elements[i+1:]...)
	if last > 0 {
		fixComma(&a.Elements[last-1], &a.AfterExtra, trailing)
	}
}

// fixComma makes the new last value end with a comma only if the old one did:
// plain JSON must stay plain.
func fixComma(last *hujson.Value, after *hujson.Extra, trailing bool) {
	switch {
	case trailing && last.AfterExtra == nil:
		last.AfterExtra = hujson.Extra{}
	case !trailing && last.AfterExtra != nil:
		*after = append(bytes.Clone(last.AfterExtra), *after...)
		last.AfterExtra = nil
	}
}

// joinExtra closes the gap that a removed entry leaves: of the space before it
// the rest of the previous entry's line stays, of the space behind it
// everything but the rest of its own line.
func joinExtra(before, behind hujson.Extra) hujson.Extra {
	b, n := lineEnd(before), lineEnd(behind)
	if b < 0 {
		if n < 0 {
			n = 0
		}
		return behind[n:]
	}
	if n < 0 {
		return before
	}
	return append(bytes.Clone(before[:b]), behind[n:]...)
}

// lineEnd returns where the first line of e ends, not counting line breaks
// inside a comment; -1 if it does not end in e.
func lineEnd(e hujson.Extra) int {
	for i := 0; i < len(e); i++ {
		switch {
		case e[i] == '\n':
			if i > 0 && e[i-1] == '\r' {
				return i - 1
			}
			return i
		case bytes.HasPrefix(e[i:], []byte("//")):
			i += bytes.IndexByte(e[i:], '\n') - 1
		case bytes.HasPrefix(e[i:], []byte("/*")):
			i += bytes.Index(e[i+2:], []byte("*/")) + 3
		}
	}
	return -1
}
