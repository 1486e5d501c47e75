// Package openapi reads OpenAPI 3 documents into tools without code.
package openapi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"patchbay/backend/core"
)

const (
	// MaxBytes is the largest document that is read.
	MaxBytes      = 8 << 20
	maxOperations = 2000
	maxAbout      = 1024 // bytes of a description
	maxDepth      = 200
	maxTime       = 20 * time.Second
)

// Document is what was read.
type Document struct {
	Title     string
	Version   string
	Proposals []core.ConnectorProposal // in the order of their paths
}

// Parse reads a document of OpenAPI 3.0 or 3.1, in JSON or YAML. base, when not
// "", stands in the place of the servers that the document names. Nothing is
// fetched: a reference to another file is an error.
func Parse(ctx context.Context, text, base string) (doc Document, err error) {
	defer func() {
		// The document is a stranger's, and the library is large.
		if p := recover(); p != nil {
			doc, err = Document{}, core.Errorf(core.CodeInvalid, "The document cannot be read: %v.", p)
		}
	}()
	if len(text) > MaxBytes {
		return doc, core.Errorf(core.CodeTooLarge, "The document is larger than %d MiB.", MaxBytes>>20)
	}
	if strings.TrimSpace(text) == "" {
		return doc, core.Errorf(core.CodeInvalid, "The document is empty. Paste it, or choose a file.")
	}
	if base = strings.TrimSpace(base); base != "" && !strings.HasPrefix(base, "http://") && !strings.HasPrefix(base, "https://") {
		return doc, &core.Error{Code: core.CodeInvalid, Path: "baseUrl", Message: fmt.Sprintf("The base address %q must begin with https:// or http://.", base)}
	}
	if nests(text) > maxDepth {
		return doc, core.Errorf(core.CodeInvalid, "The document nests more than %d levels deep. Describe what lies that deep under components, and refer to it.", maxDepth)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, maxTime, core.Errorf(core.CodeTimeout, "The document was not read within %.0f s. Take the operations out that you do not need, then try again.", maxTime.Seconds()))
	defer cancel()
	loader := openapi3.NewLoader()
	loader.Context = ctx
	loader.ReadFromURIFunc = func(_ *openapi3.Loader, u *url.URL) ([]byte, error) {
		return nil, core.Errorf(core.CodeInvalid, "The document refers to another file, %s, which is not fetched. Bundle it into one document first.", u.Redacted())
	}
	loader.IsExternalRefsAllowed = true // so that the sentence above is told
	t, err := loader.LoadFromData([]byte(text))
	var ours *core.Error
	switch {
	case errors.As(err, &ours):
		return doc, ours
	case err != nil:
		return doc, core.Errorf(core.CodeInvalid, "This is no OpenAPI document that can be read: %s.", because(text, err))
	case !strings.HasPrefix(t.OpenAPI, "3."):
		return doc, core.Errorf(core.CodeInvalid, "The document must say openapi: 3.0 or 3.1. For Swagger 2.0, convert it first.")
	}
	if t.Info != nil {
		doc.Title, doc.Version = t.Info.Title, t.Info.Version
	}
	r := &reader{doc: t, base: base, names: map[string]bool{},
		schemas: schemas{components: t.Components, defs: map[string]*definition{}}}
	count := 0
	for _, item := range t.Paths.Map() {
		if item != nil {
			count += len(item.Operations())
		}
	}
	r.schemas.carry = min(maxDefs, maxAllDefs/max(count, 1))
	for _, path := range slices.Sorted(maps.Keys(t.Paths.Map())) {
		item := t.Paths.Value(path)
		if item == nil {
			continue
		}
		ops := item.Operations()
		for _, method := range core.Methods() {
			if op := ops[method]; op != nil {
				if len(doc.Proposals) == maxOperations {
					return doc, core.Errorf(core.CodeTooLarge, "The document has more than %d operations.", maxOperations)
				}
				if ctx.Err() != nil {
					return doc, context.Cause(ctx)
				}
				doc.Proposals = append(doc.Proposals, r.operation(method, path, item, op))
			}
		}
	}
	if len(doc.Proposals) == 0 {
		return doc, core.Errorf(core.CodeInvalid, "The document holds no operation that a tool could be made of.")
	}
	return doc, nil
}

