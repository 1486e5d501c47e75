package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"patchbay/backend/core"
)

const (
	maxArguments = 8 << 20 // bytes
	maxDepth     = 64
	patternLimit = 50 * time.Millisecond // for one match of a schema's pattern
)

// parseArguments reads a JSON object strictly: exact case is kept, duplicate
// keys and deep nesting are refused. It returns the value for validation and
// our own encoding of it. That encoding is what is shown, recorded and sent, so
// that nobody downstream can read the text differently than we did.
func parseArguments(raw json.RawMessage) (map[string]any, json.RawMessage, error) {
	if len(bytes.TrimSpace(raw)) == 0 || string(bytes.TrimSpace(raw)) == "null" {
		raw = json.RawMessage("{}")
	}
	if len(raw) > maxArguments {
		return nil, nil, core.Errorf(core.CodeTooLarge, "The arguments are %d bytes; the limit is %d.", len(raw), maxArguments)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	v, err := readValue(dec, "", 0)
	if err == nil {
		if _, more := dec.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more after the first value")
		}
	}
	if err != nil {
		line, col := position(raw, dec.InputOffset())
		return nil, nil, &core.Error{Code: core.CodeInvalid, Line: line, Column: col, Err: err,
			Message: fmt.Sprintf("The arguments are not valid JSON (line %d, column %d): %v.", line, col, err)}
	}
	obj, ok := v.(map[string]any)
	if !ok {
		return nil, nil, core.Errorf(core.CodeInvalid, "The arguments must be a JSON object such as {\"name\": \"value\"}.")
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(obj); err != nil {
		return nil, nil, core.Errorf(core.CodeInvalid, "The arguments cannot be encoded: %w", err)
	}
	return obj, bytes.TrimRight(b.Bytes(), "\n"), nil
}

func readValue(dec *json.Decoder, path string, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nesting is deeper than %d", maxDepth)
	}
	tok, err := dec.Token()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("it ends too early")
		}
		return nil, err
	}
	delim, ok := tok.(json.Delim)
	if !ok {
		return tok, nil
	}
	if delim == '[' {
		list := []any{}
		for dec.More() {
			v, err := readValue(dec, fmt.Sprintf("%s/%d", path, len(list)), depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := dec.Token()
		return list, err
	}
	obj := map[string]any{}
	for dec.More() {
		k, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key := k.(string)
		at := path + "/" + key
		if _, twice := obj[key]; twice {
			return nil, fmt.Errorf("%s appears twice", at)
		}
		if obj[key], err = readValue(dec, at, depth+1); err != nil {
			return nil, err
		}
	}
	_, err = dec.Token()
	return obj, err
}

func position(text []byte, offset int64) (line, column int) {
	before := text[:min(int(offset), len(text))]
	line = 1 + bytes.Count(before, []byte("\n"))
	return line, len(before) - bytes.LastIndexByte(before, '\n')
}

// schema compiles on first use, so that a thousand tools cost nothing at start.
type schema struct {
	source json.RawMessage
	once   sync.Once
	ready  *jsonschema.Schema
	err    error
}

// validate checks the arguments against the tool's original schema and names
// every mistake at once, so that a model can mend all of them in one turn.
func (s *schema) validate(tool string, args map[string]any) error {
	s.once.Do(func() { s.ready, s.err = compile(s.source) })
	if s.err != nil {
		return core.Errorf(core.CodeInvalid, "The input schema of %s cannot be used, so its arguments cannot be checked: %w", tool, s.err)
	}
	err := s.ready.Validate(args)
	var v *jsonschema.ValidationError
	if errors.As(err, &v) {
		return &core.Error{Code: core.CodeInvalid, Err: err,
			Message: fmt.Sprintf("The arguments of %s do not fit: %s.", tool, strings.Join(leaves(v), "; "))}
	}
	return err
}

func leaves(v *jsonschema.ValidationError) []string {
	if len(v.Causes) == 0 {
		at := "/" + strings.Join(v.InstanceLocation, "/")
		if at == "/" {
			at = "the object"
		}
		return []string{at + ": " + v.ErrorKind.LocalizedString(message.NewPrinter(language.English))}
	}
	var out []string
	for _, c := range v.Causes {
		out = append(out, leaves(c)...)
	}
	return out
}

type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("it refers to %s, and schemas are never fetched", url)
}

func compile(raw json.RawMessage) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(func(p string) (jsonschema.Regexp, error) {
		re, err := regexp2.Compile(p, regexp2.ECMAScript)
		if err != nil {
			return nil, err
		}
		re.MatchTimeout = patternLimit
		return pattern{re}, nil
	})
	const id = "urn:patchbay:input"
	if err := c.AddResource(id, doc); err != nil {
		return nil, err
	}
	ready, err := c.Compile(id)
	var broken *jsonschema.SchemaValidationError
	var v *jsonschema.ValidationError
	if errors.As(err, &broken) && errors.As(broken.Err, &v) {
		return nil, errors.New(strings.Join(leaves(v), "; "))
	}
	return ready, err
}

// CheckSchema returns why raw cannot be the schema of a tool's input, or nil.
func CheckSchema(raw json.RawMessage) error {
	_, err := compile(raw)
	return err
}

type pattern struct{ *regexp2.Regexp }

// MatchString treats a pattern that runs out of time as not matching: not called.
func (p pattern) MatchString(s string) bool {
	ok, err := p.Regexp.MatchString(s)
	return err == nil && ok
}
