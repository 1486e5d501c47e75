package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"patchbay/backend/config/internal/entry"
	"patchbay/backend/config/internal/jsonc"
	"patchbay/backend/core"
)

// parsed is one text of tools.json with what it means.
type parsed struct {
	doc     *jsonc.Doc
	root    *hujson.Object
	file    File
	servers []*item
	tools   []*item
}

// item is one entry, usable or not.
type item struct {
	kind  string // "server" or "tool"
	name  string
	value *hujson.Value
	list  *hujson.Value // the array or object that holds it
	index int
	ok    bool
	spec  core.ServerSpec
	tool  CustomTool
}

// decode reads a text. The error is a *core.Error and means that nothing of the
// text may be used; entries that are wrong by themselves are skipped instead.
func decode(raw []byte) (*parsed, error) {
	if len(raw) > MaxBytes {
		return nil, core.Errorf(core.CodeTooLarge, "tools.json is larger than %d MiB and was not read.", MaxBytes>>20)
	}
	doc, perr := jsonc.Parse(raw)
	if perr == nil {
		perr = doc.Duplicates()
	}
	if perr != nil {
		return nil, fileError(doc, perr.Line, perr.Column, perr.Path, perr.Message)
	}
	p := &parsed{doc: doc}
	p.file = File{Servers: []core.ServerSpec{}, Tools: []CustomTool{}, Warnings: []string{}, Skipped: []Skipped{}, Revision: hashOf(raw)}
	var ok bool
	if p.root, ok = doc.Root.Value.(*hujson.Object); !ok {
		return nil, p.errorAt(&doc.Root, "", "The file must hold an object, {…}, not "+jsonc.TypeName(&doc.Root)+".")
	}
	if err := p.readServers(); err != nil {
		return nil, err
	}
	if err := p.readTools(); err != nil {
		return nil, err
	}
	return p, nil
}

func fileError(_ *jsonc.Doc, line, column int, path, message string) error {
	return &core.Error{Code: core.CodeInvalid, Line: line, Column: column, Path: path,
		Message: fmt.Sprintf("tools.json, line %d, column %d: %s", line, column, message)}
}

func (p *parsed) errorAt(v *hujson.Value, path, message string) error {
	line, column := p.doc.Position(v.StartOffset)
	return fileError(p.doc, line, column, path, message)
}

func (p *parsed) readServers() error {
	list := jsonc.Member(p.root, "mcpServers")
	if list == nil || list.Value.Kind() == 'n' {
		return nil
	}
	const path = "/mcpServers"
	switch t := list.Value.(type) {
	case *hujson.Array:
		for i := range t.Elements {
			p.readServer(&item{kind: "server", value: &t.Elements[i], list: list, index: i}, path+"/"+strconv.Itoa(i))
		}
	case *hujson.Object:
		for i := range t.Members {
			m := &t.Members[i]
			key := jsonc.Key(m)
			p.readServer(&item{kind: "server", name: key, value: &m.Value, list: list, index: i}, path+"/"+jsonc.Escape(key))
		}
	default:
		return p.errorAt(list, path, "mcpServers must be a list or an object, not "+jsonc.TypeName(list)+".")
	}
	return p.checkNames(p.servers)
}

func (p *parsed) readServer(e *item, path string) {
	dec := entry.Decoder{Doc: p.doc}
	spec, problem := dec.Decode(e.name, path, e.value)
	p.file.Warnings = append(p.file.Warnings, dec.Warnings...)
	if e.name == "" {
		e.name = nameOf(e.value)
	}
	if problem == nil && strings.TrimSpace(spec.Name) == "" {
		problem = &entry.Problem{Reason: entry.BadName, Message: "the server has no name.", Path: path, Offset: e.value.StartOffset}
	}
	p.servers = append(p.servers, e)
	if problem != nil {
		p.skip(e, problem)
		return
	}
	e.ok, e.spec = true, spec
	p.file.Servers = append(p.file.Servers, spec)
}

// skip notes an entry that cannot be used.
func (p *parsed) skip(e *item, problem *entry.Problem) {
	line, column := p.doc.Position(problem.Offset)
	err := &core.Error{Code: core.CodeInvalid, Line: line, Column: column, Path: problem.Path,
		Message: fmt.Sprintf("tools.json, line %d, column %d: %s", line, column, problem.Message)}
	p.file.Skipped = append(p.file.Skipped, Skipped{Kind: e.kind, Name: e.name, Error: err})
	p.file.Warnings = append(p.file.Warnings, err.Message+" The "+e.kind+" is skipped until this is mended.")
}

