package connector

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"patchbay/backend/core"
)

// Build makes the request of c for args, without what signs it in. The error
// has the code invalid and names the argument that does not fit.
func Build(ctx context.Context, c core.Connector, args json.RawMessage) (*http.Request, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	values, err := decodeArguments(args)
	if err != nil {
		return nil, err
	}
	address, err := addressOf(c, values)
	if err != nil {
		return nil, err
	}
	body, kind, err := bodyOf(c, values)
	if err != nil {
		return nil, err
	}
	var reader io.Reader = http.NoBody
	if body != nil {
		reader = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, c.Method, address, reader)
	if err != nil {
		return nil, core.Errorf(core.CodeInvalid, "The request cannot be made: %w", err)
	}
	if was, now := c.Origin(), req.URL.Scheme+"://"+req.URL.Host; !strings.EqualFold(was, now) || req.URL.User != nil {
		return nil, core.Errorf(core.CodeInvalid, "The arguments would lead the request away from %s, so it was not made.", was)
	}
	req.Header.Set("Accept", "application/json, text/*;q=0.9, */*;q=0.5")
	req.Header.Set("User-Agent", "patchbay")
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	for k, template := range c.Headers {
		v, given, err := fill(template, values, "the header "+k, asItIs)
		if err != nil {
			return nil, err
		}
		if bad := strings.IndexFunc(v, func(r rune) bool { return r < 32 && r != '\t' || r == 127 }); bad >= 0 {
			return nil, core.Errorf(core.CodeInvalid, "The header %s would hold a line break or another control character, so the request was not made.", k)
		}
		if given {
			req.Header.Set(k, v)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(c.Cookies)) {
		v, given, err := fill(c.Cookies[k], values, "the cookie "+k, percent)
		if err != nil {
			return nil, err
		}
		if given {
			addCookie(req, k, v)
		}
	}
	return req, nil
}

// addCookie sends one more cookie. Its value is encoded already.
func addCookie(req *http.Request, name, value string) {
	pair := name + "=" + value
	if before := req.Header.Get("Cookie"); before != "" {
		pair = before + "; " + pair
	}
	req.Header.Set("Cookie", pair)
}

// addressOf fills the URL and appends the query.
func addressOf(c core.Connector, args map[string]any) (string, error) {
	path, query, hasQuery := strings.Cut(c.URL[len(c.Origin()):], "?")
	for _, name := range names(path) {
		if list, ok := args[name].([]any); ok && len(list) == 0 || args[name] == nil || args[name] == "" {
			e := core.Errorf(core.CodeInvalid, "The argument %q stands in the path of the address, so it must be given and not be empty.", name)
			e.Path = name
			return "", e
		}
	}
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		filled, _, err := fill(segment, args, "the path of the address", percent)
		if err != nil {
			return "", err
		}
		if filled != segment && stepsAway(filled) {
			return "", core.Errorf(core.CodeInvalid, "An argument would make %q of a part of the address, which leads elsewhere. The request was not made.", filled)
		}
		segments[i] = filled
	}
	var pairs []string
	if hasQuery {
		for _, pair := range strings.Split(query, "&") {
			filled, given, err := fill(pair, args, "the address", percent)
			if err != nil {
				return "", err
			}
			if given && filled != "" {
				pairs = append(pairs, filled)
			}
		}
	}
	more, err := fields(c.Query, args)
	if err != nil {
		return "", err
	}
	pairs = append(pairs, more...)
	address := c.Origin() + strings.Join(segments, "/")
	if len(pairs) > 0 {
		address += "?" + strings.Join(pairs, "&")
	}
	return address, nil
}

// stepsAway reports whether an encoded part of a path is empty or holds steps
// such as "..". Many servers decode slashes before they take the steps.
func stepsAway(segment string) bool {
	plain, err := url.PathUnescape(segment)
	if err != nil || plain == "" {
		return true
	}
	steps := strings.FieldsFunc(plain, func(r rune) bool { return r == '/' || r == '\\' })
	return slices.Contains(steps, ".") || slices.Contains(steps, "..")
}

