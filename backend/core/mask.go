package core

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// minSecret is the length in bytes from which on a secret is masked: hiding a
// shorter one would blot out half of what is shown.
const minSecret = 4

// Masker returns a function that replaces the given secrets in a text by dots,
// also where they stand percent-encoded, as JSON, as hexadecimal digits or inside
// base64. Secrets under four bytes stay. The function is safe for concurrent use.
func Masker(secrets ...string) func(string) string {
	var all []string
	for _, s := range secrets {
		if len(s) < minSecret {
			continue
		}
		all = append(all, spellings(s)...)
		if lines := strings.Split(s, "\n"); len(lines) > 1 { // a key in PEM is often shown line by line
			for _, l := range lines {
				if l = strings.TrimSpace(l); len(l) >= 2*minSecret {
					all = append(all, spellings(l)...)
				}
			}
		}
	}
	if len(all) == 0 {
		return func(s string) string { return s }
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) }) // of two at one place the longer hides more
	var pairs []string
	for _, s := range all {
		pairs = append(pairs, s, "••••••••")
	}
	return strings.NewReplacer(pairs...).Replace
}

// spellings are the ways in which programs write s.
func spellings(s string) []string {
	percent := strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
	out := []string{s}
	for _, escaped := range []string{percent, url.QueryEscape(s), url.PathEscape(s)} {
		out = append(out, escaped, lowerEscapes(escaped))
	}
	digits := hex.EncodeToString([]byte(s))
	out = append(out, digits, strings.ToUpper(digits))
	for _, html := range []bool{true, false} {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(html)
		if enc.Encode(s) == nil { // a text always can be
			quoted := strings.TrimSuffix(b.String(), "\n")
			out = append(out, quoted[1:len(quoted)-1])
		}
	}
	// In base64, what is written depends on how many bytes stand before it.
	for before := range 3 {
		raw := append(make([]byte, before), s...)
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			inner := encoding.EncodeToString(raw)[(before*8+5)/6 : len(raw)*8/6]
			if len(inner) > minSecret {
				out = append(out, inner)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// lowerEscapes writes the digits of percent escapes in small letters.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], bytes.ToLower(b[i+1:i+3]))
			i += 2
		}
	}
	return string(b)
}
