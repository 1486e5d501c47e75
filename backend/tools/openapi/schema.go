package openapi

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

const (
	component = "#/components/schemas/"
	inDefs    = "#/$defs/"
)

const (
	// maxDefs are the bytes of the definitions that one tool carries along. No
	// model reads more, and a large API refers from everywhere to everything.
	maxDefs = 128 << 10
	// maxAllDefs are those of all tools of a document, which share them evenly.
	maxAllDefs = 32 << 20
)

// schemas makes JSON Schema (2020-12) of the document's. A schema that is
// referred to moves to $defs, so that one that holds itself is no trouble.
type schemas struct {
	components *openapi3.Components
	defs       map[string]*definition
	carry      int // bytes of definitions that one tool may carry along
}

// definition is one schema of the document, converted once.
type definition struct {
	schema map[string]any // empty while it is made
	raw    json.RawMessage
	refs   []string
}

// measure fills raw and refs.
func (d *definition) measure() error {
	if d.raw != nil {
		return nil
	}
	d.refs = refsOf(d.schema)
	var err error
	d.raw, err = json.Marshal(d.schema)
	return err
}

// of returns a schema on its own; an empty one where there is none.
func (s *schemas) of(ref *openapi3.SchemaRef) map[string]any {
	if ref == nil {
		return map[string]any{}
	}
	raw, err := json.Marshal(ref)
	if err != nil {
		return map[string]any{}
	}
	var v map[string]any
	if json.Unmarshal(raw, &v) != nil || v == nil { // true and false are schemas too
		return map[string]any{}
	}
	return s.convert(v)
}

// convert rewrites one schema and those inside it.
func (s *schemas) convert(in map[string]any) map[string]any {
	out := map[string]any{}
	if ref, ok := in["$ref"].(string); ok {
		if name, ok := strings.CutPrefix(ref, component); ok && !strings.Contains(name, "/") {
			s.define(name)
			out["$ref"] = inDefs + name
		}
		if d, ok := in["description"]; ok {
			out["description"] = d
		}
		return out // what refers to another place takes anything
	}
	for k, v := range in {
		switch k {
		case "properties", "patternProperties", "dependentSchemas":
			if m, ok := v.(map[string]any); ok {
				out[k] = s.each(m, k == "properties")
			}
		case "items", "not", "additionalProperties", "contains", "if", "then", "else", "propertyNames", "unevaluatedProperties", "unevaluatedItems":
			out[k] = v
			if m, ok := v.(map[string]any); ok {
				out[k] = s.convert(m)
			}
		case "allOf", "anyOf", "oneOf", "prefixItems":
			list, _ := v.([]any)
			made := []any{}
			for _, item := range list {
				if m, ok := item.(map[string]any); ok {
					item = s.convert(m)
				}
				made = append(made, item)
			}
			if len(made) > 0 {
				out[k] = made
			}
		case "nullable", "discriminator", "xml", "externalDocs", "example", "readOnly", "writeOnly", "deprecated", "exclusiveMinimum", "exclusiveMaximum", "$schema", "$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$defs":
		default:
			if !strings.HasPrefix(k, "x-") {
				out[k] = v
			}
		}
	}
	s.bounds(in, out)
	if in["nullable"] == true {
		if t, ok := out["type"].(string); ok {
			out["type"] = []any{t, "null"}
		}
		if list, ok := out["enum"].([]any); ok {
			out["enum"] = append(append([]any{}, list...), nil)
		}
	}
	s.dropReadOnly(in, out)
	return out
}

// each converts the schemas of m; a field that can only be read is none of a request.
func (s *schemas) each(m map[string]any, fields bool) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		inner, ok := v.(map[string]any)
		switch {
		case !ok:
			out[k] = v
		case fields && inner["readOnly"] == true:
		default:
			out[k] = s.convert(inner)
		}
	}
	return out
}

func (s *schemas) dropReadOnly(in, out map[string]any) {
	fields, _ := in["properties"].(map[string]any)
	must, _ := in["required"].([]any)
	kept := []any{}
	for _, name := range must {
		n, _ := name.(string)
		if f, ok := fields[n].(map[string]any); !ok || f["readOnly"] != true {
			kept = append(kept, name)
		}
	}
	delete(out, "required")
	if len(kept) > 0 {
		out["required"] = kept
	}
}

// bounds spells the bounds of OpenAPI 3.0, where exclusive ones are a yes or no, as 2020-12 does.
func (s *schemas) bounds(in, out map[string]any) {
	for exclusive, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		switch v := in[exclusive].(type) {
		case bool:
			if v && in[bound] != nil {
				out[exclusive] = in[bound]
				delete(out, bound)
			}
		case nil:
		default:
			out[exclusive] = v
		}
	}
}

