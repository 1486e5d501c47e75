package entry

import (
	"errors"
	"regexp"
	"strings"
)

// Split takes a command line apart as a POSIX shell would, without expanding
// anything. A backslash before a letter, a digit or another backslash outside
// quotes is kept, so that Windows paths survive. It fails on a quote that is
// not closed.
func Split(s string) ([]string, error) {
	var words []string
	var cur strings.Builder
	started := false
	runes := []rune(s)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case r == ' ' || r == '\t' || r == '\n' || r == '\r':
			if started {
				words = append(words, cur.String())
				cur.Reset()
				started = false
			}
			continue
		case r == '\'':
			end := i + 1
			for end < len(runes) && runes[end] != '\'' {
				end++
			}
			if end == len(runes) {
				return nil, errors.New("a single quote is not closed")
			}
			cur.WriteString(string(runes[i+1 : end]))
			i = end
		case r == '"':
			for i++; i < len(runes) && runes[i] != '"'; i++ {
				if runes[i] == '\\' && i+1 < len(runes) && strings.ContainsRune("\"\\$`", runes[i+1]) {
					i++
				}
				cur.WriteRune(runes[i])
			}
			if i == len(runes) {
				return nil, errors.New("a double quote is not closed")
			}
		case r == '\\' && i+1 < len(runes) && runes[i+1] == '\n':
			i++ // a line goes on
			continue
		case r == '\\' && i+1 < len(runes) && strings.ContainsRune(" \t'\"$&|;<>()*?!#`~", runes[i+1]):
			i++
			cur.WriteRune(runes[i])
		default:
			cur.WriteRune(r)
		}
		started = true
	}
	if started {
		words = append(words, cur.String())
	}
	return words, nil
}

// Neutral replaces placeholders by something that any field accepts.
func Neutral(s string) string {
	return placeholder().ReplaceAllString(s, "x")
}

func placeholder() *regexp.Regexp {
	return regexp.MustCompile(`\$\{[^{}]*\}|<[^<>]*>|\{\{[^{}]*\}\}|\{[A-Za-z_]\w*\}`)
}