// nameOf reads the name of an entry that may be wrong otherwise.
func nameOf(v *hujson.Value) string {
	if o, ok := v.Value.(*hujson.Object); ok {
		if m := jsonc.Member(o, "name"); m != nil {
			s, _ := jsonc.String(m)
			return strings.TrimSpace(s)
		}
	}
	return ""
}

// checkNames refuses the file when two entries have one name: which one is
// meant cannot be known.
func (p *parsed) checkNames(items []*item) error {
	seen := map[string]*item{}
	for _, e := range items {
		if e.name == "" {
			continue
		}
		if first := seen[e.name]; first != nil {
			line, _ := p.doc.Position(first.value.StartOffset)
			return p.errorAt(e.value, "", fmt.Sprintf("The %s %q stands here for the second time; the first is on line %d. Rename or remove one.", e.kind, e.name, line))
		}
		seen[e.name] = e
	}
	return nil
}

func (p *parsed) readTools() error {
	list := jsonc.Member(p.root, "tools")
	if list == nil || list.Value.Kind() == 'n' {
		return nil
	}
	arr, ok := list.Value.(*hujson.Array)
	if !ok {
		return p.errorAt(list, "/tools", "tools must be a list, not "+jsonc.TypeName(list)+".")
	}
	for i := range arr.Elements {
		e := &item{kind: "tool", value: &arr.Elements[i], list: list, index: i}
		e.name = nameOf(e.value)
		p.tools = append(p.tools, e)
		tool, problem := readTool(e.value, "/tools/"+strconv.Itoa(i))
		if problem != nil {
			p.skip(e, problem)
			continue
		}
		e.ok, e.tool = true, tool
		p.file.Tools = append(p.file.Tools, tool)
	}
	return p.checkNames(p.tools)
}

// noParameters is the schema of a tool that names none.
const noParameters = `{"type":"object","properties":{}}`

func readTool(v *hujson.Value, path string) (CustomTool, *entry.Problem) {
	t := CustomTool{Parameters: json.RawMessage(noParameters), Enabled: true}
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return t, &entry.Problem{Reason: entry.WrongType, Message: "a tool must be an object, not " + jsonc.TypeName(v) + ".", Path: path, Offset: v.StartOffset}
	}
	label := "the tool"
	if n := nameOf(v); n != "" {
		label = n
	}
	var problem *entry.Problem
	field := func(key, want string, read func(m *hujson.Value) bool) {
		m := jsonc.Member(o, key)
		if m == nil || m.Value.Kind() == 'n' || problem != nil || read(m) {
			return
		}
		problem = &entry.Problem{Reason: entry.WrongType, Path: path + "/" + key, Offset: m.StartOffset,
			Message: fmt.Sprintf("%s: %s must be %s, not %s.", label, key, want, jsonc.TypeName(m))}
	}
	text := func(dst *string) func(m *hujson.Value) bool {
		return func(m *hujson.Value) bool {
			s, ok := jsonc.String(m)
			*dst = s
			return ok
		}
	}
	field("name", "text", text(&t.Name))
	field("description", "text", text(&t.Description))
	field("code", "text", text(&t.Code))
	field("parameters", "an object (JSON Schema)", func(m *hujson.Value) bool {
		t.Parameters = jsonc.Standard(m)
		return m.Value.Kind() == '{'
	})
	field("timeout", "a whole number of milliseconds", func(m *hujson.Value) (ok bool) {
		t.TimeoutMS, ok = entry.Millis(m)
		return ok
	})
	field("enabled", "true or false", func(m *hujson.Value) bool {
		t.Enabled = m.Value.Kind() == 't'
		return t.Enabled || m.Value.Kind() == 'f'
	})
	names := func(dst *[]string) func(m *hujson.Value) bool {
		return func(m *hujson.Value) (ok bool) {
			*dst, ok = jsonc.Strings(m)
			return ok
		}
	}
	field("hosts", "a list of texts", names(&t.Hosts))
	field("folders", "a list of texts", names(&t.Folders))
	field("writeFolders", "a list of texts", names(&t.WriteFolders))
	field("secrets", "a list of texts", names(&t.Secrets))
	var fault error
	field("http", "an object", func(m *hujson.Value) bool {
		t.HTTP = &core.Connector{}
		if m.Value.Kind() == '{' {
			if fault = json.Unmarshal(jsonc.Standard(m), t.HTTP); fault == nil {
				fault = t.HTTP.Check()
			}
			return true
		}
		return false
	})
	field("tools", "a list of texts", func(m *hujson.Value) bool {
		t.Tools = &[]string{}
		return names(t.Tools)(m)
	})
	if problem != nil {
		return t, problem
	}
	t.Name = strings.TrimSpace(t.Name)
	bad := func(key, message string) (CustomTool, *entry.Problem) {
		return t, &entry.Problem{Reason: entry.BadName, Message: label + ": " + message, Path: path + "/" + key, Offset: v.StartOffset}
	}
	switch {
	case t.Name == "":
		return bad("name", "a tool needs a name.")
	case len(t.Name) > 128 || entry.HasControl(t.Name, false):
		return bad("name", "a tool's name may have at most 128 bytes and no control characters.")
	case fault != nil:
		return badConnector(t, label, path, v, fault)
	case t.HTTP != nil && strings.TrimSpace(t.Code) != "":
		return bad("http", "a tool has either code or http, not both.")
	case t.HTTP == nil && strings.TrimSpace(t.Code) == "":
		return bad("code", "a tool needs code, or http for a request without code.")
	}
	for _, h := range t.Hosts {
		if !validHost(h) {
			return bad("hosts", fmt.Sprintf("%q is no host. Write \"api.example.com\", \"*.example.org\" or \"localhost:8080\", without https:// and without a path.", h))
		}
	}
	for key, list := range map[string][]string{"folders": t.Folders, "writeFolders": t.WriteFolders} {
		for _, f := range list {
			if !filepath.IsAbs(f) && f != "~" && !strings.HasPrefix(f, "~/") {
				return bad(key, fmt.Sprintf("the folder %q must begin with ~/ or be an absolute path.", f))
			}
		}
	}
	return t, nil
}

