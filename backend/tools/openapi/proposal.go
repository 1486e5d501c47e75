package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"patchbay/backend/core"
)

// proposal is one operation while it is read.
type proposal struct {
	r          *reader
	out        core.ConnectorProposal
	http       core.Connector
	path       string   // as a template
	joined     []string // pairs of the query that stand in the URL itself
	schema     *schemas
	taken      map[string]bool // "in name" of parameters
	properties map[string]any
	required   []string
}

func (p *proposal) warn(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(p.out.Warnings, s) {
		p.out.Warnings = append(p.out.Warnings, s)
	}
}

func (p *proposal) problem(format string, args ...any) {
	if p.out.Problem == "" {
		p.out.Problem = "It cannot be imported: " + fmt.Sprintf(format, args...) + "."
	}
}

var inPath = regexp.MustCompile(`\{([^{}/]+)\}`)

// templateOf spells the placeholders of a path as connectors do. Until its
// parameter is read, one is marked with a sign that no path holds.
func templateOf(path string) string { return inPath.ReplaceAllString(path, "{{\x00$1}}") }

func unfilled(path string) []string {
	var out []string
	for _, part := range strings.Split(path, "{{\x00")[1:] {
		name, _, _ := strings.Cut(part, "}}")
		out = append(out, name)
	}
	return out
}

// usable reports whether a placeholder can hold name.
func usable(name string) bool {
	return name != "" && strings.TrimSpace(name) == name && !strings.ContainsAny(name, "{}\r\n\x00")
}

// parameter adds one parameter. Those of the operation come first and count.
func (p *proposal) parameter(param *openapi3.Parameter) {
	key := param.In + " " + param.Name
	if p.taken[key] {
		return
	}
	p.taken[key] = true
	lower := strings.ToLower(param.Name)
	if param.In == "header" && (lower == "accept" || lower == "content-type" || lower == "authorization") {
		return // the document means nothing by them (OpenAPI 3.1, Parameter Object)
	}
	if !usable(param.Name) {
		p.leaveOut(param, "has a name that cannot be used")
		return
	}
	ref := param.Schema
	if ref == nil {
		for _, media := range param.Content {
			if media != nil {
				ref = media.Schema
			}
		}
	}
	schema := p.schema.of(ref)
	if p.schema.isObject(schema) && !p.objectFits(param, schema) {
		return
	}
	arg := param.Name
	if _, twice := p.properties[arg]; twice {
		arg += "_" + param.In
	}
	slot := "{{" + arg + "}}"
	switch param.In {
	case "path":
		p.path = strings.ReplaceAll(p.path, "{{\x00"+param.Name+"}}", slot)
	case "query":
		switch {
		case param.Style == "deepObject":
			p.http.Query[param.Name+"[*]"] = slot
		case param.Style == "spaceDelimited" || param.Style == "pipeDelimited":
			p.warn("A list in %s is sent as several parameters.", param.Name)
			p.http.Query[param.Name] = slot
		case param.Explode != nil && !*param.Explode: // inside a text, a list is joined by commas
			p.joined = append(p.joined, url.QueryEscape(param.Name)+"="+slot)
		default:
			p.http.Query[param.Name] = slot
		}
	case "header":
		p.http.Headers[param.Name] = slot
	case "cookie":
		if p.http.Cookies == nil {
			p.http.Cookies = map[string]string{}
		}
		p.http.Cookies[param.Name] = slot
	default:
		p.leaveOut(param, "stands in %q, which is no place that is known", param.In)
		return
	}
	if d := strings.TrimSpace(param.Description); d != "" && schema["description"] == nil {
		schema["description"] = d
	}
	p.add(arg, schema, param.Required || param.In == "path")
}

// objectFits reports whether a parameter that is an object can be sent as one
// argument. It adds one whose fields are parameters of their own itself.
func (p *proposal) objectFits(param *openapi3.Parameter, schema map[string]any) bool {
	switch {
	case param.In == "query" && param.Style == "deepObject":
		return true
	case param.In != "query" || param.Schema == nil || param.Style != "" && param.Style != "form" || param.Explode != nil && !*param.Explode:
		p.leaveOut(param, "is an object that would be sent as one text")
		return false
	}
	schema, _ = p.schema.merged(schema, 0)
	fields, _ := schema["properties"].(map[string]any)
	if len(fields) == 0 {
		p.leaveOut(param, "is an object whose fields are not known")
		return false
	}
	must := requiredOf(schema, param.Required)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if field, ok := fields[name].(map[string]any); !ok || !usable(name) || p.properties[name] != nil || p.schema.isObject(field) {
			p.leaveOut(param, "has a field %q that cannot be sent", name)
			return false
		}
	}
	for name, field := range fields {
		p.http.Query[name] = "{{" + name + "}}"
		p.add(name, field, must[name])
	}
	return false
}

