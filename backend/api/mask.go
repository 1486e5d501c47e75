package api

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"patchbay/backend/api/wire"
	"patchbay/backend/core"
	"patchbay/backend/doctor"
)

// view masks the values that the page must not see.
func view(spec core.ServerSpec, status core.ServerStatus) wire.ServerView {
	if status.Name == "" {
		status.Name, status.State, status.Message = spec.Name, core.StateStarting, "Starting…"
	}
	if status.Transport == "" {
		status.Transport = spec.Transport
	}
	return wire.ServerView{Spec: mask(spec), Status: status}
}

// mask hides the literal values of env and headers, and what is a secret
// elsewhere. References to a secret or to the environment stay readable.
func mask(spec core.ServerSpec) core.ServerSpec {
	out := doctor.Mask(spec, wire.Mask)
	out.Env, out.Headers = masked(spec.Env), masked(spec.Headers)
	return out
}

func masked(in map[string]string) map[string]string {
	out := maps.Clone(in)
	for k, v := range out {
		if v != "" && !isReference(v) {
			out[k] = wire.Mask
		}
	}
	return out
}

// isReference reports whether the whole value is one placeholder without a default.
func isReference(v string) bool {
	if len(v) < 4 || v[:2] != "${" || v[len(v)-1] != '}' {
		return false
	}
	inner := v[2 : len(v)-1]
	return !strings.ContainsAny(inner, "{}") && !strings.Contains(inner, ":-")
}

// unmask puts the values of old where spec holds masks. What cannot be told
// stays masked.
func unmask(spec, old core.ServerSpec) core.ServerSpec {
	spec = doctor.Clone(spec)
	for _, pair := range []struct{ now, old map[string]string }{{spec.Env, old.Env}, {spec.Headers, old.Headers}} {
		for k, v := range pair.now {
			if saved, ok := pair.old[k]; v == wire.Mask && ok {
				pair.now[k] = saved
			}
		}
	}
	hidden := mask(old)
	spec.Args = unmaskArgs(spec.Args, hidden.Args, old.Args)
	spec.URL = unmaskURL(spec.URL, hidden.URL, old.URL)
	if a, b := spec.Auth, old.Auth; a != nil && b != nil {
		restore := func(now *string, old string) {
			if *now == wire.Mask {
				*now = old
			}
		}
		restore(&a.ClientSecret, b.ClientSecret)
		restore(&a.PrivateKey, b.PrivateKey)
		restore(&a.Assertion, b.Assertion)
		if a.IdentityProvider != nil && b.IdentityProvider != nil {
			restore(&a.IdentityProvider.ClientSecret, b.IdentityProvider.ClientSecret)
		}
	}
	return spec
}

// unmaskArgs finds the value of a masked argument by how it looks masked and,
// where nothing of it is to be seen, by the flag before it: arguments may have
// been added or taken away.
func unmaskArgs(now, hidden, old []string) []string {
	used := make([]bool, len(old))
	same := func(i, j int) bool {
		if j >= len(old) || used[j] || now[i] != hidden[j] || old[j] == hidden[j] {
			return false
		}
		flag := func(list []string, at int) string {
			if at == 0 {
				return ""
			}
			return list[at-1]
		}
		return now[i] != wire.Mask || flag(now, i) == flag(hidden, j)
	}
	for i, a := range now {
		if !strings.Contains(a, wire.Mask) {
			continue
		}
		at := -1
		if same(i, i) {
			at = i
		}
		for j := 0; at < 0 && j < len(old); j++ {
			if same(i, j) {
				at = j
			}
		}
		if at >= 0 {
			now[i], used[at] = old[at], true
		}
	}
	return now
}

var maskedPart = regexp.MustCompile(`([?&][\w.-]+=|://[^/\s:@?#]*:)` + wire.Mask)

// unmaskURL puts each secret back behind its name, as long as the address leads
// to the same host: a secret is not sent elsewhere because a person edited a URL.
func unmaskURL(now, hidden, old string) string {
	if now == hidden || !strings.Contains(now, wire.Mask) {
		if now == hidden {
			return old
		}
		return now
	}
	host := func(s string) string {
		u, err := url.Parse(strings.ReplaceAll(s, wire.Mask, "x"))
		if err != nil {
			return s
		}
		return u.Scheme + "://" + u.Host
	}
	if host(now) != host(hidden) {
		return now
	}
	values := map[string]string{}
	rest := old
	for _, m := range maskedPart.FindAllStringSubmatchIndex(hidden, -1) {
		name := hidden[m[2]:m[3]]
		if i := strings.Index(rest, name); i >= 0 {
			rest = rest[i+len(name):]
			end := strings.IndexAny(rest, "&#@")
			if !strings.HasPrefix(name, "://") {
				end = strings.IndexAny(rest, "&#")
			}
			if end < 0 {
				end = len(rest)
			}
			values[strings.TrimLeft(name, "?&")] = rest[:end]
		}
	}
	return maskedPart.ReplaceAllStringFunc(now, func(part string) string {
		name := strings.TrimSuffix(part, wire.Mask)
		if v, ok := values[strings.TrimLeft(name, "?&")]; ok {
			return name + v
		}
		return part
	})
}

// unmasked refuses a mask that stands for nothing: saved, it would be a wrong password.
func unmasked(spec core.ServerSpec) error {
	refuse := func(path, what string) error {
		return &core.Error{Code: core.CodeNeedsValue, Path: path, Message: fmt.Sprintf("Enter the value of %s again: only its mask was given.", what)}
	}
	for _, pair := range []struct {
		field  string
		values map[string]string
	}{{"env", spec.Env}, {"headers", spec.Headers}} {
		for _, k := range slices.Sorted(maps.Keys(pair.values)) {
			if strings.Contains(pair.values[k], wire.Mask) {
				return refuse(pair.field+"."+k, k)
			}
		}
	}
	for i, a := range spec.Args {
		if strings.Contains(a, wire.Mask) {
			return refuse(fmt.Sprintf("args.%d", i), fmt.Sprintf("argument %d", i+1))
		}
	}
	if strings.Contains(spec.URL, wire.Mask) {
		return refuse("url", "the secret in the URL")
	}
	if a := spec.Auth; a != nil {
		fields := []struct{ name, value string }{{"clientSecret", a.ClientSecret}, {"privateKey", a.PrivateKey}, {"assertion", a.Assertion}}
		if a.IdentityProvider != nil {
			fields = append(fields, struct{ name, value string }{"identityProvider.clientSecret", a.IdentityProvider.ClientSecret})
		}
		for _, f := range fields {
			if strings.Contains(f.value, wire.Mask) {
				return refuse("auth."+f.name, f.name)
			}
		}
	}
	return nil
}
