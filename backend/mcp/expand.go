package mcp

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync/atomic"

	"patchbay/backend/core"
)

// expander replaces the placeholders of one configuration and remembers those
// without a value.
type expander struct {
	ctx     context.Context
	lookup  func(ctx context.Context, kind, name string) (string, bool)
	own     map[string]string // the expanded env of the server itself
	missing []string
	secrets []string // the values that must not be shown
}

// expand returns spec with every placeholder replaced, without a shell, and the
// names of those that have no value. Secrets are known to hide afterwards.
func expand(ctx context.Context, spec core.ServerSpec, lookup func(context.Context, string, string) (string, bool), hide *redactor) (core.ServerSpec, []string) {
	e := &expander{ctx: ctx, lookup: lookup}
	out := spec
	out.Env = e.values(spec.Env)
	for k, v := range out.Env {
		out.Env[k] = tilde(v)
	}
	e.own = out.Env
	out.Command = tilde(e.text(spec.Command))
	out.Cwd = tilde(e.text(spec.Cwd))
	out.URL = e.text(spec.URL)
	out.Args = make([]string, len(spec.Args))
	for i, a := range spec.Args {
		out.Args[i] = tilde(e.text(a))
	}
	out.Headers = e.values(spec.Headers)
	out.Roots = make([]string, len(spec.Roots))
	for i, r := range spec.Roots {
		out.Roots[i] = tilde(e.text(r))
	}
	out.Auth = e.auth(spec.Auth)
	hide.learn(e.secrets)
	sort.Strings(e.missing)
	return out, slices.Compact(e.missing)
}

func (e *expander) values(in map[string]string) map[string]string {
	if in == nil {
		return nil
	}
	out := make(map[string]string, len(in))
	for k, v := range in {
		out[k] = e.text(v)
	}
	return out
}

// text replaces ${VAR}, ${env:VAR}, ${VAR:-default} and ${secret:name}. What
// has no closing brace, or no possible name, is ordinary text.
func (e *expander) text(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			return b.String() + s
		}
		n := strings.IndexByte(s[i:], '}')
		if n < 0 {
			return b.String() + s
		}
		b.WriteString(s[:i])
		if v, ok := e.value(s[i+2 : i+n]); ok {
			b.WriteString(v)
			s = s[i+n+1:]
		} else {
			b.WriteString("${")
			s = s[i+2:]
		}
	}
}

// value returns what stands for the placeholder; false means that it is none.
func (e *expander) value(inner string) (string, bool) {
	name, def, hasDef := strings.Cut(inner, ":-")
	kind, key := "env", name
	if k, rest, ok := strings.Cut(name, ":"); ok && (k == "env" || k == "secret") {
		kind, key = k, rest
	}
	if key == "" || strings.ContainsAny(key, " \t\r\n${}\"'`") {
		return "", false
	}
	if kind == "env" {
		if v, ok := e.own[key]; ok {
			return v, true
		}
	}
	v, ok := e.lookup(e.ctx, kind, key)
	switch {
	case ok && (v != "" || !hasDef):
		if kind == "secret" {
			e.secrets = append(e.secrets, v)
		}
		return v, true
	case hasDef:
		return def, true
	}
	if kind == "secret" {
		key = "secret:" + key
	}
	e.missing = append(e.missing, key)
	return "", true
}

// tilde replaces a leading ~ or ~/ by the person's home folder.
func tilde(s string) string {
	if s != "~" && !strings.HasPrefix(s, "~/") && !strings.HasPrefix(s, `~\`) {
		return s
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return s
	}
	if s == "~" {
		return home
	}
	return filepath.Join(home, s[2:])
}

// redactor hides the values of secrets in whatever is shown or logged about a
// server, which may well print its own environment. The zero value hides nothing.
type redactor struct {
	r    atomic.Pointer[strings.Replacer]
	also atomic.Pointer[redactor] // hides more; nil for none
}

// learn makes secrets the values to hide, in place of those before.
func (r *redactor) learn(secrets []string) {
	var pairs []string
	for _, s := range secrets {
		if len(s) >= 4 { // hiding a shorter one would garble everything and hide nothing
			pairs = append(pairs, s, "•••")
			if q := url.QueryEscape(s); q != s {
				pairs = append(pairs, q, "•••")
			}
		}
	}
	if pairs == nil {
		r.r.Store(nil)
		return
	}
	r.r.Store(strings.NewReplacer(pairs...))
}

func (r *redactor) hide(s string) string {
	if p := r.r.Load(); p != nil {
		s = p.Replace(s)
	}
	if more := r.also.Load(); more != nil {
		s = more.hide(s)
	}
	return s
}
