package config

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"sort"

	"github.com/tailscale/hujson"

	"patchbay/backend/config/internal/entry"
	"patchbay/backend/config/internal/jsonc"
	"patchbay/backend/core"
)

func find(items []*item, name string) *item {
	for _, e := range items {
		if e.name == name {
			return e
		}
	}
	return nil
}

func (p *parsed) server(name string) *item { return find(p.servers, name) }
func (p *parsed) tool(name string) *item   { return find(p.tools, name) }

// list returns the value under key, which it makes when it is missing or null.
func (p *parsed) list(key string) (*hujson.Value, error) {
	if v := jsonc.Member(p.root, key); v != nil && v.Value.Kind() != 'n' {
		return v, nil
	}
	if err := p.doc.Set(p.root, 0, key, []any{}); err != nil {
		return nil, err
	}
	return jsonc.Member(p.root, key), nil
}

// keyed is a server without its name, for a file that keeps servers by name.
type keyed struct {
	core.ServerSpec
	Name *string `json:"name,omitempty"` // hides the one above
}

// insertServer puts spec at position at; raw is its text from before, nil for none.
func (p *parsed) insertServer(at int, spec core.ServerSpec, raw *hujson.Value) error {
	list, err := p.list("mcpServers")
	if err != nil {
		return err
	}
	var value any = spec
	if raw != nil {
		value = *raw
	}
	switch t := list.Value.(type) {
	case *hujson.Object:
		if raw == nil {
			value = keyed{ServerSpec: spec}
		}
		if at < 0 {
			at = len(t.Members)
		}
		return p.doc.Insert(t, 1, at, spec.Name, value)
	case *hujson.Array:
		if at < 0 {
			at = len(t.Elements)
		}
		return p.doc.InsertElement(t, 1, at, value)
	}
	return core.Errorf(core.CodeInternal, "mcpServers is neither a list nor an object")
}

// editor changes the fields of one entry, those only that differ.
type editor struct {
	doc *jsonc.Doc
	obj *hujson.Object
	err error
}

func (e *editor) set(key string, value any) {
	if e.err == nil {
		e.err = e.doc.Set(e.obj, 2, key, value)
	}
}

// setOrDelete writes value under the key that the entry uses for field; an
// empty value is not written at all.
func (e *editor) setOrDelete(field string, value any, empty bool) {
	if empty {
		e.drop(field)
		return
	}
	e.set(entry.KeyOf(e.obj, field), value)
}

// drop removes a field in each of its spellings.
func (e *editor) drop(field string) {
	for jsonc.Delete(e.obj, entry.KeyOf(e.obj, field)) {
		continue
	}
}

func (p *parsed) updateServer(it *item, spec core.ServerSpec) error {
	obj, ok := it.value.Value.(*hujson.Object)
	if !ok { // an entry that is not even an object
		obj = &hujson.Object{}
		it.value.Value = obj
	}
	e := &editor{doc: p.doc, obj: obj}
	old := it.spec
	if !it.ok { // what cannot be read cannot be compared: start afresh, but for unknown fields
		old = core.ServerSpec{}
		for _, field := range []string{"transport", "command", "args", "env", "cwd", "url", "headers", "disabled"} {
			entry.DropOthers(obj, field, "")
		}
		for _, s := range entry.Settings(&old) {
			jsonc.Delete(obj, s.Key)
		}
	}
	if holder, byName := it.list.Value.(*hujson.Object); byName {
		if spec.Name != it.name {
			holder.Members[it.index].Name.Value = hujson.String(spec.Name)
		}
	} else if spec.Name != old.Name {
		e.set("name", spec.Name)
	}
	if old.Transport != spec.Transport {
		e.set(entry.KeyOf(obj, "transport"), spec.Transport)
	}
	if old.Command != spec.Command || !slices.Equal(old.Args, spec.Args) {
		if m := jsonc.Member(obj, entry.KeyOf(obj, "command")); m != nil && m.Value.Kind() != '"' {
			// The command holds its arguments too: take both apart.
			e.set(entry.KeyOf(obj, "command"), spec.Command)
			e.drop("args")
			old.Args, old.Command = nil, spec.Command
		}
		if old.Command != spec.Command {
			e.setOrDelete("command", spec.Command, spec.Command == "")
		}
		if !slices.Equal(old.Args, spec.Args) {
			e.setOrDelete("args", spec.Args, len(spec.Args) == 0)
		}
	}
	e.stringMap("env", old.Env, spec.Env)
	e.stringMap("headers", old.Headers, spec.Headers)
	if old.Cwd != spec.Cwd {
		e.setOrDelete("cwd", spec.Cwd, spec.Cwd == "")
	}
	if old.URL != spec.URL {
		key := entry.KeyOf(obj, "url")
		if spec.URL != "" {
			e.set(key, spec.URL)
		}
		entry.DropOthers(obj, "url", key)
		if spec.URL == "" {
			jsonc.Delete(obj, key)
		}
	}
	e.disabled(old.Disabled, spec.Disabled)
	before := entry.Settings(&old)
	for i, s := range entry.Settings(&spec) {
		if !s.Same(before[i]) {
			e.setOrDelete(s.Key, s.Value, s.Zero())
		}
	}
	return e.err
}

