// Package paste reads the configuration of MCP servers in whatever form a
// person copied it: the JSON, YAML and TOML of many programs, with the damage
// that chat windows and web pages do to it, a command line, an address, a link
// that adds a server, a description of the MCP registry. It is pure: it starts
// nothing, reads no file and expands no placeholder.
//
// A dialect that is not JSON is turned into JSON whose every byte knows its
// place in the text (see tree), so that all of them share one reader, one set
// of refusals and places that fit what the person sees.
package paste

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"patchbay/backend/config/internal/entry"
	"patchbay/backend/core"
)

// MaxBytes is the size that [Parse] accepts, and MaxServers the number of
// servers in one text.
const (
	MaxBytes   = 8 << 20
	MaxServers = 1000
)

// Reason says why a text or one of its servers was refused. Reasons are stable.
type Reason string

// The reasons. Those of single entries come from the entry decoder.
const (
	Empty            Reason = "empty"
	NotJSON          Reason = "not_json"
	Truncated        Reason = "truncated"
	TooDeep          Reason = "too_deep"
	TooLarge         Reason = "too_large"
	NoServers        Reason = "no_servers"
	HTML             Reason = "html"
	Prose            Reason = "prose"
	ShellSyntax      Reason = "shell_syntax"
	UnknownLink      Reason = "unknown_link"
	DuplicateName    Reason = "duplicate_name"
	DuplicateKey     Reason = entry.DuplicateKey
	Ambiguous        Reason = entry.Ambiguous
	MissingCommand   Reason = entry.MissingCommand
	MissingURL       Reason = entry.MissingURL
	UnknownTransport Reason = entry.UnknownTransport
	BadURL           Reason = entry.BadURL
	BadName          Reason = entry.BadName
	ControlChars     Reason = entry.ControlChars
	WrongType        Reason = entry.WrongType
)

