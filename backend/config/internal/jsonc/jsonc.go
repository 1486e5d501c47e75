// Package jsonc reads JSON that people write: with comments, trailing commas
// and a byte order mark. It keeps the text, so that an edit changes what it has
// to and nothing else, and it says where a fault lies.
package jsonc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"patchbay/backend/core"
)

// Kind says what is wrong with a text.
type Kind string

const (
	Empty     Kind = "empty"     // nothing but white space and comments
	Syntax    Kind = "syntax"    // not JSON
	Truncated Kind = "truncated" // the text ends too early
	TooDeep   Kind = "too_deep"
	Duplicate Kind = "duplicate" // an object has a key twice
)

// MaxDepth is the nesting that [Parse] accepts; the parser below it recurses.
const MaxDepth = 64

// Error is a fault in a text. Offset counts bytes from the start of the text
// without its byte order mark; Line and Column are 1-based and count characters.
type Error struct {
	Kind         Kind
	Message      string
	Offset       int
	Line, Column int
	Path         string // JSON pointer, "" where none is known
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Doc is a parsed text. It is not safe for concurrent use.
type Doc struct {
	Root  hujson.Value
	src   []byte
	bom   bool
	added bool // a line break that we put at the end for the parser's sake
	lines []int
	place func(off int) (line, column int)
}

const bom = "\xef\xbb\xbf"

// Parse reads src, which it does not keep or change. Duplicate keys pass; see
// [Doc.Duplicates].
func Parse(src []byte) (*Doc, *Error) { return ParsePart(src, nil) }

// ParsePart is Parse for a part of a larger text. place tells where in that
// text an offset lies; nil means that src is the whole.
func ParsePart(src []byte, place func(off int) (line, column int)) (*Doc, *Error) {
	d := &Doc{place: place}
	d.src, d.bom = bytes.CutPrefix(bytes.Clone(src), []byte(bom))
	if !bytes.HasSuffix(d.src, []byte("\n")) {
		// The parser takes a line comment only with its line break.
		d.src, d.added = append(d.src, '\n'), true
	}
	open, err := d.scan()
	if err != nil {
		return nil, err
	}
	root, perr := hujson.Parse(d.src)
	if perr != nil {
		return nil, d.explain(perr, open)
	}
	d.Root = root
	return d, nil
}

// opener is a bracket or quote that is still open.
type opener struct {
	b   byte
	off int
}

// scan checks the nesting, because the parser would recurse without a limit,
// and returns what is open at the end.
func (d *Doc) scan() ([]opener, *Error) {
	var open []opener
	content := false
	b := d.src
	for i := 0; i < len(b); i++ {
		switch c := b[i]; c {
		case ' ', '\t', '\r', '\n':
			continue
		case '"':
			start := i
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if i >= len(b) {
				return append(open, opener{'"', start}), nil
			}
		case '/':
			var end int
			switch {
			case bytes.HasPrefix(b[i:], []byte("//")):
				end = bytes.IndexByte(b[i:], '\n')
			case bytes.HasPrefix(b[i:], []byte("/*")):
				if end = bytes.Index(b[i+2:], []byte("*/")); end >= 0 {
					end += 3
				}
			default:
				content = true
				continue
			}
			if end < 0 {
				return append(open, opener{'/', i}), nil
			}
			i += end
			continue
		case '{', '[':
			open = append(open, opener{c, i})
			if len(open) > MaxDepth {
				return nil, d.Errorf(TooDeep, i, "", "The text nests more than %d levels deep.", MaxDepth)
			}
		case '}', ']':
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		}
		content = true
	}
	if !content {
		return nil, d.Errorf(Empty, 0, "", "The text is empty.")
	}
	return open, nil
}

// explain turns an error of the parser into one of ours.
func (d *Doc) explain(err error, open []opener) *Error {
	var line, col int
	if _, serr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d", &line, &col); serr != nil {
		line, col = 1, 1
	}
	off := min(d.lineStart(line)+col-1, len(d.src))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		end := len(bytes.TrimRight(d.src, " \t\r\n"))
		if len(open) == 0 {
			return d.Errorf(Truncated, end, "", "The text ends too early.")
		}
		o := open[len(open)-1]
		l, c := d.Position(o.off)
		what := map[byte]string{'{': `"{"`, '[': `"["`, '"': "text in quotes", '/': "comment"}[o.b]
		return d.Errorf(Truncated, end, "", "The text ends before the %s that begins on line %d, column %d is closed. Copy it again, to its end.", what, l, c)
	}
	msg := err.Error()
	if inner := errors.Unwrap(err); inner != nil {
		msg = inner.Error()
	}
	rest := d.src[off:]
	switch {
	case strings.HasPrefix(msg, "invalid literal") && len(rest) > 0 && rest[0] == '"':
		lit := rest
		if i := bytes.IndexByte(lit[1:], '"'); i >= 0 {
			lit = lit[:i+2]
		}
		switch {
		case bytes.ContainsAny(lit, "\n\r"):
			msg = "a text in quotes runs over the end of the line; its closing quote is missing"
		case bytes.IndexByte(lit, '\\') >= 0:
			msg = `a backslash in quotes must be written twice (\\)`
		default:
			msg = "this text in quotes holds a character that JSON does not allow"
		}
	case strings.HasPrefix(msg, "invalid literal"):
		msg = fmt.Sprintf("%s is not a JSON value; text needs double quotes", core.Clip(strings.TrimPrefix(msg, "invalid literal: "), 40))
	case len(rest) > 0 && strings.Contains(msg, "expecting ',' or") && strings.IndexByte(`"{[`, rest[0]) >= 0:
		msg = "a comma is missing before this"
	case len(rest) > 0 && strings.HasSuffix(msg, "at start of object name"):
		msg = "a key in double quotes must stand here"
	}
	return d.Errorf(Syntax, off, "", "Not valid JSON: %s.", msg)
}

