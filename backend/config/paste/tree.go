package paste

import (
	"encoding/json"
	"strings"
)

// tree is a value that was read from another notation on its way to JSON. Every
// dialect ends as JSON with the places of the original, so that there is one
// reader of servers and one set of refusals.
type tree struct {
	kind  byte   // '{', '[', '"' or '0': a literal as JSON spells it
	text  string // of '"' and '0'
	off   int    // byte in the piece that was read
	names []treeName
	items []*tree
	index map[string]int // of the last item with a name; nil until asked
	fixed bool           // TOML: the table's header was seen
}

type treeName struct {
	text string
	off  int
}

func object(off int) *tree           { return &tree{kind: '{', off: off} }
func list(off int) *tree             { return &tree{kind: '[', off: off} }
func text(s string, off int) *tree   { return &tree{kind: '"', text: s, off: off} }
func textList(words ...string) *tree { return texts(0, words) }

func texts(off int, words []string) *tree {
	l := list(off)
	for _, w := range words {
		l.items = append(l.items, text(w, off))
	}
	return l
}

// literal is a number, true, false or null; a number that JSON cannot spell
// becomes text.
func literal(s string, off int) *tree {
	if !json.Valid([]byte(s)) || strings.HasPrefix(s, `"`) {
		return text(s, off)
	}
	return &tree{kind: '0', text: s, off: off}
}

// put adds a member. A name that is there already is added again, because the
// reader of servers has to refuse it.
func (t *tree) put(name string, nameOff int, v *tree) {
	if t.index != nil {
		t.index[name] = len(t.items)
	}
	t.names = append(t.names, treeName{name, nameOff})
	t.items = append(t.items, v)
}

// get returns the last member of that name, or nil.
func (t *tree) get(name string) *tree {
	if len(t.names) < 16 {
		for i := len(t.names) - 1; i >= 0; i-- {
			if t.names[i].text == name {
				return t.items[i]
			}
		}
		return nil
	}
	if t.index == nil {
		t.index = make(map[string]int, len(t.names))
		for i, n := range t.names {
			t.index[n.text] = i
		}
	}
	if i, ok := t.index[name]; ok {
		return t.items[i]
	}
	return nil
}

// render writes t as JSON; at holds the place of each byte.
func (t *tree) render() (string, []int32) {
	w := &treeWriter{}
	w.write(t)
	return w.out.String(), w.at
}

type treeWriter struct {
	out strings.Builder
	at  []int32
}

func (w *treeWriter) put(s string, off int) {
	w.out.WriteString(s)
	for range len(s) {
		w.at = append(w.at, int32(off))
	}
}

func (w *treeWriter) quote(s string, off int) {
	b, err := json.Marshal(s)
	if err != nil { // a string always has an encoding
		b = []byte(`""`)
	}
	w.put(string(b), off)
}

func (w *treeWriter) write(t *tree) {
	switch t.kind {
	case '"':
		w.quote(t.text, t.off)
	case '{':
		w.put("{", t.off)
		for i, v := range t.items {
			if i > 0 {
				w.put(",", t.names[i].off)
			}
			w.quote(t.names[i].text, t.names[i].off)
			w.put(":", v.off)
			w.write(v)
		}
		w.put("}", t.off)
	case '[':
		w.put("[", t.off)
		for i, v := range t.items {
			if i > 0 {
				w.put(",", v.off)
			}
			w.write(v)
		}
		w.put("]", t.off)
	default:
		w.put(t.text, t.off)
	}
}

// readTree adds the servers of a tree whose places are those of src.
func (p *parser) readTree(src source, t *tree) *Error {
	out, at := t.render()
	if src.at != nil {
		for i, v := range at {
			at[i] = src.at[max(0, min(int(v), len(src.at)-1))]
		}
	}
	d, used, err := p.load(source{text: out, base: src.base, at: at})
	if err != nil {
		return err
	}
	return p.collect(d, used)
}

// inner is a text that was unpacked from the place base: all of it stands there.
func inner(s string, base int) source {
	return source{text: s, base: base, at: make([]int32, len(s))}
}

// plain replaces the spaces and quotes that web pages put into a text by those
// that a parser knows.
func plain(src source) source {
	odd := func(r rune) bool { return r > 127 && (isSpace(r) || isDouble(r) || isSingle(r)) }
	if src.at != nil || strings.IndexFunc(src.text, odd) < 0 {
		return src
	}
	r := &repairer{in: src.text}
	for i, c := range src.text {
		switch {
		case c == '\u200b' || c == '\u2060' || c == '\ufeff':
		case odd(c) && isSpace(c):
			r.put(" ", i)
		case odd(c) && isDouble(c):
			r.put(`"`, i)
		case odd(c):
			r.put("'", i)
		default:
			r.put(string(c), i)
		}
	}
	return source{text: r.out.String(), base: src.base, at: r.at}
}
