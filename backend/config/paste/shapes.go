package paste

import (
	"github.com/tailscale/hujson"

	"patchbay/backend/config/internal/entry"
	"patchbay/backend/config/internal/jsonc"
	"patchbay/backend/core"
)

// boxes are keys under which some programs keep the settings of one server:
// Continue in "transport", Goose in "config".
func boxes() []string { return []string{"transport", "config"} }

// looksLikeServer is entry.LooksLikeServer, also for a server whose settings
// stand one level deeper.
func looksLikeServer(v *hujson.Value) bool { return entry.LooksLikeServer(v) || boxed(v) != nil }

// boxed returns the inner settings of a server, nil if it has none.
func boxed(v *hujson.Value) *hujson.Value {
	o, ok := v.Value.(*hujson.Object)
	if !ok || entry.LooksLikeServer(v) {
		return nil
	}
	for _, key := range boxes() {
		if m := jsonc.Member(o, key); m != nil && entry.LooksLikeServer(m) {
			return m
		}
	}
	return nil
}

// flatten brings the settings of a server that stand one level deeper up. It
// does not change v.
func flatten(v *hujson.Value) *hujson.Value {
	in := boxed(v)
	if in == nil {
		return v
	}
	outer, _ := v.Value.(*hujson.Object)
	deep, _ := in.Value.(*hujson.Object)
	out := *v
	all := &hujson.Object{}
	for _, m := range outer.Members {
		if key := jsonc.Key(&m); jsonc.Member(outer, key) != in && jsonc.Member(deep, key) == nil {
			all.Members = append(all.Members, m)
		}
	}
	all.Members = append(all.Members, deep.Members...)
	out.Value = all
	return &out
}

// builtIn passes over what other programs have inside and call an extension.
func (c *collector) builtIn(name string, v *hujson.Value) bool {
	o, ok := v.Value.(*hujson.Object)
	if !ok || looksLikeServer(v) {
		return false
	}
	if m := jsonc.Member(o, "config"); m != nil {
		if in, ok := m.Value.(*hujson.Object); ok {
			o = in
		}
	}
	if m := jsonc.Member(o, "source"); m != nil { // Zed
		if s, _ := jsonc.String(m); s == "extension" {
			c.n--
			c.p.warn("%s is an extension of the other program and says neither its command nor its url; it was left out.", core.Clip(name, 80))
			return true
		}
	}
	m := jsonc.Member(o, "type")
	if m == nil {
		return false
	}
	switch kind, _ := jsonc.String(m); kind {
	case "builtin", "platform", "frontend", "inline_python":
		c.n--
		c.p.warn("%s is part of the other program (%s) and not a server of its own; it was left out.", core.Clip(name, 80), kind)
		return true
	}
	return false
}

// isManifest recognises the manifest of an MCP bundle.
func isManifest(o *hujson.Object) bool {
	m := jsonc.Member(o, "server")
	if m == nil {
		return false
	}
	in, ok := m.Value.(*hujson.Object)
	return ok && jsonc.Member(in, "mcp_config") != nil && jsonc.Member(in, "entry_point") != nil
}

// described reads an element that the MCP registry would send: a description,
// perhaps under "server".
func (c *collector) described(v *hujson.Value, path string) bool {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return false
	}
	if isRegistry(o) {
		c.registry(path, v)
		return true
	}
	m := jsonc.Member(o, "server")
	if m == nil {
		return false
	}
	if in, ok := m.Value.(*hujson.Object); ok && isRegistry(in) {
		c.registry(path+"/server", m)
		return true
	}
	return false
}

// callsServers reports whether v is the list of tools of a request to a model,
// with servers in it.
func callsServers(v *hujson.Value) bool {
	for _, e := range elements(v) {
		o, ok := e.Value.(*hujson.Object)
		if !ok || jsonc.Member(o, "server_url") == nil {
			return false
		}
	}
	return len(elements(v)) > 0
}

// label is the name that an entry in a list gives under another key than "name":
// that of a request to a model, or of 5ire.
func label(v *hujson.Value) string {
	o, ok := v.Value.(*hujson.Object)
	if !ok || jsonc.Member(o, "name") != nil {
		return ""
	}
	for _, key := range []string{"server_label", "label", "key"} {
		if m := jsonc.Member(o, key); m != nil {
			if s, _ := jsonc.String(m); s != "" {
				return s
			}
		}
	}
	return ""
}
