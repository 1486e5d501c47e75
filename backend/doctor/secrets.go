package doctor

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"patchbay/backend/core"
)

// Secret is a piece of a configuration that should not stand in a plain file.
type Secret struct {
	Place string // "env.TOKEN", "args.2", "url", "auth.clientSecret"
	Key   string // what the value is called there: "TOKEN", "api-key", "Authorization"
	What  string // in words: "a GitHub token", "what looks like a secret"

	start, end int // of the value in the text of the place
}

// kind is a token that tells what it is by how it begins.
type kind struct {
	what string
	re   *regexp.Regexp
}

// kinds are the tokens that servers ask for most; each begins in a way that
// nothing else does. To add one, give a pattern that cannot match a word.
var kinds = []kind{
	{"a GitHub token", regexp.MustCompile(`\b(gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})`)},
	{"a GitLab token", regexp.MustCompile(`\bglpat-[\w-]{16,}`)},
	{"a Slack token", regexp.MustCompile(`\bx(ox[abeoprs]|app)-[\w-]{8,}`)},
	{"an Anthropic key", regexp.MustCompile(`\bsk-ant-[\w-]{16,}`)},
	{"an API key", regexp.MustCompile(`\b(sk|rk|pk)[-_](live|test|proj|or|svcacct)?[-_]?[A-Za-z0-9_-]{20,}`)},
	{"an AWS key", regexp.MustCompile(`\b(AKIA|ASIA)[0-9A-Z]{16}\b`)},
	{"a Google key", regexp.MustCompile(`\b(AIza[\w-]{35}|ya29\.[\w-]{20,})`)},
	{"a token (JWT)", regexp.MustCompile(`\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}`)},
	{"a private key", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`)},
	{"an npm token", regexp.MustCompile(`\bnpm_[A-Za-z0-9]{30,}`)},
	{"a Hugging Face token", regexp.MustCompile(`\bhf_[A-Za-z0-9]{20,}`)},
	{"a Notion token", regexp.MustCompile(`\b(ntn|secret)_[A-Za-z0-9]{20,}`)},
	{"a Linear key", regexp.MustCompile(`\blin_(api|oauth)_[A-Za-z0-9]{16,}`)},
	{"a Figma token", regexp.MustCompile(`\bfigd_[\w-]{16,}`)},
	{"a SendGrid key", regexp.MustCompile(`\bSG\.[\w-]{16,}\.[\w-]{16,}`)},
	{"a search key", regexp.MustCompile(`\b(BSA[\w-]{20,}|tvly-[\w-]{16,}|pplx-[A-Za-z0-9]{20,})`)},
	{"a cloud token", regexp.MustCompile(`\b(dop_v1_[a-f0-9]{32,}|dapi[a-f0-9]{32}|shpat_[a-fA-F0-9]{32}|pul-[a-f0-9]{40})`)},
}

var (
	reference = regexp.MustCompile(`\$\{[^{}]*\}`)
	secretRef = regexp.MustCompile(`\$\{secret:([^{}]+)\}`)
	userinfo  = regexp.MustCompile(`[a-zA-Z][\w+.-]*://([^/\s:@?#]*):([^/\s@]+)@`)
	query     = regexp.MustCompile(`[?&]([\w.-]+)=([^&#\s]+)`)
	headerArg = regexp.MustCompile(`^([\w-]+):\s*(\S.*)$`)
	pair      = regexp.MustCompile(`^(-{0,2}[A-Za-z_][\w.-]*)=(.+)$`)
	isPath    = regexp.MustCompile(`^(~?/|\.{1,2}/|[A-Za-z]:\\)[^\n]*$`)
	scheme    = regexp.MustCompile(`^(?i:bearer|basic|token|apikey)\s+`)
)

// Secrets finds what stands in clear, in a fixed order. A reference to the
// environment or the secret store is no secret.
func Secrets(spec core.ServerSpec) []Secret {
	f := &finder{}
	for i, a := range spec.Args {
		before := ""
		if i > 0 {
			before = spec.Args[i-1]
		}
		f.argument("args."+strconv.Itoa(i), before, a)
	}
	for _, k := range slices.Sorted(maps.Keys(spec.Env)) {
		f.named("env."+k, k, spec.Env[k], 0)
		f.inside("env."+k, k, spec.Env[k])
	}
	f.inside("url", "", spec.URL)
	for _, k := range slices.Sorted(maps.Keys(spec.Headers)) {
		v := spec.Headers[k]
		skip := len(scheme.FindString(v))
		f.named("headers."+k, k, v[skip:], skip)
		f.inside("headers."+k, k, v)
	}
	for _, a := range authFields(spec.Auth) {
		if *a.value != "" {
			f.put(Secret{Place: a.place, Key: a.place[strings.LastIndexByte(a.place, '.')+1:], What: "a secret", end: len(*a.value)}, *a.value)
		}
	}
	return f.list
}

type finder struct{ list []Secret }

// put notes a secret unless it is a reference or lies in one that is known.
func (f *finder) put(s Secret, text string) {
	value := text[s.start:s.end]
	if strings.TrimSpace(value) == "" || reference.MatchString(value) || strings.Contains(value, "•") || blank(value) {
		return
	}
	for _, have := range f.list {
		if have.Place == s.Place && s.start < have.end && have.start < s.end {
			return
		}
	}
	f.list = append(f.list, s)
}

// named looks at a value whose name says that it is a secret. skip bytes of the
// place's text stand before it.
func (f *finder) named(place, key, value string, skip int) {
	if !SecretName(key) || !random(value) {
		return
	}
	f.put(Secret{Place: place, Key: key, What: what(value), start: skip, end: skip + len(value)}, strings.Repeat(" ", skip)+value)
}

// inside looks for tokens and for addresses with a password in a text.
func (f *finder) inside(place, key, text string) {
	for _, m := range userinfo.FindAllStringSubmatchIndex(text, -1) {
		f.put(Secret{Place: place, Key: strings.TrimPrefix(key+"_password", "_"), What: "a password", start: m[4], end: m[5]}, text)
	}
	for _, m := range query.FindAllStringSubmatchIndex(text, -1) {
		if name, value := text[m[2]:m[3]], text[m[4]:m[5]]; SecretName(name) && len(value) >= 4 {
			f.put(Secret{Place: place, Key: name, What: what(value), start: m[4], end: m[5]}, text)
		}
	}
	for _, k := range kinds {
		for _, m := range k.re.FindAllStringIndex(text, -1) {
			if k.what == "a private key" {
				m = []int{0, len(text)}
			}
			// A long word with dashes may begin like a key; keys have digits.
			if k.what == "a private key" || strings.ContainsAny(text[m[0]:m[1]], "0123456789") {
				f.put(Secret{Place: place, Key: or(key, "token"), What: k.what, start: m[0], end: m[1]}, text)
			}
		}
	}
}

// argument looks at one word of a command line; before is the one in front of it.
func (f *finder) argument(place, before, text string) {
	key := ""
	if m := pair.FindStringSubmatchIndex(text); m != nil {
		key = strings.TrimLeft(text[m[2]:m[3]], "-")
		value := text[m[4]:m[5]]
		skip := m[4] + len(scheme.FindString(value))
		f.named(place, key, text[skip:], skip)
	} else if m := headerArg.FindStringSubmatchIndex(text); m != nil && !strings.HasPrefix(text[m[4]:], "//") {
		key = text[m[2]:m[3]]
		skip := m[4] + len(scheme.FindString(text[m[4]:]))
		f.named(place, key, text[skip:], skip)
	} else if strings.HasPrefix(before, "-") && !strings.Contains(before, "=") && !strings.HasPrefix(text, "-") {
		key = strings.TrimLeft(before, "-")
		f.named(place, key, text, 0)
	}
	f.inside(place, key, text)
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

func what(value string) string {
	for _, k := range kinds {
		if k.re.MatchString(value) {
			return k.what
		}
	}
	return "what looks like a secret"
}

// SecretName reports whether the name of a variable, a header, a parameter or a
// flag says that its value is a secret.
func SecretName(name string) bool {
	words := strings.FieldsFunc(spaced(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	switch last {
	case "path", "file", "dir", "folder", "url", "uri", "id", "name", "type", "limit", "count", "endpoint", "host", "expiry", "ttl", "provider", "method", "tokens":
		return false
	}
	for i, w := range words {
		switch w {
		case "token", "secret", "password", "passwd", "passphrase", "pwd", "apikey", "credential", "credentials", "authorization", "bearer", "cookie", "dsn", "apitoken", "accesstoken", "secretkey", "accesskey", "privatekey":
			return w != "pwd" || len(words) > 1
		case "key":
			if i == len(words)-1 && (len(words) == 1 || words[i-1] != "public") {
				return true
			}
		case "pat", "auth", "pass":
			if i == len(words)-1 {
				return true
			}
		}
	}
	return false
}

// spaced puts a space at changes of case, "apiKey" → "api key", in lower case.
func spaced(name string) string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		if unicode.IsUpper(r) && lower {
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r) || unicode.IsDigit(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// random reports whether a value could be a secret at all: long enough, and no
// word such as "true" or a run of one character.
func random(value string) bool {
	value = strings.TrimSpace(value)
	if len(value) < 4 {
		return false
	}
	if _, err := strconv.ParseBool(value); err == nil || isPath.MatchString(value) {
		return false
	}
	return len(value) >= 16 || entropy(value) >= 1.5
}

// entropy is Shannon's, in bits per character.
func entropy(s string) float64 {
	counts := map[rune]float64{}
	n := 0.0
	for _, r := range s {
		counts[r]++
		n++
	}
	h := 0.0
	for _, c := range counts {
		h -= c / n * math.Log2(c/n)
	}
	return h
}

// blank reports whether a value is a hint to a person: <YOUR_KEY>, xxx.
func blank(value string) bool {
	v := strings.ToLower(strings.TrimSpace(value))
	for _, word := range []string{"your", "<", "insert", "replace", "changeme", "placeholder", "example", "xxxx", "****", "..."} {
		if strings.Contains(v, word) {
			return true
		}
	}
	return strings.Trim(v, "x*.") == ""
}

// authField is a secret of signing in.
type authField struct {
	place string
	value *string
}

// authFields lists the secrets of a; they point into it.
func authFields(a *core.ServerAuth) []authField {
	if a == nil {
		return nil
	}
	out := []authField{{"auth.clientSecret", &a.ClientSecret}, {"auth.privateKey", &a.PrivateKey}, {"auth.assertion", &a.Assertion}}
	if a.IdentityProvider != nil {
		out = append(out, authField{"auth.identityProvider.clientSecret", &a.IdentityProvider.ClientSecret})
	}
	return out
}

// Clone returns spec with maps, lists and pointers of its own, as far as they hold texts.
func Clone(spec core.ServerSpec) core.ServerSpec {
	spec.Args, spec.Env, spec.Headers = slices.Clone(spec.Args), maps.Clone(spec.Env), maps.Clone(spec.Headers)
	if spec.Auth != nil {
		a := *spec.Auth
		if a.IdentityProvider != nil {
			p := *a.IdentityProvider
			a.IdentityProvider = &p
		}
		spec.Auth = &a
	}
	return spec
}

// at returns the text of a place of spec and how to replace it. spec must be a clone.
func at(spec *core.ServerSpec, place string) (text string, set func(string)) {
	group, key, _ := strings.Cut(place, ".")
	switch group {
	case "env":
		return spec.Env[key], func(s string) { spec.Env[key] = s }
	case "headers":
		return spec.Headers[key], func(s string) { spec.Headers[key] = s }
	case "args":
		i, err := strconv.Atoi(key)
		if err == nil && i >= 0 && i < len(spec.Args) {
			return spec.Args[i], func(s string) { spec.Args[i] = s }
		}
	case "url":
		return spec.URL, func(s string) { spec.URL = s }
	case "auth":
		for _, f := range authFields(spec.Auth) {
			if f.place == place {
				return *f.value, func(s string) { *f.value = s }
			}
		}
	}
	return "", func(string) {}
}

// replace returns spec with each secret that with names replaced by its answer.
func replace(spec core.ServerSpec, with func(s Secret, value string) (string, bool)) core.ServerSpec {
	out := Clone(spec)
	found := Secrets(spec)
	slices.SortFunc(found, func(a, b Secret) int { return b.start - a.start }) // from behind, so that places stay
	for _, s := range found {
		text, set := at(&out, s.Place)
		if next, ok := with(s, text[s.start:s.end]); ok {
			set(text[:s.start] + next + text[s.end:])
		}
	}
	return out
}

// Mask returns spec with mask in the place of every secret. Nothing of spec is changed.
func Mask(spec core.ServerSpec, mask string) core.ServerSpec {
	return replace(spec, func(Secret, string) (string, bool) { return mask, true })
}

// Move takes the secrets at places out of spec: each becomes a reference, and
// values holds what to keep in the secret store under which name, such as
// "github/TOKEN". taken reports names that hold another value already.
func Move(spec core.ServerSpec, places []string, taken func(name, value string) bool) (out core.ServerSpec, values map[string]string) {
	values = map[string]string{}
	out = replace(spec, func(s Secret, value string) (string, bool) {
		if !slices.Contains(places, s.Place) {
			return "", false
		}
		base := safe(spec.Name) + "/" + safe(s.Key)
		name := base
		for n := 2; ; n++ {
			if have, ok := values[name]; (!ok || have == value) && !taken(name, value) {
				break
			}
			name = fmt.Sprintf("%s-%d", base, n)
		}
		values[name] = value
		return "${secret:" + name + "}", true
	})
	return out, values
}

// safe keeps of a name what may stand in a reference.
func safe(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("${}\"'`:/", r) {
			return '-'
		}
		return r
	}, s)
	if len(s) > 100 {
		s = strings.ToValidUTF8(s[:100], "")
	}
	return or(s, "server")
}

// References lists the secrets that spec refers to, sorted.
func References(spec core.ServerSpec) []string { return references(spec, true) }

// references is References; optional says whether those with a default count.
func references(spec core.ServerSpec, optional bool) []string {
	var out []string
	take := func(text string) {
		for _, m := range secretRef.FindAllStringSubmatch(text, -1) {
			name, _, hasDefault := strings.Cut(m[1], ":-")
			if optional || !hasDefault {
				out = append(out, name)
			}
		}
	}
	take(spec.Cwd)
	take(spec.Command)
	take(spec.URL)
	for _, a := range spec.Args {
		take(a)
	}
	for _, m := range []map[string]string{spec.Env, spec.Headers} {
		for _, v := range m {
			take(v)
		}
	}
	clone := Clone(spec)
	for _, f := range authFields(clone.Auth) {
		take(*f.value)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Placeholders returns spec for other eyes and other programs: secrets, also
// those in the secret store, become ${NAME}, and so do long values of variables
// and headers that only a secret would have.
func Placeholders(spec core.ServerSpec) core.ServerSpec {
	out := replace(spec, func(s Secret, _ string) (string, bool) { return variable(s.Key), true })
	for _, m := range []map[string]string{out.Env, out.Headers} {
		for k, v := range m {
			if !reference.MatchString(v) && unreadable(v) {
				m[k] = variable(k)
			}
		}
	}
	named := func(text string) string {
		return secretRef.ReplaceAllStringFunc(text, func(ref string) string {
			name, _, _ := strings.Cut(secretRef.FindStringSubmatch(ref)[1], ":-")
			return variable(name[strings.LastIndexByte(name, '/')+1:])
		})
	}
	out.Command, out.URL = named(out.Command), named(out.URL)
	for i, a := range out.Args {
		out.Args[i] = named(a)
	}
	for _, m := range []map[string]string{out.Env, out.Headers} {
		for k, v := range m {
			m[k] = named(v)
		}
	}
	for _, f := range authFields(out.Auth) {
		*f.value = named(*f.value)
	}
	return out
}

func variable(key string) string {
	return "${" + strings.ToUpper(strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, key)) + "}"
}

// unreadable reports whether a value is one long word of letters and digits
// mixed, as keys are and settings are not.
func unreadable(v string) bool {
	return len(v) >= 20 && !strings.ContainsAny(v, " /\\:,;") && strings.ContainsAny(v, "0123456789") && entropy(v) >= 3.5
}
