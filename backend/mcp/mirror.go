package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// mirrorProblem says what is wrong with the wishes of a schema to see arguments
// in headers, "" if nothing is (MCP 2026-07-28, Transports, x-mcp-header). A
// tool with illegal ones must not be called over HTTP.
func mirrorProblem(schema json.RawMessage) string {
	if !bytes.Contains(schema, []byte("x-mcp-header")) {
		return ""
	}
	var root any
	if json.Unmarshal(schema, &root) != nil {
		return ""
	}
	return checkMirrors(root, "", true, map[string]bool{})
}

// checkMirrors walks a schema. plain says that the way to it led through
// "properties" only; elsewhere no header may be asked for, since there need not
// be one value. seen holds the names so far, in lower case.
func checkMirrors(schema any, at string, plain bool, seen map[string]bool) string {
	switch s := schema.(type) {
	case []any:
		for _, v := range s {
			if p := checkMirrors(v, at, false, seen); p != "" {
				return p
			}
		}
	case map[string]any:
		if h, ok := s["x-mcp-header"]; ok {
			if p := checkMirror(s, h, at, plain, seen); p != "" {
				return p
			}
		}
		for key, v := range s {
			switch key {
			case "x-mcp-header", "default", "const", "enum", "examples": // values, not schemas
				continue
			}
			named, _ := v.(map[string]any)
			below := plain && key == "properties"
			switch key {
			case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
				for name, sub := range named {
					if p := checkMirrors(sub, strings.TrimPrefix(at+"."+name, "."), below, seen); p != "" {
						return p
					}
				}
				continue
			}
			if p := checkMirrors(v, at, false, seen); p != "" {
				return p
			}
		}
	}
	return ""
}

func checkMirror(schema map[string]any, header any, at string, plain bool, seen map[string]bool) string {
	name, ok := header.(string)
	switch t := schema["type"]; {
	case !plain || at == "":
		return fmt.Sprintf("It wants an argument in a header that need not have one value (%q).", at)
	case !ok || name == "":
		return fmt.Sprintf("It wants the argument %q in a header without a name.", at)
	case t != "string" && t != "integer" && t != "boolean":
		return fmt.Sprintf("It wants the argument %q in a header, which works for texts, integers and truth values only.", at)
	case seen[strings.ToLower(name)]:
		return fmt.Sprintf("It wants two arguments in the same header, %q.", name)
	}
	for _, c := range []byte(name) { // RFC 9110, 5.6.2
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return fmt.Sprintf("It wants the argument %q in a header with an impossible name.", at)
		}
	}
	seen[strings.ToLower(name)] = true
	return ""
}
