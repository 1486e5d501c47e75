package entry

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/tailscale/hujson"

	"patchbay/backend/config/internal/jsonc"
	"patchbay/backend/core"
)

// ParseTransport reads the spellings that are in use. "" is no transport.
func ParseTransport(s string) (core.Transport, bool) {
	switch strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "", "+", "").Replace(s)) {
	case "stdio", "local", "command":
		return core.TransportStdio, true
	case "http", "streamablehttp", "httpstream", "httpstreamable", "remote", "streamable", "https", "streaminghttp":
		return core.TransportHTTP, true
	case "sse", "httpsse":
		return core.TransportSSE, true
	}
	return "", false
}

// transport decides how the server is reached and checks that what is needed is there.
func (d *Decoder) transport(o *hujson.Object, v *hujson.Value, spec *core.ServerSpec) {
	key := KeyOf(o, "transport")
	at, path := v, d.path
	explicit := ""
	if m := jsonc.Member(o, key); m != nil && m.Value.Kind() != 'n' {
		s, ok := jsonc.String(m)
		if !ok {
			d.fail(WrongType, m, d.path+"/"+key, "%s must be text, not %s.", key, jsonc.TypeName(m))
		}
		at, path, explicit = m, d.path+"/"+key, strings.TrimSpace(s)
	}
	if d.Foreign && spec.URL == "" && isWebAddress(spec.Command) && len(spec.Args) == 0 {
		d.warn("the command is a web address and is read as url.")
		spec.URL, spec.Command = spec.Command, ""
	}
	if d.Foreign && (explicit == "url" || explicit == "mcp") { // the APIs of models
		explicit = ""
	}
	if explicit != "" {
		t, ok := ParseTransport(explicit)
		if !ok {
			d.fail(UnknownTransport, at, path, "the transport %q is not known; use stdio, streamable-http or sse.", core.Clip(explicit, 40))
		}
		spec.Transport = t
	}
	switch {
	case explicit == "" && spec.Command != "" && spec.URL != "":
		d.fail(Ambiguous, v, d.path, "the entry has both a command and a url; keep one, or say which with transport.")
	case explicit == "" && spec.Command == "" && spec.URL == "":
		d.fail(MissingCommand, v, d.path, "the entry has neither a command nor a url.")
	case explicit == "" && spec.Command != "":
		spec.Transport = core.TransportStdio
	case explicit == "":
		spec.Transport = guessHTTP(o, spec.URL)
	case spec.Transport == core.TransportStdio && spec.Command == "":
		d.fail(MissingCommand, at, d.path+"/command", "the transport is stdio, but there is no command.")
	case spec.Transport != core.TransportStdio && spec.URL == "":
		d.fail(MissingURL, at, d.path+"/url", "the transport is %s, but there is no url.", spec.Transport)
	}
	if spec.Transport == core.TransportStdio {
		if strings.TrimSpace(spec.Command) == "" {
			d.fail(MissingCommand, v, d.path+"/command", "the command is empty.")
		}
		if spec.URL != "" || len(spec.Headers) > 0 {
			d.warn("url and headers mean nothing to a stdio server and are not used.")
		}
		return
	}
	if spec.Command != "" || len(spec.Args) > 0 {
		d.warn("command and args mean nothing to a server with a url and are not used.")
	}
	m := jsonc.Member(o, KeyOf(o, "url"))
	if m == nil {
		m = v
	}
	if msg := CheckURL(spec.URL); msg != "" {
		d.fail(BadURL, m, d.path+"/"+KeyOf(o, "url"), "%s", msg)
	}
}

func isWebAddress(s string) bool {
	s = strings.ToLower(s)
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

func guessHTTP(o *hujson.Object, address string) core.Transport {
	if KeyOf(o, "url") == "sseUrl" {
		return core.TransportSSE
	}
	return GuessTransport(address)
}

// GuessTransport tells the older transport by the path that its servers use.
func GuessTransport(address string) core.Transport {
	if u, err := url.Parse(address); err == nil && strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/sse") {
		return core.TransportSSE
	}
	return core.TransportHTTP
}

// CheckURL returns what is wrong with a server's address, "" if nothing is.
// Placeholders are let through.
func CheckURL(s string) string {
	plain := Neutral(s) // a placeholder may hold spaces
	if strings.ContainsFunc(plain, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }) || HasControl(s, false) {
		return fmt.Sprintf("the url %s holds a space or a control character.", core.Clip(strconv.Quote(s), 40))
	}
	if strings.HasPrefix(s, "${") { // the whole address is a placeholder
		return ""
	}
	u, err := url.Parse(plain)
	switch {
	case err != nil:
		return fmt.Sprintf("the url %q cannot be read.", core.Clip(s, 40))
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Sprintf("the url %q must begin with http:// or https://.", core.Clip(s, 40))
	case u.Hostname() == "":
		return fmt.Sprintf("the url %q names no host.", core.Clip(s, 40))
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return fmt.Sprintf("the url %q has a port out of range.", core.Clip(s, 40))
		}
	}
	return ""
}