// fields are templates by name as the pairs of a query or a form. A list that
// stands alone becomes one pair for each of its values.
func fields(templates map[string]string, args map[string]any) ([]string, error) {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(templates)) {
		template := templates[k]
		if m := placeholder.FindStringSubmatch(template); m != nil && m[0] == template {
			object, isObject := args[m[1]].(map[string]any)
			prefix, wantsObject := strings.CutSuffix(k, "[*]")
			switch _, isList := args[m[1]].([]any); {
			case wantsObject && isList:
				k = prefix + "[]"
			case wantsObject && !isObject:
				k = prefix
			case wantsObject:
				more, err := deep(m[1], prefix, object)
				if err != nil {
					return nil, err
				}
				out = append(out, more...)
				continue
			}
			if list, ok := args[m[1]].([]any); ok {
				for _, item := range list {
					s, ok := textOf(item)
					if !ok {
						return nil, notText(m[1], "the parameter "+k)
					}
					out = append(out, percent(k)+"="+percent(s))
				}
				continue
			}
		}
		v, given, err := fill(template, args, "the parameter "+k, asItIs)
		if err != nil {
			return nil, err
		}
		if given {
			out = append(out, percent(k)+"="+percent(v))
		}
	}
	return out, nil
}

// deep spells an object as most servers read one in a query: filter[name]=x.
func deep(arg, prefix string, object map[string]any) ([]string, error) {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(object)) {
		name := prefix + "[" + k + "]"
		list, isList := object[k].([]any)
		if !isList {
			list = []any{object[k]}
		}
		for _, item := range list {
			if inner, ok := item.(map[string]any); ok && !isList {
				more, err := deep(arg, name, inner)
				if err != nil {
					return nil, err
				}
				out = append(out, more...)
				continue
			}
			s, ok := textOf(item)
			switch {
			case item == nil:
			case !ok:
				return nil, notText(arg, "the query, below "+name)
			default:
				out = append(out, percent(name)+"="+percent(s))
			}
		}
	}
	return out, nil
}

// bodyOf returns the body and its media type; nil and "" for none.
func bodyOf(c core.Connector, args map[string]any) ([]byte, string, error) {
	if len(c.Body) == 0 {
		return nil, "", nil
	}
	var template any
	dec := json.NewDecoder(bytes.NewReader(c.Body))
	dec.UseNumber()
	if err := dec.Decode(&template); err != nil {
		return nil, "", core.Errorf(core.CodeInvalid, "The body is no JSON value: %w", err)
	}
	value, given, err := fillValue(template, args)
	if err != nil || !given {
		return nil, "", err
	}
	switch c.BodyAs {
	case "text":
		text, ok := textOf(value)
		if !ok {
			return nil, "", core.Errorf(core.CodeInvalid, "The body is sent as text, so it must be a text.")
		}
		return []byte(text), "text/plain; charset=utf-8", nil
	case "form":
		object, ok := value.(map[string]any)
		if !ok {
			return nil, "", core.Errorf(core.CodeInvalid, "The body is sent as a form, so it must be an object of its fields.")
		}
		form := url.Values{}
		var more []string
		for _, k := range slices.Sorted(maps.Keys(object)) {
			v := object[k]
			if inner, ok := v.(map[string]any); ok {
				pairs, err := deep(k, k, inner)
				if err != nil {
					return nil, "", err
				}
				more = append(more, pairs...)
				continue
			}
			list, ok := v.([]any)
			if !ok {
				list = []any{v}
			}
			for _, item := range list {
				s, ok := textOf(item)
				if !ok && item != nil {
					return nil, "", notText(k, "a form")
				}
				form.Add(k, s)
			}
		}
		if plain := form.Encode(); plain != "" {
			more = append([]string{plain}, more...)
		}
		return []byte(strings.Join(more, "&")), "application/x-www-form-urlencoded", nil
	}
	if c.BodyAs == "multipart" {
		return multipartOf(c.Files, value)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, "", fmt.Errorf("writing the body: %w", err)
	}
	return raw, "application/json", nil
}