// dangling matches what the library says of a reference to nothing.
var dangling = regexp.MustCompile(`failed to resolve .* in fragment in URI: "([^"]+)"`)

// mistyped matches what it says of a value of another type.
var mistyped = regexp.MustCompile(`cannot unmarshal (\w+) into field (\S+) of type`)

// because says for people why a document could not be read. The library tries
// JSON and YAML, and tells the faults of both.
func because(text string, err error) string {
	said := err.Error()
	if m := dangling.FindStringSubmatch(said); m != nil {
		return "it refers to " + m[1] + ", which it does not hold"
	}
	inJSON, inYAML, both := strings.Cut(said, ", yaml error: ")
	if both {
		if _, said, both = strings.Cut(inJSON, "json error: "); !both || !strings.HasPrefix(strings.TrimSpace(text), "{") {
			said = inYAML
		}
	}
	if strings.Contains(said, "into value of type openapi3.T") {
		return "an object with openapi, info and paths must stand there"
	}
	if m := mistyped.FindStringSubmatch(said); m != nil {
		return m[2] + " must not be a " + m[1]
	}
	if strings.Contains(said, "unexpected end of JSON input") {
		return "it ends before its last bracket is closed. Copy it again, to its end"
	}
	return strings.TrimSuffix(strings.TrimPrefix(said, "error converting YAML to JSON: yaml: "), ".")
}

// nests returns how deep a JSON text nests, for which the library's time grows
// with the square of it; 0 for other texts.
func nests(text string) int {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return 0
	}
	depth, deepest, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

type reader struct {
	doc     *openapi3.T
	base    string
	names   map[string]bool
	schemas schemas // of all operations
}

// operation makes a proposal of one operation.
func (r *reader) operation(method, path string, item *openapi3.PathItem, op *openapi3.Operation) core.ConnectorProposal {
	id := op.OperationID
	if id == "" {
		id = strings.ToLower(method) + "_" + path
	}
	p := &proposal{r: r, schema: &r.schemas, taken: map[string]bool{}, properties: map[string]any{}, required: []string{},
		http: core.Connector{Method: method, Headers: map[string]string{}, Query: map[string]string{}}}
	p.out = core.ConnectorProposal{Operation: id, Path: path, Warnings: []string{}}
	p.path = templateOf(path)
	for _, list := range []openapi3.Parameters{op.Parameters, item.Parameters} {
		for _, ref := range list {
			if ref != nil && ref.Value != nil {
				p.parameter(ref.Value)
			}
		}
	}
	for _, name := range unfilled(p.path) {
		p.problem("its path holds {%s}, but no parameter of that name is declared", name)
	}
	if op.RequestBody != nil && op.RequestBody.Value != nil {
		p.body(op.RequestBody.Value)
	}
	p.auth(op)
	p.server(item, op)
	p.http.URL += p.path
	if len(p.joined) > 0 {
		p.http.URL += "?" + strings.Join(p.joined, "&")
	}
	if err := p.http.Check(); err != nil && p.out.Problem == "" {
		p.out.Problem = err.Error()
	}
	p.out.Tool = core.CustomTool{Name: r.unique(nameOf(id)), Description: about(op, method, path), Parameters: p.parameters(), HTTP: &p.http, Enabled: true}
	if op.Deprecated {
		p.warn("It is deprecated.")
	}
	return p.out
}

func (r *reader) unique(name string) string {
	out := name
	for n := 2; r.names[out]; n++ {
		out = fmt.Sprintf("%s_%d", name[:min(len(name), 60)], n)
	}
	r.names[out] = true
	return out
}

