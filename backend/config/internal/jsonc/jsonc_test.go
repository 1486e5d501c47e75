package jsonc

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tailscale/hujson"
)

func TestErrorsNameThePlace(t *testing.T) {
	for name, tc := range map[string]struct {
		text      string
		kind      Kind
		line, col int
		message   string
	}{
		"empty":         {" // nothing\n", Empty, 1, 1, "empty"},
		"truncated":     {"{\n  \"a\": [1,", Truncated, 2, 11, `"["`},
		"open string":   {"{\"a\": \"x", Truncated, 1, 9, "quotes"},
		"missing comma": {"{\"ä\": 1 \"b\": 2}", Syntax, 1, 9, "comma is missing"},
		"backslash":     {`{"a": "C:\Users"}`, Syntax, 1, 7, `\\`},
		"bare word":     {`{"a": yes}`, Syntax, 1, 7, "double quotes"},
		"bare key":      {`{a: 1}`, Syntax, 1, 2, "double quotes"},
		"deep":          {strings.Repeat("[", 100000), TooDeep, 1, 65, "64"},
		"line in text":  {"{\"a\": \"x\ny\"}", Syntax, 1, 7, "closing quote"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(tc.text))
			require.NotNil(t, err)
			assert.Equal(t, tc.kind, err.Kind, err.Message)
			assert.Contains(t, err.Message, tc.message)
			assert.Equal(t, [2]int{tc.line, tc.col}, [2]int{err.Line, err.Column}, err.Message)
		})
	}
}

func TestDuplicateKeyHasPlaceAndPath(t *testing.T) {
	d, err := Parse([]byte("{\"a/b\": {\"x\": 1,\n \"x\": 2}}"))
	require.Nil(t, err)
	dup := d.Duplicates()
	require.NotNil(t, dup)
	assert.Equal(t, "/a~1b/x", dup.Path)
	assert.Equal(t, 2, dup.Line)
	assert.Equal(t, 2, dup.Column)
}

func TestParseKeepsTheText(t *testing.T) {
	for _, text := range []string{"\ufeff{\"a\": 1} // end", "{ }\r\n", "[1, /* x */ 2,]\n"} {
		d, err := Parse([]byte(text))
		require.Nil(t, err)
		assert.Equal(t, text, string(d.Bytes()))
	}
}

func root(t *testing.T, text string) (*Doc, *hujson.Object) {
	d, err := Parse([]byte(text))
	require.Nil(t, err)
	return d, d.Root.Value.(*hujson.Object)
}

func TestEdits(t *testing.T) {
	for name, tc := range map[string]struct {
		before, after string
		edit          func(d *Doc, o *hujson.Object)
	}{
		"add to empty": {"{}", "{\n  \"x\": 1\n}", func(d *Doc, o *hujson.Object) { _ = d.Set(o, 0, "x", 1) }},
		"add after comment": {"{\n    \"a\": 1 // one\n}\n", "{\n    \"a\": 1, // one\n    \"x\": 1\n}\n",
			func(d *Doc, o *hujson.Object) { _ = d.Set(o, 0, "x", 1) }},
		"add after trailing comma": {"{\n  \"a\": 1,\n}", "{\n  \"a\": 1,\n  \"x\": 1\n}",
			func(d *Doc, o *hujson.Object) { _ = d.Set(o, 0, "x", 1) }},
		"add on one line": {`{ "a": 1 }`, `{ "a": 1, "x": 1 }`, func(d *Doc, o *hujson.Object) { _ = d.Set(o, 0, "x", 1) }},
		"replace keeps comments": {"{\"a\": /* b */ 1 /* c */, \"b\": 2}", "{\"a\": /* b */ \"z\" /* c */, \"b\": 2}",
			func(d *Doc, o *hujson.Object) { _ = d.Set(o, 0, "a", "z") }},
		"CRLF": {"{\r\n\t\"a\": 1\r\n}\r\n", "{\r\n\t\"a\": 1,\r\n\t\"x\": {\r\n\t\t\"y\": 1\r\n\t}\r\n}\r\n",
			func(d *Doc, o *hujson.Object) { _ = d.Set(o, 0, "x", map[string]int{"y": 1}) }},
		"delete keeps the neighbours' comments": {
			"{\n  \"a\": 1, // about a\n  // about b\n  \"b\": 2, // also b\n  // about c\n  \"c\": 3\n}",
			"{\n  \"a\": 1, // about a\n  // about c\n  \"c\": 3\n}",
			func(_ *Doc, o *hujson.Object) { Delete(o, "b") }},
		"delete last stays plain": {"{\"a\": 1 , \"b\": 2}", "{\"a\": 1 }", func(_ *Doc, o *hujson.Object) { Delete(o, "b") }},
		"delete last keeps trailing comma": {"{\n  \"a\": 1,\n  \"b\": 2,\n}", "{\n  \"a\": 1,\n}",
			func(_ *Doc, o *hujson.Object) { Delete(o, "b") }},
		"delete only": {"{\n  \"a\": 1\n}", "{\n}", func(_ *Doc, o *hujson.Object) { Delete(o, "a") }},
	} {
		t.Run(name, func(t *testing.T) {
			d, o := root(t, tc.before)
			tc.edit(d, o)
			assert.Equal(t, tc.after, string(d.Bytes()))
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "{}", "{\"a\":[1,2,],}//x", "{\"a\":{\"a\":1,\"a\":2}}", "\ufeff[/*", "{\"a\" /*\n*/ : 1 /*\n*/, \"b\":2 //\n}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := Parse([]byte(s))
		if err != nil {
			if err.Line < 1 || err.Column < 1 || err.Message == "" {
				t.Fatalf("no place: %+v", err)
			}
			return
		}
		if string(d.Bytes()) != s {
			t.Fatalf("text changed: %q", d.Bytes())
		}
		o, ok := d.Root.Value.(*hujson.Object)
		if !ok || d.Duplicates() != nil {
			return
		}
		want := map[string]json.RawMessage{}
		if json.Unmarshal(Standard(&d.Root), &want) != nil {
			return // invalid UTF-8 and the like
		}
		if e := d.Set(o, 0, "new key", []string{"x"}); e != nil {
			t.Fatal(e)
		}
		d2, err := Parse(d.Bytes())
		if err != nil {
			t.Fatalf("set broke the text: %v\n%q", err, d.Bytes())
		}
		o2 := d2.Root.Value.(*hujson.Object)
		for len(o2.Members) > 0 {
			Delete(o2, Key(&o2.Members[len(o2.Members)/2]))
			if d2, err = Parse(d2.Bytes()); err != nil {
				t.Fatalf("delete broke the text: %v\n%q", err, s)
			}
			o2 = d2.Root.Value.(*hujson.Object)
		}
	})
}