func (e *editor) disabled(old, now bool) {
	key := entry.KeyOf(e.obj, "disabled")
	switch {
	case old == now:
	case key == "disabled":
		e.set(key, now)
	default: // spelled the other way round: enabled
		e.set(key, !now)
	}
}

// stringMap edits env or headers key by key, so that the comments in them stay.
func (e *editor) stringMap(field string, old, now map[string]string) {
	key := entry.KeyOf(e.obj, field)
	m := jsonc.Member(e.obj, key)
	if m == nil {
		if c := jsonc.Member(e.obj, entry.KeyOf(e.obj, "command")); c != nil { // kept inside command
			if inner, ok := c.Value.(*hujson.Object); ok {
				if mapsEqual(old, now) && jsonc.Member(inner, field) != nil {
					return
				}
				jsonc.Delete(inner, field)
			}
		}
		if len(now) > 0 {
			e.set(key, now)
		}
		return
	}
	if len(now) == 0 {
		e.drop(field)
		return
	}
	var obj *hujson.Object
	if obj, _ = m.Value.(*hujson.Object); obj == nil {
		if !mapsEqual(old, now) {
			e.set(key, now)
		}
		return
	}
	for k := range old {
		if _, ok := now[k]; !ok {
			jsonc.Delete(obj, k)
		}
	}
	keys := make([]string, 0, len(now))
	for k := range now {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		if v, ok := old[k]; (!ok || v != now[k]) && e.err == nil {
			e.err = e.doc.Set(obj, 3, k, now[k])
		}
	}
}

func mapsEqual(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || w != v {
			return false
		}
	}
	return true
}

func (p *parsed) insertTool(t CustomTool) error {
	list, err := p.list("tools")
	if err != nil {
		return err
	}
	arr, ok := list.Value.(*hujson.Array)
	if !ok {
		return core.Errorf(core.CodeInternal, "tools is not a list")
	}
	var value any = t
	if t.HTTP != nil {
		value = connector{CustomTool: t}
	}
	return p.doc.InsertElement(arr, 1, len(arr.Elements), value)
}

// connector is a tool without code as it is written.
type connector struct {
	CustomTool
	Code *string `json:"code,omitempty"` // hides the one above
}

func (p *parsed) updateTool(it *item, t CustomTool) error {
	obj, ok := it.value.Value.(*hujson.Object)
	if !ok {
		obj = &hujson.Object{}
		it.value.Value = obj
	}
	e := &editor{doc: p.doc, obj: obj}
	old := it.tool
	if !it.ok {
		old = CustomTool{Enabled: true}
	}
	if old.Name != t.Name {
		e.set("name", t.Name)
	}
	if old.Description != t.Description || !it.ok {
		e.setOrDelete("description", t.Description, t.Description == "")
	}
	if !bytes.Equal(compact(old.Parameters), compact(t.Parameters)) {
		e.set("parameters", t.Parameters)
	}
	if old.Code != t.Code {
		e.setOrDelete("code", t.Code, t.Code == "")
	}
	if !reflect.DeepEqual(old.HTTP, t.HTTP) || !it.ok {
		e.setOrDelete("http", t.HTTP, t.HTTP == nil)
	}
	if old.TimeoutMS != t.TimeoutMS || !it.ok {
		e.setOrDelete("timeout", t.TimeoutMS, t.TimeoutMS == 0)
	}
	for _, l := range []struct {
		key      string
		old, now []string
	}{{"hosts", old.Hosts, t.Hosts}, {"folders", old.Folders, t.Folders}, {"writeFolders", old.WriteFolders, t.WriteFolders}, {"secrets", old.Secrets, t.Secrets}} {
		if !slices.Equal(l.old, l.now) || !it.ok {
			e.setOrDelete(l.key, l.now, len(l.now) == 0)
		}
	}
	if !sameList(old.Tools, t.Tools) || !it.ok {
		e.setOrDelete("tools", t.Tools, t.Tools == nil)
	}
	if there := jsonc.Member(obj, "enabled") != nil; old.Enabled != t.Enabled || !it.ok && there {
		e.set("enabled", t.Enabled)
	}
	return e.err
}

// sameList tells a list that is not there from an empty one.
func sameList(a, b *[]string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.Equal(*a, *b)
}

func compact(raw json.RawMessage) []byte {
	var buf bytes.Buffer
	if json.Compact(&buf, raw) != nil {
		return raw
	}
	return buf.Bytes()
}

// remove takes an entry out of its list.
func (p *parsed) remove(it *item) {
	switch t := it.list.Value.(type) {
	case *hujson.Object:
		jsonc.Delete(t, it.name)
	case *hujson.Array:
		jsonc.DeleteElement(t, it.index)
	}
}
