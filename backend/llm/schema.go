package llm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Bounds of a schema that is sent. A larger one costs more than its tool is worth.
const (
	maxSchemaBytes = 256 << 10
	maxSchemaDepth = 40
)

// WireSchema derives the schema that is sent to a model from a tool's own,
// which stays what arguments are checked against: the root is an object with
// properties and without anyOf, oneOf and allOf, which are folded into it;
// boolean subschemas become {}; $schema and $id are dropped; the rest, and the
// order of the keys, is kept. An error says why the tool cannot be offered.
func WireSchema(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`), nil
	}
	if len(raw) > maxSchemaBytes {
		return nil, fmt.Errorf("the input schema has %d KiB; at most %d can be sent to a model", len(raw)>>10, maxSchemaBytes>>10)
	}
	if !json.Valid(raw) {
		return nil, fmt.Errorf("the input schema is not valid JSON")
	}
	v, err := hujson.Parse(append([]byte(nil), raw...))
	if err != nil {
		return nil, fmt.Errorf("the input schema is not valid JSON")
	}
	root, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("the input schema is not an object")
	}
	if err := foldRoot(root); err != nil {
		return nil, err
	}
	if err := project(&v, 0); err != nil {
		return nil, err
	}
	v.Minimize()
	return v.Pack(), nil
}

// LeftOut is a tool that a model is not offered.
type LeftOut struct {
	Name string
	Err  error // why
}

// WireTools derives the schemas of tools and leaves out those for which that
// fails, saying why: one bad tool must not cost the request.
func WireTools(tools []ToolDef) (out []ToolDef, left []LeftOut) {
	out = make([]ToolDef, 0, len(tools))
	for _, t := range tools {
		s, err := WireSchema(t.Schema)
		if err != nil {
			left = append(left, LeftOut{t.Name, err})
			continue
		}
		t.Schema = s
		out = append(out, t)
	}
	return out, left
}

func member(o *hujson.Object, key string) *hujson.Value {
	for i := range o.Members {
		if keyOf(o.Members[i]) == key {
			return &o.Members[i].Value
		}
	}
	return nil
}

func keyOf(m hujson.ObjectMember) string {
	lit, _ := m.Name.Value.(hujson.Literal)
	return lit.String()
}

func put(o *hujson.Object, key string, v hujson.ValueTrimmed) {
	if m := member(o, key); m != nil {
		m.Value = v
		return
	}
	o.Members = append(o.Members, hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(key)}, Value: hujson.Value{Value: v}})
}

func drop(o *hujson.Object, keys ...string) {
	o.Members = slices.DeleteFunc(o.Members, func(m hujson.ObjectMember) bool { return slices.Contains(keys, keyOf(m)) })
}

func text(v *hujson.Value) string {
	if v == nil {
		return ""
	}
	if lit, ok := v.Value.(hujson.Literal); ok && lit.Kind() == '"' {
		return lit.String()
	}
	return ""
}

// foldRoot makes the root an object with properties and nothing beside it that
// vendors refuse there.
func foldRoot(root *hujson.Object) error {
	for range 10 { // a root that is only a reference to a definition
		ref := text(member(root, "$ref"))
		if ref == "" {
			break
		}
		target := resolve(root, ref)
		if target == nil {
			return fmt.Errorf("the input schema refers to %q, which it does not hold", ref)
		}
		drop(root, "$ref")
		merge(root, target, true)
	}
	switch t := member(root, "type"); {
	case t == nil:
	case text(t) == "object":
	case t.Value.Kind() == '[' && slices.ContainsFunc(t.Value.(*hujson.Array).Elements, func(e hujson.Value) bool { return text(&e) == "object" }):
	default:
		return fmt.Errorf("the input schema does not describe an object")
	}
	put(root, "type", hujson.String("object"))
	if p := member(root, "properties"); p == nil || p.Value.Kind() != '{' {
		put(root, "properties", &hujson.Object{})
	}
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		if m := member(root, word); m != nil {
			if arr, ok := m.Value.(*hujson.Array); ok {
				for i := range arr.Elements {
					branch, _ := arr.Elements[i].Value.(*hujson.Object)
					if branch != nil && text(member(branch, "$ref")) != "" {
						branch = resolve(root, text(member(branch, "$ref")))
					}
					if branch != nil {
						merge(root, branch, word == "allOf")
					}
				}
			}
			drop(root, word)
		}
	}
	drop(root, "not", "if", "then", "else", "enum", "const", "dependentSchemas")
	if r := member(root, "required"); r != nil && r.Value.Kind() != '[' { // draft 3
		drop(root, "required")
	}
	return nil
}

// merge adds the properties of from to root, and what it requires if all of it holds.
func merge(root, from *hujson.Object, all bool) {
	if p := member(from, "properties"); p != nil {
		if src, ok := p.Value.(*hujson.Object); ok {
			if d := member(root, "properties"); d == nil || d.Value.Kind() != '{' {
				put(root, "properties", &hujson.Object{})
			}
			dst := member(root, "properties").Value.(*hujson.Object)
			for _, m := range src.Members {
				if member(dst, keyOf(m)) == nil {
					dst.Members = append(dst.Members, hujson.ObjectMember{Name: m.Name.Clone(), Value: m.Value.Clone()})
				}
			}
		}
	}
	if !all {
		return
	}
	if r := member(from, "required"); r != nil && r.Value.Kind() == '[' {
		if d := member(root, "required"); d == nil || d.Value.Kind() != '[' {
			put(root, "required", &hujson.Array{})
		}
		dst := member(root, "required").Value.(*hujson.Array)
		for _, e := range r.Value.(*hujson.Array).Elements {
			if !slices.ContainsFunc(dst.Elements, func(x hujson.Value) bool { return text(&x) == text(&e) }) {
				dst.Elements = append(dst.Elements, e.Clone())
			}
		}
	}
	for _, m := range from.Members {
		if k := keyOf(m); k != "properties" && k != "required" && member(root, k) == nil {
			root.Members = append(root.Members, hujson.ObjectMember{Name: m.Name.Clone(), Value: m.Value.Clone()})
		}
	}
}

// resolve finds what a local reference points at, nil if that is no object.
func resolve(root *hujson.Object, ref string) *hujson.Object {
	ptr, ok := strings.CutPrefix(ref, "#")
	if !ok || ptr == "" {
		return nil
	}
	v := hujson.Value{Value: root}
	target := v.Find(ptr)
	if target == nil {
		return nil
	}
	o, _ := target.Value.(*hujson.Object)
	if o == root {
		return nil
	}
	return o
}

// project works on the schema v and all schemas in it.
func project(v *hujson.Value, depth int) error {
	if depth > maxSchemaDepth {
		return fmt.Errorf("the input schema nests more than %d levels deep", maxSchemaDepth)
	}
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		if k := v.Value.Kind(); k == 't' || k == 'f' {
			v.Value = &hujson.Object{}
		}
		return nil
	}
	drop(o, "$schema", "$id", "$comment")
	if ref := text(member(o, "$ref")); ref != "" && !strings.HasPrefix(ref, "#") {
		return fmt.Errorf("the input schema refers to %q outside itself", ref)
	}
	for i := range o.Members {
		m := &o.Members[i].Value
		var err error
		switch keyOf(o.Members[i]) {
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			if inner, ok := m.Value.(*hujson.Object); ok {
				for j := range inner.Members {
					if err = project(&inner.Members[j].Value, depth+1); err != nil {
						return err
					}
				}
			}
		case "additionalProperties", "unevaluatedProperties":
			// true and false mean much here, and every vendor takes them
			if m.Value.Kind() == '{' {
				err = project(m, depth+1)
			}
		case "items", "additionalItems", "unevaluatedItems", "contains", "propertyNames", "not", "if", "then", "else", "allOf", "anyOf", "oneOf", "prefixItems":
			if arr, ok := m.Value.(*hujson.Array); ok {
				for j := range arr.Elements {
					if err = project(&arr.Elements[j], depth+1); err != nil {
						return err
					}
				}
			} else {
				err = project(m, depth+1)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