// badConnector says what is wrong with the request of a tool, and where.
func badConnector(t CustomTool, label, path string, v *hujson.Value, fault error) (CustomTool, *entry.Problem) {
	out := &entry.Problem{Reason: entry.WrongType, Message: label + ": http: " + fault.Error(), Path: path + "/http", Offset: v.StartOffset}
	var ce *core.Error
	var ute *json.UnmarshalTypeError
	switch {
	case errors.As(fault, &ce):
		out.Path += "/" + ce.Path
	case errors.As(fault, &ute):
		out.Path += "/" + strings.ReplaceAll(ute.Field, ".", "/")
		out.Message = fmt.Sprintf("%s: http: %s must not be a %s.", label, ute.Field, ute.Value)
	}
	return t, out
}

// validHost accepts a name or an address, with "*." before a name, and a port or none.
func validHost(s string) bool {
	host := s
	if h, port, err := net.SplitHostPort(s); err == nil {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return false
		}
		host = h
	}
	host = strings.Trim(host, "[]")
	if net.ParseIP(host) != nil {
		return true
	}
	host = strings.TrimPrefix(host, "*.")
	return host != "" && !strings.ContainsAny(host, "*/:@?# \t\\") && !entry.HasControl(host, false)
}

// checkServer says whether a server could be used, and completes it.
func checkServer(spec core.ServerSpec) (core.ServerSpec, error) {
	raw, err := json.Marshal(spec)
	if err != nil {
		return spec, core.Errorf(core.CodeInvalid, "The server cannot be written as JSON: %w", err)
	}
	doc, perr := jsonc.Parse(raw)
	if perr != nil {
		return spec, core.Errorf(core.CodeInvalid, "The server cannot be read: %s", perr.Message)
	}
	dec := entry.Decoder{Doc: doc}
	out, problem := dec.Decode("", "", &doc.Root)
	if problem == nil && out.Name == "" {
		problem = &entry.Problem{Message: "a server needs a name.", Path: "/name"}
	}
	if problem != nil {
		return spec, &core.Error{Code: core.CodeInvalid, Message: sentence(problem.Message), Path: strings.TrimPrefix(problem.Path, "/")}
	}
	return out, nil
}

// CheckTool says whether t could be saved, and completes it.
func CheckTool(t CustomTool) (CustomTool, error) { return checkTool(t) }

func checkTool(t CustomTool) (CustomTool, error) {
	if len(t.Parameters) == 0 {
		t.Parameters = json.RawMessage(noParameters)
	}
	raw, err := json.Marshal(t)
	if err != nil {
		return t, &core.Error{Code: core.CodeInvalid, Path: "parameters", Message: fmt.Sprintf("%s: the parameters are not valid JSON.", t.Name), Err: err}
	}
	doc, perr := jsonc.Parse(raw)
	if perr != nil {
		return t, core.Errorf(core.CodeInvalid, "%s: %s", t.Name, perr.Message)
	}
	if dup := doc.Duplicates(); dup != nil {
		return t, &core.Error{Code: core.CodeInvalid, Path: strings.TrimPrefix(dup.Path, "/"), Message: t.Name + ": " + dup.Message}
	}
	out, problem := readTool(&doc.Root, "")
	if problem != nil {
		return t, &core.Error{Code: core.CodeInvalid, Message: sentence(problem.Message), Path: strings.TrimPrefix(problem.Path, "/")}
	}
	return out, nil
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func sameServer(a, b core.ServerSpec) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}