// Error is a refusal with its reason. It unwraps to a [core.Error] with the
// same message and place, of code invalid (too_large for the limits of size).
type Error struct {
	Reason  Reason `json:"code"`
	Message string `json:"message"`
	// Line and Column are 1-based and count characters; 0 where no place is known.
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Path   string `json:"path,omitempty"` // JSON pointer
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the error in the vocabulary of the rest of the program.
func (e *Error) Unwrap() error {
	code := core.CodeInvalid
	if e.Reason == TooLarge {
		code = core.CodeTooLarge
	}
	return &core.Error{Code: code, Message: e.Message, Line: e.Line, Column: e.Column, Path: e.Path}
}

// Server is one server that was found.
type Server = core.ServerSpec

// Rejected is a server that was found and cannot be used.
type Rejected struct {
	Name  string `json:"name"` // "" when it has none
	Error *Error `json:"error"`
}

// Result is what a text holds. The slices are never nil; there is at least one server.
type Result struct {
	Servers  []Server `json:"servers"`
	Warnings []string `json:"warnings"`
	// Missing names the values that the person has to fill in:
	// "github.env.TOKEN", "jira.headers.Authorization", "fs.args.2" (0-based),
	// "jira.url".
	Missing  []string   `json:"missing"`
	Rejected []Rejected `json:"rejected"`
}

// Parse reads text. The error is an [*Error]; it is nil when at least one
// server can be used, even if others were rejected.
func Parse(text string) (Result, error) {
	if len(text) > MaxBytes {
		return Result{}, &Error{Reason: TooLarge, Message: fmt.Sprintf("The text is larger than %d MiB. Paste only the part with the servers.", MaxBytes>>20)}
	}
	text = decode(text)
	p := &parser{text: text}
	if err := p.checkCharacters(); err != nil {
		return Result{}, err
	}
	if err := p.parse(source{text: text}); err != nil {
		return Result{}, err
	}
	return p.result()
}

// dialect is one form of configuration. To add one, write a file with a
// function that returns it and name it in dialects.
type dialect struct {
	// match looks at the text without the white space around it.
	match func(text string) bool
	// parse adds what it finds to p. An error means that nothing could be read.
	parse func(p *parser, src source) *Error
}

// dialects are tried in this order; the last one takes everything.
func dialects() []dialect {
	return []dialect{htmlDialect(), linkDialect(), tomlDialect(), yamlDialect(), jsonDialect(), commandDialect(), proseDialect()}
}

// parser collects what one text holds.
type parser struct {
	text     string
	found    []found
	warnings []string
	rejected []Rejected // what was found and cannot be taken apart
	inBlock  bool
	block    int   // number of the fenced block that is read, 0 outside
	starts   []int // of the lines
	yamlRead int   // bytes of YAML that were tried
	// unescaped counts what the text was wrapped in.
	unescaped int
}

// found is one server before names are settled.
type found struct {
	spec     Server
	named    bool // the text gives the name; else it is derived
	src      source
	offset   int
	path     string
	problem  *entry.Problem
	warnings []string
	missing  []string // values that must be given, as "env.KEY"
	block    int
}

// name gives a server the name that stands beside it.
func (f *found) name(s string) {
	f.spec.Name, f.named = s, true
	for i, w := range f.warnings {
		f.warnings[i] = s + ": " + w
	}
}

func (p *parser) warn(format string, args ...any) {
	p.warnings = append(p.warnings, fmt.Sprintf(format, args...))
}

// parse reads src with the first dialect that knows it.
func (p *parser) parse(src source) *Error {
	src = src.trim()
	if src.text == "" {
		return p.errorAt(src, 0, Empty, "There is nothing to read. Paste a server's JSON, its address or its command line.")
	}
	if p.unescaped < maxUnescapes {
		if inside, ok := unescape(src); ok {
			p.unescaped++
			return p.parse(inside)
		}
	}
	for _, d := range dialects() {
		if d.match(src.text) {
			return d.parse(p, src)
		}
	}
	return p.errorAt(src, 0, Prose, "There is no server in this text.")
}

// source is a piece of the pasted text, perhaps repaired.
type source struct {
	text string
	base int     // offset of the piece in the whole text
	at   []int32 // offset in the piece for each byte of text; nil when unchanged
}

func (s source) trim() source {
	left := len(s.text) - len(strings.TrimLeftFunc(s.text, isSpace))
	return s.sub(left, left+len(strings.TrimRightFunc(s.text[left:], isSpace)))
}

// sub is the piece s.text[from:to].
func (s source) sub(from, to int) source {
	if s.at != nil {
		return source{text: s.text[from:to], base: s.base, at: s.at[from:min(max(to, from+1), len(s.at))]}
	}
	return source{text: s.text[from:to], base: s.base + from}
}

// offset returns the place in the whole text.
func (s source) offset(off int) int {
	if s.at != nil {
		switch {
		case off < 0 || len(s.at) == 0:
			off = 0
		case off < len(s.at):
			off = int(s.at[off])
		default:
			off = int(s.at[len(s.at)-1]) + 1
		}
	}
	return s.base + off
}

func isSpace(r rune) bool {
	return unicode.IsSpace(r) || r == '\ufeff' || r == '\u200b' || r == '\u2060'
}

// errorAt makes an error at the byte off of src.
func (p *parser) errorAt(src source, off int, reason Reason, format string, args ...any) *Error {
	e := &Error{Reason: reason, Message: fmt.Sprintf(format, args...)}
	e.Line, e.Column = p.position(src.offset(off))
	return e
}

// position returns the 1-based line and column (in characters) of an offset in
// the whole text.
func (p *parser) position(off int) (line, column int) {
	if p.starts == nil {
		p.starts = []int{0}
		for i := range len(p.text) {
			if p.text[i] == '\n' {
				p.starts = append(p.starts, i+1)
			}
		}
	}
	off = max(0, min(off, len(p.text)))
	line = sort.SearchInts(p.starts, off+1)
	return line, utf8.RuneCountInString(p.text[p.starts[line-1]:off]) + 1
}

// decode undoes UTF-16, which some editors and terminals on Windows write, and
// takes away what pages and chats put between characters and nobody sees.
func decode(text string) string {
	if len(text) >= 2 && (text[:2] == "\xff\xfe" || text[:2] == "\xfe\xff") {
		units := make([]uint16, 0, len(text)/2)
		for i := 2; i+1 < len(text); i += 2 {
			hi, lo := text[i], text[i+1]
			if text[0] == 0xff {
				hi, lo = lo, hi
			}
			units = append(units, uint16(hi)<<8|uint16(lo))
		}
		text = string(utf16.Decode(units))
	}
	if slices.ContainsFunc([]rune(unseen), func(r rune) bool { return strings.ContainsRune(text, r) }) {
		text = strings.Map(func(r rune) rune {
			if strings.ContainsRune(unseen, r) {
				return -1
			}
			return r
		}, text)
	}
	return text
}

// unseen are the byte order mark, spaces without width, the soft hyphen and the
// marks of a direction that change nothing.
const unseen = "\ufeff\u200b\u2060\u00ad\u200e\u200f"

// checkCharacters refuses what can hide something from the person who pastes.
func (p *parser) checkCharacters() *Error {
	for i, r := range p.text {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
		case r == utf8.RuneError && !strings.HasPrefix(p.text[i:], "\ufffd"):
			return p.errorAt(source{}, i, ControlChars, "The text holds bytes that are not text (UTF-8). Copy it again.")
		case unicode.IsControl(r), r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return p.errorAt(source{}, i, ControlChars, "The text holds the invisible control character U+%04X. Remove it.", r)
		}
	}
	return nil
}

