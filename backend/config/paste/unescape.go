package paste

import (
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxUnescapes is how often a text may be wrapped in another one.
const maxUnescapes = 3

// unescape takes off what a text was wrapped in on its way: JSON inside a JSON
// string, the source of a web page, a patch. ok is false when it is in none.
func unescape(src source) (out source, ok bool) {
	var r *repairer
	switch {
	case isStringLiteral(src.text):
		r = unquote(src.text, 1, len(src.text)-1)
	case isEscapedJSON(src.text):
		r = unquote(src.text, 0, len(src.text))
	case isEscapedHTML(src.text):
		r = plainHTML(src.text)
	case isPatch(src.text):
		r = patched(src.text)
	default:
		return src, false
	}
	at := r.at
	if src.at != nil {
		for i, v := range at {
			at[i] = src.at[v]
		}
	}
	return source{text: r.out.String(), base: src.base, at: at}, true
}

// isStringLiteral reports whether all of t is one JSON string with JSON in it.
func isStringLiteral(t string) bool {
	n := len(t)
	if n < 4 || t[0] != '"' || t[n-1] != '"' {
		return false
	}
	return onlyEscapedQuotes(t[1:n-1]) && looksEscaped(t[1:n-1])
}

// isEscapedJSON reports whether t is the inside of such a string.
func isEscapedJSON(t string) bool {
	return (strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") || strings.HasPrefix(t, `\"`)) && onlyEscapedQuotes(t) && looksEscaped(t)
}

func looksEscaped(t string) bool { return strings.Contains(t, `\"`) && strings.Contains(t, "{") }

// onlyEscapedQuotes reports whether each quote of t has a backslash before it.
func onlyEscapedQuotes(t string) bool {
	for i := 0; i < len(t); i++ {
		switch t[i] {
		case '\\':
			i++
		case '"':
			return false
		}
	}
	return true
}

// unquote undoes the escapes of a JSON string in in[from:to].
func unquote(in string, from, to int) *repairer {
	r := &repairer{in: in}
	for i := from; i < to; i++ {
		if in[i] != '\\' || i+1 >= to {
			r.copyText(i, i+1)
			continue
		}
		start := i
		i++
		switch c := in[i]; c {
		case 'n':
			r.put("\n", start)
		case 't':
			r.put("\t", start)
		case 'r':
		case 'u':
			v, err := strconv.ParseUint(in[min(i+1, to):min(i+5, to)], 16, 16)
			if err != nil || !utf8.ValidRune(rune(v)) {
				r.put(in[start:i+1], start)
				continue
			}
			r.put(string(rune(v)), start)
			i += 4
		case '"', '\\', '/':
			r.put(string(c), start)
		default:
			r.put(in[start:i+1], start)
		}
	}
	return r
}

// tags matches the tags that pages put around code.
func tags() *regexp.Regexp { return regexp.MustCompile(`</?[a-zA-Z][^<>]*>`) }

// isEscapedHTML reports whether the quotes of t are written as a page's source
// writes them, all of them.
func isEscapedHTML(t string) bool {
	if !strings.Contains(t, "&quot;") && !strings.Contains(t, "&#34;") && !strings.Contains(t, "&#x22;") {
		return false
	}
	return !strings.Contains(tags().ReplaceAllString(t, ""), `"`)
}

func plainHTML(in string) *repairer {
	r := &repairer{in: in}
	next := 0
	text := func(to int) {
		for next < to {
			if in[next] == '&' {
				if n := strings.IndexByte(in[next:min(next+12, to)], ';'); n > 0 {
					if s := html.UnescapeString(in[next : next+n+1]); s != in[next:next+n+1] {
						r.put(s, next)
						next += n + 1
						continue
					}
				}
			}
			r.copyText(next, next+1)
			next++
		}
	}
	for _, m := range tags().FindAllStringIndex(in, -1) {
		text(m[0])
		next = m[1]
	}
	text(len(in))
	return r
}

// isPatch reports whether t is a piece of a patch, as a page that compares two
// versions shows it.
func isPatch(t string) bool {
	added := false
	for _, l := range strings.Split(t, "\n") {
		switch {
		case strings.TrimSpace(l) == "" || isPatchHeader(l):
		case strings.HasPrefix(l, "+"):
			added = true
		case strings.HasPrefix(l, "-") || strings.HasPrefix(l, " "):
		case strings.HasPrefix(l, "{") || strings.HasPrefix(l, "}"): // the first line, whose space was trimmed
		default:
			return false
		}
	}
	return added
}

func isPatchHeader(l string) bool {
	for _, p := range []string{"@@", "diff ", "index ", "+++ ", "--- ", `\ No newline`} {
		if strings.HasPrefix(l, p) {
			return true
		}
	}
	return false
}

// patched is what a patch leads to.
func patched(in string) *repairer {
	r := &repairer{in: in}
	for off := 0; off < len(in); {
		end := min(lineEnd(in, off)+1, len(in))
		l := in[off:end]
		switch {
		case isPatchHeader(l) || strings.HasPrefix(l, "-"):
		case strings.HasPrefix(l, "+") || strings.HasPrefix(l, " "):
			r.copyText(off+1, end)
		default:
			r.copyText(off, end)
		}
		off = end
	}
	return r
}