// leaveOut says why a parameter is not sent. Without one that is required there
// is no call.
func (p *proposal) leaveOut(param *openapi3.Parameter, format string, args ...any) {
	why := fmt.Sprintf(format, args...)
	if param.Required {
		p.problem("its parameter %s %s", param.Name, why)
		return
	}
	p.warn("Its parameter %s %s, and is left out.", param.Name, why)
}

// requiredOf are the fields that must be given with an object.
func requiredOf(schema map[string]any, required bool) map[string]bool {
	must := map[string]bool{}
	if list, ok := schema["required"].([]any); ok && required {
		for _, name := range list {
			if s, ok := name.(string); ok {
				must[s] = true
			}
		}
	}
	return must
}

func (p *proposal) add(arg string, schema any, required bool) {
	p.properties[arg] = schema
	if required {
		p.required = append(p.required, arg)
	}
}

// body adds what the request carries.
func (p *proposal) body(b *openapi3.RequestBody) {
	if p.http.Method == "GET" || p.http.Method == "HEAD" {
		p.warn("Its body is left out: a %s request has none.", p.http.Method)
		return
	}
	var ref *openapi3.SchemaRef
	as := ""
	for media, content := range b.Content {
		media, _, _ = strings.Cut(strings.ToLower(media), ";")
		kind := ""
		switch {
		case media == "application/json" || strings.HasSuffix(media, "+json") || media == "*/*":
			kind = "json"
		case media == "application/x-www-form-urlencoded":
			kind = "form"
		case media == "multipart/form-data":
			kind = "multipart"
		case media == "text/plain":
			kind = "text"
		}
		// The best that is offered; the order of a map must not show.
		if order := []string{"", "text", "multipart", "form", "json"}; content != nil && slices.Index(order, kind) > slices.Index(order, as) {
			as, ref = kind, content.Schema
		}
	}
	if as == "" {
		if b.Required && len(b.Content) > 0 {
			p.problem("its body (%s) is neither JSON nor a form nor a text", mediaTypes(b))
		} else if len(b.Content) > 0 {
			p.warn("Its body (%s) is neither JSON nor a form nor a text, and is left out.", mediaTypes(b))
		}
		return
	}
	if as != "json" {
		p.http.BodyAs = as
	}
	schema := p.schema.of(ref)
	if as != "text" && p.spread(schema, b.Required) {
		return
	}
	arg := "body"
	for p.properties[arg] != nil {
		arg += "_"
	}
	if as == "form" || as == "multipart" {
		p.problem("the fields of its form are not known")
		return
	}
	if d := strings.TrimSpace(b.Description); d != "" && schema["description"] == nil {
		schema["description"] = d
	}
	p.http.Body = json.RawMessage(`"{{` + arg + `}}"`)
	p.add(arg, schema, b.Required)
}

// spread makes arguments of the fields of a body, which models find easier than
// one argument that holds them all. false: this body cannot be spread.
func (p *proposal) spread(schema map[string]any, required bool) bool {
	schema, ok := p.schema.merged(schema, 0)
	fields, _ := schema["properties"].(map[string]any)
	if !ok || len(fields) == 0 {
		return false
	}
	for name := range fields {
		if _, twice := p.properties[name]; twice || !usable(name) {
			return false
		}
	}
	must := requiredOf(schema, required)
	template := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		field := fields[name]
		if p.http.BodyAs == "multipart" && p.schema.isFile(field) {
			field = fileSchema(field)
			p.http.Files = append(p.http.Files, name)
		}
		template[name] = "{{" + name + "}}"
		p.add(name, field, must[name])
	}
	raw, err := json.Marshal(template)
	if err != nil { // texts always can
		return false
	}
	p.http.Body = raw
	return true
}

func mediaTypes(b *openapi3.RequestBody) string {
	return strings.Join(slices.Sorted(maps.Keys(b.Content)), ", ")
}

// parameters returns the schema of the arguments.
func (p *proposal) parameters() json.RawMessage {
	slices.Sort(p.required)
	out := map[string]any{"type": "object", "properties": p.properties}
	if len(p.required) > 0 {
		out["required"] = slices.Compact(p.required)
	}
	defs, cut, err := p.schema.needed(p.properties)
	if err != nil {
		p.problem("its schemas cannot be written as JSON (%v)", err)
	}
	if cut {
		p.warn("Its arguments are described by more than %d KiB of schemas; what lies deeper is left to the API to check.", p.schema.carry>>10)
	}
	if len(defs) > 0 {
		out["$defs"] = defs
	}
	raw, err := json.Marshal(out)
	if err != nil {
		p.problem("its parameters cannot be written as JSON (%v)", err)
		return json.RawMessage(`{"type":"object"}`)
	}
	if len(raw) > maxParameters {
		p.problem("its arguments need a schema of more than %d KiB", maxParameters>>10)
		return json.RawMessage(`{"type":"object"}`)
	}
	return raw
}

// maxParameters are the bytes of the schema of one tool's arguments.
const maxParameters = 512 << 10
