package openapi

import (
	"encoding/json"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

const component = "#/components/schemas/"

// schemas makes JSON Schema (2020-12) of the document's. A schema that is
// referred to moves to $defs, so that one that holds itself is no trouble.
type schemas struct {
	components *openapi3.Components
	defs       map[string]any // by name; nil while it is made
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
			out["$ref"] = "#/$defs/" + name
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
	s.defs[name] = map[string]any{}
	if ref := s.components.Schemas[name]; ref != nil {
		s.defs[name] = s.of(ref)
	}
}

// resolve follows references at the top.
func (s *schemas) resolve(schema map[string]any) map[string]any {
	for range 20 { // one that refers to itself ends here
		ref, ok := schema["$ref"].(string)
		if !ok {
			return schema
		}
		next, ok := s.defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
		if !ok {
			return schema
		}
		schema = next
	}
	return map[string]any{}
}

func (s *schemas) isObject(schema map[string]any) bool {
	schema = s.resolve(schema)
	return schema["type"] == "object" || schema["properties"] != nil
}

// needed returns the definitions that v refers to, and those that these do.
func (s *schemas) needed(v any) map[string]any {
	out := map[string]any{}
	var look func(v any)
	look = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				name := strings.TrimPrefix(ref, "#/$defs/")
				if def, there := s.defs[name]; there && out[name] == nil {
					out[name] = def
					look(def)
				}
			}
			for _, inner := range v {
				look(inner)
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
