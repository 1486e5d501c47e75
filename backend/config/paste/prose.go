package paste

import (
	"strings"
)

// htmlDialect refuses the source of a web page, which people copy by mistake.
func htmlDialect() dialect {
	return dialect{
		match: func(t string) bool {
			head := strings.ToLower(t[:min(len(t), 200)])
			return strings.HasPrefix(head, "<!doctype html") || strings.HasPrefix(head, "<html") || strings.HasPrefix(head, "<head") || strings.HasPrefix(head, "<body")
		},
		parse: func(p *parser, src source) *Error {
			return p.errorAt(src, 0, HTML, "This is the source of a web page. Copy the server's configuration from the page as it is shown.")
		},
	}
}

// linkDialect refuses links of other programs by name.
func linkDialect() dialect {
	return dialect{
		match: func(t string) bool {
			scheme, rest, ok := strings.Cut(t, ":")
			if !ok || isWebAddress(t) || strings.ContainsAny(t, " \t\n") || len(scheme) < 2 || len(scheme) > 30 || rest == "" {
				return false
			}
			for _, r := range scheme {
				if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("+-.", r) {
					return false
				}
			}
			return strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "mcp/")
		},
		parse: func(p *parser, src source) *Error {
			scheme, _, _ := strings.Cut(src.text, ":")
			switch strings.ToLower(scheme) {
			case "ws", "wss":
				return p.errorAt(src, 0, UnknownTransport, "Servers cannot be reached over WebSocket (%s://); use an http or https address.", scheme)
			}
			return p.errorAt(src, 0, UnknownLink, "Links that begin with %s: cannot be read. Paste the server's JSON, its http address or its command line.", scheme)
		},
	}
}

// proseDialect looks for a configuration inside other text: fenced blocks
// first, then loose JSON, then one line that is a command or an address.
func proseDialect() dialect {
	return dialect{
		match: func(string) bool { return true },
		parse: (*parser).prose,
	}
}

func (p *parser) prose(src source) *Error {
	if blocks := fences(src); len(blocks) > 0 && !p.inBlock {
		return p.blocks(blocks)
	}
	ok, err := p.regions(src)
	if ok || err != nil {
		return err
	}
	if i := strings.IndexByte(src.text, '{'); i >= 0 && strings.Contains(src.text[i:], `"`) {
		// something that was meant to be JSON: say what is wrong with it
		if _, _, err := p.load(src.sub(i, len(src.text))); err != nil {
			return err
		}
	}
	var hits []line
	for _, l := range splitLines(src.text) {
		if words := strings.Fields(l.text); readable(l.text) && (isWebAddress(l.text) || isLauncher(words[0]) || len(words) > 3 && words[1] == "mcp") {
			if hits = append(hits, l); len(hits) > 1 {
				break
			}
		}
	}
	if len(hits) == 1 {
		f, err := p.lineServer(hits[0].text)
		if err == nil && f != nil {
			p.warn("Only the line %q was read; the rest of the text is not configuration.", short(hits[0].text))
			f.src, f.offset = src, hits[0].off
			p.add(*f)
			return nil
		}
	}
	return p.errorAt(src, 0, Prose, "This text holds no configuration of a server. Paste its JSON, its address (https://…) or its command line (npx …).")
}

func short(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}

// blocks reads the fenced blocks of a text. Blocks without servers are passed
// over; when no block has any, the error of the first is returned.
func (p *parser) blocks(blocks []source) *Error {
	p.inBlock = true
	defer func() { p.inBlock = false }()
	var first *Error
	ok := false
	for _, b := range blocks[:min(len(blocks), MaxServers)] {
		before := len(p.found)
		err := p.parse(b)
		switch {
		case err == nil:
			ok = true
		case first == nil || first.Reason == Prose || first.Reason == Empty || first.Reason == ShellSyntax:
			first = err
		}
		if err != nil {
			p.found = p.found[:before]
		}
	}
	if ok {
		return nil
	}
	return first
}

// fences returns the insides of the ``` and ~~~ blocks of a text. A block that
// is not closed goes to the end.
func fences(src source) []source {
	var out []source
	open, start := "", 0
	for off := 0; off < len(src.text); {
		end := lineEnd(src.text, off)
		l := strings.TrimLeft(src.text[off:end], " \t>")
		next := min(end+1, len(src.text))
		switch {
		case open == "" && (strings.HasPrefix(l, "```") || strings.HasPrefix(l, "~~~")):
			open, start = l[:3], next
		case open != "" && strings.HasPrefix(strings.TrimSpace(l), open):
			out = append(out, src.sub(start, off))
			open = ""
		}
		off = next
		if end == len(src.text) {
			break
		}
	}
	if open != "" {
		out = append(out, src.sub(start, len(src.text)))
	}
	return out
}
