package paste

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// repairer rewrites JSON that was damaged on its way, or written in a laxer
// notation, into JSON with comments. at keeps the place of each byte.
type repairer struct {
	in  string
	out strings.Builder
	at  []int32
	// backslashes says that a path with single backslashes was mended, dots that
	// they stood for all that a list or an object holds.
	backslashes, dots bool
	last              byte // that was put and is no space; 0 at the beginning
}

// notes are the warnings for what was mended by guessing.
func (r *repairer) notes() []string {
	var out []string
	if r.backslashes {
		out = append(out, "Single backslashes were read as parts of a path; JSON wants them written twice (\\\\).")
	}
	if r.dots {
		out = append(out, "The text has [...] or {...} in the place of something; fill in what belongs there.")
	}
	return out
}

func (r *repairer) put(s string, off int) {
	for range len(s) {
		r.at = append(r.at, int32(off))
	}
	r.wrote(s)
}

// wrote keeps the last byte that is no space, for which the whole text would be
// looked at again and again otherwise.
func (r *repairer) wrote(s string) {
	r.out.WriteString(s)
	if t := strings.TrimRight(s, " \t\r\n"); t != "" {
		r.last = t[len(t)-1]
	}
}

// copyText puts in[from:to], each byte with its own place.
func (r *repairer) copyText(from, to int) {
	for i := from; i < to; i++ {
		r.at = append(r.at, int32(i))
	}
	r.wrote(r.in[from:to])
}

func isDouble(r rune) bool { return strings.ContainsRune("\"“”„‟″＂«»", r) }
func isSingle(r rune) bool { return strings.ContainsRune("'‘’‚‛′`", r) }

// repair mends quotes, spaces, bare keys, "#" comments, Windows paths, numbers of
// JSON5 and dots that stand for more.
// notes are warnings.
func repair(in string) (out string, at []int32, notes []string) {
	r := &repairer{in: in}
	for i := 0; i < len(in); {
		c, n := utf8.DecodeRuneInString(in[i:])
		switch {
		case c == '"':
			i = r.quoted(i)
		case isDouble(c):
			i = r.requote(i, n, func(q rune) bool { return isDouble(q) })
		case isSingle(c):
			i = r.requote(i, n, func(q rune) bool { return isSingle(q) && (q == c || c != '\'' && c != '`') })
		case strings.HasPrefix(in[i:], "//"):
			end := lineEnd(in, i)
			r.copyText(i, end)
			i = end
		case strings.HasPrefix(in[i:], "/*"):
			end := len(in)
			if j := strings.Index(in[i+2:], "*/"); j >= 0 {
				end = i + 2 + j + 2
			}
			r.copyText(i, end)
			i = end
		case c == '#':
			end := lineEnd(in, i)
			r.put("//", i)
			r.copyText(i+1, end)
			i = end
		case unicode.IsSpace(c) && c > 127:
			r.put(" ", i)
			i += n
		case unicode.IsLetter(c) || c == '_' || c == '$':
			i = r.word(i)
		case c == '…' || strings.HasPrefix(in[i:], "..."): // "and so on"
			i = r.skipDots(i)
		case c == '.' || c == '+' || c == '-' || c >= '0' && c <= '9':
			i = r.number(i)
		default:
			r.copyText(i, i+n)
			i += n
		}
	}
	return r.out.String(), r.at, r.notes()
}

// skipDots passes over the dots that stand for what was left out, and the comma
// behind them.
func (r *repairer) skipDots(i int) int {
	for i < len(r.in) && (r.in[i] == '.' || strings.HasPrefix(r.in[i:], "…")) {
		if r.in[i] == '.' {
			i++
		} else {
			i += len("…")
		}
	}
	rest := strings.TrimLeft(r.in[i:], " \t\r\n")
	if r.last == 0 || rest == "" {
		return i
	}
	last, next := r.last, rest[0]
	if next == ',' && strings.IndexByte("{[,", last) >= 0 {
		i = len(r.in) - len(rest) + 1
	}
	if last == '[' && next == ']' || last == '{' && next == '}' {
		r.dots = true
	}
	return i
}