// add takes a server that was found.
func (p *parser) add(f found) {
	f.block = p.block
	p.found = append(p.found, f)
}

// result settles names and turns what was found into a Result.
func (p *parser) result() (Result, error) {
	if len(p.found) > MaxServers {
		return Result{}, tooMany()
	}
	r := Result{Servers: []Server{}, Warnings: []string{}, Missing: []string{}, Rejected: []Rejected{}}
	r.Warnings = append(r.Warnings, p.warnings...)
	r.Rejected = append(r.Rejected, p.rejected...)
	byName := map[string][]int{}
	for i, f := range p.found {
		if f.named {
			byName[f.spec.Name] = append(byName[f.spec.Name], i)
		}
	}
	taken := map[string]bool{}
	for name := range byName {
		taken[name] = true
	}
	for i, f := range p.found {
		if f.named && len(byName[f.spec.Name]) > 1 {
			same := byName[f.spec.Name]
			if first := p.chosen(same); first >= 0 {
				if i != first {
					continue
				}
				r.Warnings = append(r.Warnings, fmt.Sprintf("%s stands in several blocks of the text with different settings; the first one was read. Paste only the block that you want instead.", f.spec.Name))
				same = []int{first}
			}
			if !p.allSame(same) {
				if i == same[0] {
					r.Rejected = append(r.Rejected, Rejected{Name: f.spec.Name, Error: p.duplicate(same)})
				}
				continue
			}
			if i != same[0] {
				r.Warnings = append(r.Warnings, fmt.Sprintf("%s stands in the text more than once, with the same settings; it is read once.", f.spec.Name))
				continue
			}
		}
		if f.problem != nil {
			e := p.errorAt(f.src, f.problem.Offset, Reason(f.problem.Reason), "%s", f.problem.Message)
			e.Path = f.problem.Path
			r.Rejected = append(r.Rejected, Rejected{Name: f.spec.Name, Error: e})
			continue
		}
		if !f.named {
			f.spec.Name = unique(deriveName(f.spec), taken)
			taken[f.spec.Name] = true
			for j, w := range f.warnings {
				f.warnings[j] = f.spec.Name + ": " + w
			}
		}
		r.Servers = append(r.Servers, f.spec)
		r.Warnings = append(r.Warnings, f.warnings...)
		r.Missing = append(r.Missing, missing(f.spec, f.missing)...)
	}
	if len(r.Servers) == 0 {
		if len(r.Rejected) == 0 {
			return Result{}, &Error{Reason: NoServers, Message: "There is no server in this text."}
		}
		return Result{}, r.Rejected[0].Error
	}
	return r, nil
}

func tooMany() *Error {
	return &Error{Reason: TooLarge, Message: fmt.Sprintf("The text holds more than %d servers; no more can be read at once.", MaxServers)}
}

func (p *parser) allSame(indexes []int) bool {
	for _, i := range indexes {
		if p.found[i].problem != nil || !sameSpec(p.found[indexes[0]].spec, p.found[i].spec) {
			return false
		}
	}
	return true
}

// chosen returns which of the servers of one name to take when they stand in
// different blocks, each of them another way to the same server: the first that
// can be used. It returns -1 when they do not.
func (p *parser) chosen(indexes []int) int {
	blocks := map[int]bool{}
	for _, i := range indexes {
		if b := p.found[i].block; b == 0 || blocks[b] {
			return -1
		} else {
			blocks[b] = true
		}
	}
	if p.allSame(indexes) {
		return -1
	}
	for _, i := range indexes {
		if p.found[i].problem == nil {
			return i
		}
	}
	return indexes[0]
}

func (p *parser) duplicate(indexes []int) *Error {
	first, second := p.found[indexes[0]], p.found[indexes[1]]
	line, _ := p.position(first.src.offset(first.offset))
	e := p.errorAt(second.src, second.offset, DuplicateName,
		"The server %q stands here for the second time, with other settings than on line %d. Rename or remove one of them.", second.spec.Name, line)
	e.Path = second.path
	return e
}

func unique(name string, taken map[string]bool) string {
	for n, try := 2, name; ; n++ {
		if !taken[try] {
			return try
		}
		try = fmt.Sprintf("%s-%d", name, n)
	}
}
