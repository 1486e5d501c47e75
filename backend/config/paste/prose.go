package paste

import (
	"patchbay/backend/core"
	"slices"
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
			return p.errorAt(src, 0, HTML, "%s", htmlMessage)
		},
	}
}

const htmlMessage = "This is the source of a web page. Copy the server's configuration from the page as it is shown."

// isMarkup reports whether t begins with a tag and has one that closes.
func isMarkup(t string) bool {
	at := tags().FindStringIndex(t[:min(len(t), 500)])
	return at != nil && at[0] == 0 && strings.Contains(t, "</")
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
	// YAML and TOML come first, because a list in them looks like JSON.
	yamlFound := p.yamlRegions(src)
	if tomlFound := p.tomlRegions(src); yamlFound || tomlFound {
		return nil
	}
	if ok, _, err := p.regions(src); ok || err != nil {
		return err
	}
	if p.links(src) {
		return nil
	}
	if i := strings.IndexByte(src.text, '{'); i >= 0 && strings.Contains(src.text[i:], `"`) {
		// something that was meant to be JSON: say what is wrong with it
		if _, _, err := p.load(src.sub(i, len(src.text))); err != nil {
			return err
		}
	}
	return p.oneLine(src)
}

// oneLine looks for the one command or address in a text for people.
func (p *parser) oneLine(src source) *Error {
	var hits []found
	var where []line
	look := func(s string, off int) {
		words := strings.Fields(s)
		if len(words) == 0 || len(hits) > 20 || !readable(s) || isInstaller(words) {
			return
		}
		if !isWebAddress(s) && !isLauncher(words[0]) && !(len(words) > 3 && words[1] == "mcp") && !strings.Contains(s, "--add-mcp") {
			return
		}
		f, err := p.lineServer(s)
		if err != nil || f == nil || f.spec.Command == "" && f.spec.URL == "" {
			return
		}
		f.src, f.offset = src, off
		if f.problem != nil {
			f.problem.Offset = off
		}
		hits, where = append(hits, *f), append(where, line{s, off})
	}
	for _, l := range splitLines(src.text) {
		look(l.text, l.off)
	}
	if len(hits) == 0 {
		for _, l := range codeSpans(src.text) {
			look(l.text, l.off)
		}
	}
	if len(hits) == 0 {
		for _, l := range addresses(src.text) {
			look(l.text, l.off)
		}
	}
	if len(hits) == 0 {
		if words := strings.Fields(src.text); isInstaller(words) && !strings.Contains(src.text, "\n") {
			if msg := shellSyntax(src.text); msg != "" {
				return p.errorAt(src, 0, ShellSyntax, "%s", msg)
			}
			return p.errorAt(src, 0, MissingCommand, "%s", installerMessage)
		}
		if isMarkup(src.text) {
			return p.errorAt(src, 0, HTML, "%s", htmlMessage)
		}
		return p.errorAt(src, 0, Prose, "This text holds no configuration of a server. Paste its JSON, its address (https://…) or its command line (npx …).")
	}
	best := 0
	for i, h := range hits[1:] {
		a, b := hits[0].spec, h.spec
		if a.Command != b.Command || !slices.Equal(a.Args, b.Args) || a.URL != b.URL {
			return p.errorAt(src, where[i+1].off, Prose, "The text holds several commands or addresses, and it cannot be told which one is the server. Paste only that one.")
		}
		if h.named && !hits[best].named {
			best = i + 1
		}
	}
	p.warn("Only the line %q was read; the rest of the text is not configuration.", core.Clip(where[best].text, 80))
	p.add(hits[best])
	return nil
}

// addresses returns the web addresses in a text that can only be servers.
func addresses(t string) []line {
	var out []line
	for off := 0; len(out) < 50; {
		i := strings.Index(t[off:], "http")
		if i < 0 {
			break
		}
		start := off + i
		end := strings.IndexFunc(t[start:], func(r rune) bool { return isSpace(r) || strings.ContainsRune("()[]<>\"'`,;", r) })
		if end < 0 {
			end = len(t) - start
		}
		off = start + max(end, len("http"))
		s := strings.TrimRight(t[start:start+end], ".:!?")
		path, _, _ := strings.Cut(strings.TrimRight(s, "/"), "?")
		if isWebAddress(s) && (strings.HasSuffix(path, "/mcp") || strings.HasSuffix(path, "/sse")) && !strings.Contains(path, "://github.com/") {
			out = append(out, line{s, start})
		}
	}
	return out
}

// codeSpans returns what stands in `single backticks`.
func codeSpans(t string) []line {
	var out []line
	for off := 0; len(out) < 200; {
		i := strings.IndexByte(t[off:], '`')
		if i < 0 {
			break
		}
		start := off + i + 1
		n := strings.IndexAny(t[start:], "`\n")
		if n < 0 {
			break
		}
		off = start + n + 1
		if t[start+n] == '`' && n > 0 {
			out = append(out, line{strings.TrimSpace(t[start : start+n]), start})
		}
	}
	return out
}

// blocks reads the fenced blocks of a text. Blocks without servers are passed
// over; when no block has any, the error of the first is returned. Command lines
// count only when no block holds a configuration: they are another way to the
// same server.
func (p *parser) blocks(blocks []source) *Error {
	p.inBlock = true
	defer func() { p.inBlock, p.block = false, 0 }()
	var first *Error
	blocks = blocks[:min(len(blocks), MaxServers)]
	for _, wantConfig := range []bool{true, false} {
		ok := false
		for i, b := range blocks {
			if isConfig(b.trim().text) != wantConfig {
				continue
			}
			before, warnings := len(p.found), len(p.warnings)
			p.block = i + 1
			err := p.parse(b)
			switch {
			case err == nil:
				ok = true
			case first == nil || first.Reason == Prose || first.Reason == Empty || first.Reason == ShellSyntax:
				first = err
			}
			if err != nil {
				p.found, p.warnings = p.found[:before], p.warnings[:warnings]
			}
		}
		if ok {
			return nil
		}
	}
	return first
}

// isConfig reports whether t is written in a notation for configuration.
func isConfig(t string) bool {
	return isTOML(t) || isYAML(t) || jsonDialect().match(t)
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