// define makes the schema called name, once.
func (s *schemas) define(name string) {
	if _, there := s.defs[name]; there || s.components == nil {
		return
	}
	d := &definition{schema: map[string]any{}}
	s.defs[name] = d
	if ref := s.components.Schemas[name]; ref != nil {
		d.schema = s.of(ref)
	}
}

// resolve follows references at the top.
func (s *schemas) resolve(schema map[string]any) map[string]any {
	for range 20 { // one that refers to itself ends here
		ref, ok := schema["$ref"].(string)
		if !ok {
			return schema
		}
		next := s.defs[strings.TrimPrefix(ref, inDefs)]
		if next == nil {
			return schema
		}
		schema = next.schema
	}
	return map[string]any{}
}

// merged returns the fields of an object as one schema, also when they are
// spread over an allOf. ok is false when more than its fields decides what fits.
func (s *schemas) merged(schema map[string]any, depth int) (out map[string]any, ok bool) {
	schema = s.resolve(schema)
	for _, k := range []string{"anyOf", "oneOf", "not", "if"} {
		if schema[k] != nil {
			return nil, false
		}
	}
	parts, _ := schema["allOf"].([]any)
	if len(parts) == 0 {
		return schema, true
	}
	if depth > 20 { // it holds itself
		return nil, false
	}
	fields, must := map[string]any{}, []any{}
	own := maps.Clone(schema)
	delete(own, "allOf")
	for _, part := range append(slices.Clone(parts), own) {
		one, _ := part.(map[string]any)
		if one, ok = s.merged(one, depth+1); !ok {
			return nil, false
		}
		inner, _ := one["properties"].(map[string]any)
		for k, v := range inner {
			if _, twice := fields[k]; twice {
				return nil, false
			}
			fields[k] = v
		}
		list, _ := one["required"].([]any)
		must = append(must, list...)
	}
	return map[string]any{"type": "object", "properties": fields, "required": must}, true
}

func (s *schemas) isObject(schema map[string]any) bool {
	schema = s.resolve(schema)
	return schema["type"] == "object" || schema["properties"] != nil
}

// isFile reports whether a field of a multipart body is a file, or a list of
// files: OpenAPI 3.0 says format: binary, 3.1 names a media type or an encoding.
func (s *schemas) isFile(field any) bool {
	schema, _ := field.(map[string]any)
	schema = s.resolve(schema)
	if items, ok := schema["items"].(map[string]any); ok {
		schema = s.resolve(items)
	}
	if schema["format"] == "binary" || schema["format"] == "byte" {
		return true
	}
	media, _ := schema["contentMediaType"].(string)
	return media != "" && media != "application/json"
}

// fileSchema is the argument that stands for a file.
func fileSchema(field any) map[string]any {
	text := func(about string) map[string]any { return map[string]any{"type": "string", "description": about} }
	file := map[string]any{
		"type": "object",
		"properties": map[string]any{
			"name":      text("The name of the file."),
			"mediaType": text("What it holds, such as image/png."),
			"text":      text("Its content, when it is text."),
			"base64":    text("Its content in base64, when it is not."),
		},
		"oneOf": []any{map[string]any{"required": []any{"text"}}, map[string]any{"required": []any{"base64"}}},
	}
	was, _ := field.(map[string]any)
	if was["items"] != nil {
		file = map[string]any{"type": "array", "items": file}
	}
	if d, ok := was["description"]; ok {
		file["description"] = d
	}
	return file
}

// needed returns the definitions that v refers to, and those that these do, the
// nearest first. cut says that there are too many: the rest take anything.
func (s *schemas) needed(v any) (out map[string]any, cut bool, err error) {
	out = map[string]any{}
	left := s.carry
	for queue := refsOf(v); len(queue) > 0; queue = queue[1:] {
		name := queue[0]
		d := s.defs[name]
		if _, there := out[name]; there || d == nil {
			continue
		}
		if err := d.measure(); err != nil {
			return nil, false, err
		}
		if len(d.raw) > left {
			out[name], cut = map[string]any{}, true
			continue
		}
		left -= len(d.raw)
		out[name] = d.raw
		queue = append(queue, d.refs...)
	}
	return out, cut, nil
}

// refsOf lists the definitions that v names itself, in an order that does not change.
func refsOf(v any) []string {
	var out []string
	var look func(v any)
	look = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				if name := strings.TrimPrefix(ref, inDefs); !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
			for _, k := range slices.Sorted(maps.Keys(v)) {
				look(v[k])
			}
		case []any:
			for _, inner := range v {
				look(inner)
			}
		}
	}
	look(v)
	return out
}