// lax matches a number as JSON5 writes it.
var lax = regexp.MustCompile(`^[+-]?(0[xX][0-9a-fA-F]{1,12}|[0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?`)

// number copies a number, as JSON spells it.
func (r *repairer) number(i int) int {
	n := len(lax.FindString(r.in[i:min(len(r.in), i+100)]))
	if n == 0 {
		r.copyText(i, i+1)
		return i + 1
	}
	w := r.in[i : i+n]
	if json.Valid([]byte(w)) {
		r.copyText(i, i+n)
		return i + n
	}
	plain := strings.TrimPrefix(w, "+")
	if v, err := strconv.ParseInt(plain, 0, 64); err == nil && strings.ContainsAny(plain, "xX") {
		plain = strconv.FormatInt(v, 10)
	} else if strings.HasPrefix(strings.TrimPrefix(plain, "-"), ".") {
		plain = strings.Replace(plain, ".", "0.", 1)
	} else {
		plain = strings.TrimSuffix(plain, ".")
	}
	r.put(plain, i)
	return i + n
}

func lineEnd(s string, from int) int {
	if j := strings.IndexByte(s[from:], '\n'); j >= 0 {
		return from + j
	}
	return len(s)
}

// quoted copies a text in straight quotes and mends its backslashes if it is a
// Windows path that was pasted as it is.
func (r *repairer) quoted(i int) int {
	end := i + 1
	for end < len(r.in) && r.in[end] != '"' {
		if r.in[end] == '\\' && end+1 < len(r.in) && r.in[end+1] != '\n' {
			end++
		}
		end++
	}
	if end >= len(r.in) {
		r.copyText(i, len(r.in))
		return len(r.in)
	}
	end++
	lit := r.in[i:end]
	if strings.Contains(lit, `\`) && !json.Valid([]byte(lit)) && !strings.ContainsAny(lit, "\r\n") {
		r.backslashes = true
		r.put(`"`+strings.ReplaceAll(strings.ReplaceAll(lit[1:len(lit)-1], `\\`, `\`), `\`, `\\`)+`"`, i)
		return end
	}
	r.copyText(i, end)
	return end
}

// requote rewrites a text in other quotes.
func (r *repairer) requote(i, n int, closes func(rune) bool) int {
	r.put(`"`, i)
	for i += n; i < len(r.in); {
		c, n := utf8.DecodeRuneInString(r.in[i:])
		switch {
		case closes(c):
			r.put(`"`, i)
			return i + n
		case c == '\\' && i+1 < len(r.in):
			next, m := utf8.DecodeRuneInString(r.in[i+1:])
			if isSingle(next) {
				r.copyText(i+1, i+1+m)
			} else {
				r.copyText(i, i+1+m)
			}
			i += 1 + m
			continue
		case c == '"':
			r.put(`\"`, i)
		default:
			r.copyText(i, i+n)
		}
		i += n
	}
	return i
}

// word copies a bare word, in quotes if it is a key, and as JSON spells it if
// it is a Python constant.
func (r *repairer) word(i int) int {
	end := i
	for end < len(r.in) {
		c, n := utf8.DecodeRuneInString(r.in[end:])
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_$-.", c) {
			break
		}
		end += n
	}
	w := r.in[i:end]
	switch rest := strings.TrimLeft(r.in[end:], " \t"); {
	case strings.HasPrefix(rest, ":"):
		r.put(`"`, i)
		r.copyText(i, end)
		r.put(`"`, end-1)
	case w == "True" || w == "False":
		r.put(strings.ToLower(w), i)
	case w == "None" || w == "undefined":
		r.put("null", i)
	default:
		r.copyText(i, end)
	}
	return end
}