// Errorf makes an error at the byte offset off.
func (d *Doc) Errorf(kind Kind, off int, path, format string, args ...any) *Error {
	e := &Error{Kind: kind, Offset: off, Path: path, Message: fmt.Sprintf(format, args...)}
	e.Line, e.Column = d.Position(off)
	return e
}

// Position returns the 1-based line and column (in characters) of a byte offset.
// Offsets beyond the text mean its end.
func (d *Doc) Position(off int) (line, column int) {
	off = max(0, min(off, len(d.src)))
	if d.place != nil {
		return d.place(off)
	}
	d.index()
	i := sort.SearchInts(d.lines, off+1) - 1
	return i + 1, utf8.RuneCount(d.src[d.lines[i]:off]) + 1
}

func (d *Doc) index() {
	if d.lines == nil {
		d.lines = []int{0}
		for i, c := range d.src {
			if c == '\n' {
				d.lines = append(d.lines, i+1)
			}
		}
	}
}

func (d *Doc) lineStart(line int) int {
	d.index()
	return d.lines[max(0, min(line-1, len(d.lines)-1))]
}

// Duplicates returns the first key that occurs twice in one object, anywhere
// in the text, or nil.
func (d *Doc) Duplicates() *Error { return d.DuplicatesIn(&d.Root, "") }

// DuplicatesIn is Duplicates below v, whose JSON pointer is path.
func (d *Doc) DuplicatesIn(v *hujson.Value, path string) *Error {
	switch t := v.Value.(type) {
	case *hujson.Object:
		seen := make(map[string]int, len(t.Members))
		for i := range t.Members {
			m := &t.Members[i]
			key := Key(m)
			at := path + "/" + Escape(key)
			if first, ok := seen[key]; ok {
				l, _ := d.Position(first)
				return d.Errorf(Duplicate, m.Name.StartOffset, at, "The key %q stands here for the second time; the first is on line %d. Rename or remove one.", key, l)
			}
			seen[key] = m.Name.StartOffset
			if err := d.DuplicatesIn(&m.Value, at); err != nil {
				return err
			}
		}
	case *hujson.Array:
		for i := range t.Elements {
			if err := d.DuplicatesIn(&t.Elements[i], path+"/"+strconv.Itoa(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Key returns the name of a member, unescaped.
func Key(m *hujson.ObjectMember) string {
	lit, _ := m.Name.Value.(hujson.Literal)
	return lit.String()
}

// Escape makes a key fit for a JSON pointer.
func Escape(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

// Member returns the value of the first member with that exact name, or nil.
func Member(o *hujson.Object, name string) *hujson.Value {
	for i := range o.Members {
		if Key(&o.Members[i]) == name {
			return &o.Members[i].Value
		}
	}
	return nil
}

// Standard returns v as plain JSON, without comments. It does not change v.
func Standard(v *hujson.Value) json.RawMessage {
	c := v.Clone()
	c.Minimize()
	return c.Pack()
}

// String returns the value of a JSON string; ok is false for any other value.
func String(v *hujson.Value) (s string, ok bool) {
	lit, ok := v.Value.(hujson.Literal)
	if !ok || lit.Kind() != '"' {
		return "", false
	}
	return lit.String(), true
}

// Strings returns the texts of a list, and false where v is anything else.
func Strings(v *hujson.Value) (list []string, ok bool) {
	arr, ok := v.Value.(*hujson.Array)
	if !ok {
		return nil, false
	}
	list = make([]string, 0, len(arr.Elements))
	for i := range arr.Elements {
		s, ok := String(&arr.Elements[i])
		if !ok {
			return nil, false
		}
		list = append(list, s)
	}
	return list, true
}

// TypeName names the type of v for a message: "a number".
func TypeName(v *hujson.Value) string {
	switch v.Value.Kind() {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "text"
	case '0':
		return "a number"
	case 'n':
		return "null"
	}
	return "true or false"
}