// nameOf makes an operation's id fit for a tool: letters, digits, "_" and "-", at most 64.
func nameOf(id string) string {
	var b strings.Builder
	for _, c := range id {
		if c < 128 && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-') {
			b.WriteRune(c)
		} else if s := b.String(); s != "" && s[len(s)-1] != '_' {
			b.WriteByte('_')
		}
	}
	s := strings.Trim(b.String(), "_")
	if s == "" {
		s = "operation"
	}
	return s[:min(len(s), 64)]
}

func about(op *openapi3.Operation, method, path string) string {
	s := strings.TrimSpace(op.Summary)
	if d := strings.TrimSpace(op.Description); d != "" && d != s {
		if s != "" {
			s += "\n\n"
		}
		s += d
	}
	if s == "" {
		s = method + " " + path
	}
	if len(s) > maxAbout {
		s = strings.ToValidUTF8(s[:maxAbout], "") + "…"
	}
	return s
}

// server finds where the operation is served.
func (p *proposal) server(item *openapi3.PathItem, op *openapi3.Operation) {
	list := p.r.doc.Servers
	if len(item.Servers) > 0 {
		list = item.Servers
	}
	if op.Servers != nil && len(*op.Servers) > 0 {
		list = *op.Servers
	}
	address := p.r.base
	if address == "" && len(list) > 0 && list[0] != nil {
		address = list[0].URL
		for name, v := range list[0].Variables {
			if v != nil {
				address = strings.ReplaceAll(address, "{"+name+"}", v.Default)
			}
		}
	}
	if !strings.HasPrefix(address, "http://") && !strings.HasPrefix(address, "https://") {
		p.problem("the document does not say at which address the API is served; give its base address")
		address = "https://example.invalid"
	}
	p.http.URL = strings.TrimRight(address, "/")
}

// auth proposes how to sign in.
func (p *proposal) auth(op *openapi3.Operation) {
	needs := p.r.doc.Security
	if op.Security != nil {
		needs = *op.Security
	}
	var seen []string
	for _, need := range needs {
		if len(need) == 0 {
			return // also without
		}
		for _, name := range slices.Sorted(maps.Keys(need)) {
			seen = append(seen, name)
			if p.http.Auth != nil || p.r.doc.Components == nil {
				continue
			}
			if ref := p.r.doc.Components.SecuritySchemes[name]; ref != nil && ref.Value != nil {
				p.http.Auth = p.scheme(name, ref.Value)
			}
		}
	}
	switch {
	case p.http.Auth == nil && len(seen) > 0:
		p.warn("Its way to sign in (%s) is not known here.", strings.Join(seen, ", "))
	case len(needs) > 0 && len(needs[0]) > 1:
		p.warn("It asks for several keys at once (%s); one is sent.", strings.Join(seen, ", "))
	}
}

func (p *proposal) scheme(name string, s *openapi3.SecurityScheme) *core.ConnectorAuth {
	title := "api"
	if p.r.doc.Info != nil && p.r.doc.Info.Title != "" {
		title = strings.ToLower(nameOf(p.r.doc.Info.Title))
	}
	a := &core.ConnectorAuth{Secret: "${secret:" + title + "/" + nameOf(name) + "}"}
	switch {
	case s.Type == "http" && strings.EqualFold(s.Scheme, "bearer"):
		a.Type = core.AuthBearer
	case s.Type == "http" && strings.EqualFold(s.Scheme, "basic"):
		a.Type = core.AuthBasic
		p.warn("It signs in with a user and a password; the user is set in the tool.")
	case s.Type == "apiKey" && s.In == "header":
		a.Type, a.Name = core.AuthHeader, s.Name
	case s.Type == "apiKey" && s.In == "query":
		a.Type, a.Name = core.AuthQuery, s.Name
	case s.Type == "apiKey" && s.In == "cookie":
		a.Type, a.Name = core.AuthCookie, s.Name
	case s.Type == "oauth2" || s.Type == "openIdConnect":
		a.Type = core.AuthBearer
		p.warn("It signs in with OAuth; give an access token as the secret.")
	default:
		return nil
	}
	return a
}
