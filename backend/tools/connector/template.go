package connector

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"patchbay/backend/core"
)

// placeholder is an argument in a template. What it is replaced by is not
// looked at again, so an argument cannot bring placeholders along.
var placeholder = regexp.MustCompile(`\{\{\s*([^{}]*?)\s*\}\}`)

// decodeArguments reads the arguments, numbers as they are written.
func decodeArguments(raw json.RawMessage) (map[string]any, error) {
	if len(raw) == 0 {
		return map[string]any{}, nil
	}
	var args map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&args); err != nil {
		return nil, core.Errorf(core.CodeInvalid, "The arguments are no JSON object: %w", err)
	}
	return args, nil
}

// textOf is an argument as it stands inside a text; false for lists and objects.
func textOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		if v {
			return "true", true
		}
		return "false", true
	}
	return "", false
}

// names are the arguments of a template, in their order.
func names(template string) []string {
	var out []string
	for _, m := range placeholder.FindAllStringSubmatch(template, -1) {
		out = append(out, m[1])
	}
	return out
}

// fill replaces the placeholders of a text by encode of what they stand for.
// given is false when one of them is missing or null. where names the place
// for the error, which says that a list or an object cannot stand there.
func fill(template string, args map[string]any, where string, encode func(string) string) (text string, given bool, err error) {
	given = true
	text = placeholder.ReplaceAllStringFunc(template, func(m string) string {
		name := placeholder.FindStringSubmatch(m)[1]
		v := args[name]
		if v == nil {
			given = false
			return ""
		}
		if list, ok := v.([]any); ok { // as RFC 6570 expands a list
			var parts []string
			for _, item := range list {
				s, ok := textOf(item)
				if !ok {
					err = notText(name, where)
				}
				parts = append(parts, encode(s))
			}
			return strings.Join(parts, ",")
		}
		s, ok := textOf(v)
		if !ok {
			err = notText(name, where)
		}
		return encode(s)
	})
	return text, given, err
}

func notText(name, where string) error {
	e := core.Errorf(core.CodeInvalid, "The argument %q goes into %s, so it must be a text, a number, true or false, or a list of those.", name, where)
	e.Path = name
	return e
}

func asItIs(s string) string { return s }

// percent encodes everything but the unreserved characters of RFC 3986, so that
// an argument stays inside the one segment or value where it stands.
func percent(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String()
}

// fillValue replaces the placeholders in a JSON value. given is false when the
// value is to be left out, because its argument is.
func fillValue(v any, args map[string]any) (out any, given bool, err error) {
	switch v := v.(type) {
	case string:
		if m := placeholder.FindStringSubmatch(v); m != nil && m[0] == v {
			value, there := args[m[1]]
			return value, there, nil
		}
		return fillText(v, args)
	case []any:
		list := []any{}
		for _, item := range v {
			value, given, err := fillValue(item, args)
			if err != nil {
				return nil, false, err
			}
			if given {
				list = append(list, value)
			}
		}
		return list, true, nil
	case map[string]any:
		object := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			value, given, err := fillValue(v[k], args)
			if err != nil {
				return nil, false, err
			}
			if given {
				object[k] = value
			}
		}
		return object, true, nil
	}
	return v, true, nil
}

func fillText(v string, args map[string]any) (any, bool, error) {
	text, given, err := fill(v, args, "the middle of a text of the body", asItIs)
	return text, given, err
}
