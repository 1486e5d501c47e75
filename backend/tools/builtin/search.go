package builtin

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"patchbay/backend/core"
	"patchbay/backend/tools/reach"
)

const (
	maxEntries  = 1000    // that are listed
	maxVisited  = 200_000 // entries that are looked at
	maxMatches  = 200     // lines
	maxLine     = 400     // bytes of one line
	maxSearched = 2 << 20 // bytes of a file; larger ones are rarely text
	maxPattern  = 1000    // bytes of a regular expression or a glob

	maxAlternatives = 200 // of the braces of a glob, all with each other
	maxStars        = 8   // ** in one glob: each multiplies the ways to match
)

type listArgs struct{ Path, Pattern string }

func listFiles(ctx context.Context, c *call, a listArgs) (core.ToolResult, error) {
	if a.Path == "" && a.Pattern == "" && len(c.access.Folders) > 1 {
		var out []string
		for _, f := range c.access.Folders {
			can := "read"
			if f.Write {
				can = "read and write"
			}
			out = append(out, fmt.Sprintf("%s (%s)", f.Path, can))
		}
		return text(strings.Join(out, "\n")), nil
	}
	if err := checkGlob(a.Pattern); err != nil {
		return core.ToolResult{}, err
	}
	var out []string
	more, err := c.walk(ctx, a.Path, func(s *spot, name string, d fs.DirEntry) (stop bool, err error) {
		if a.Pattern != "" && !doublestar.MatchUnvalidated(a.Pattern, name) {
			return false, nil
		}
		if len(out) == maxEntries {
			return true, nil
		}
		line := name
		switch info, err := d.Info(); {
		case d.IsDir():
			line += "/"
		case d.Type()&fs.ModeSymlink != 0:
			line += " (link)"
		case err == nil: // it may have gone meanwhile
			line += fmt.Sprintf(" (%d bytes)", info.Size())
		}
		out = append(out, line)
		return false, nil
	}, a.Pattern == "")
	if err != nil {
		return core.ToolResult{}, err
	}
	if len(out) == 0 {
		return text("Nothing is there."), nil
	}
	if more {
		out = append(out, fmt.Sprintf("There is more than these %d. Use a narrower pattern or a folder below.", len(out)))
	}
	return text(strings.Join(out, "\n")), nil
}

// walk visits what lies below a folder, without following links and without the
// product's own files. name is relative to the folder, with slashes. more says
// that it ended early. flat visits the folder's own entries only.
func (c *call) walk(ctx context.Context, at string, visit func(s *spot, name string, d fs.DirEntry) (stop bool, err error), flat bool) (more bool, err error) {
	s, err := c.at(at, false)
	if err != nil {
		return false, err
	}
	defer s.root.Close()
	var private []string
	for _, p := range c.r.Private {
		private = append(private, reach.Real(p))
	}
	base := reach.Real(s.dir)
	start := filepath.ToSlash(s.rel)
	visited := 0
	err = fs.WalkDir(s.root.FS(), start, func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if name == start {
				return reach.FileError(s.path, err)
			}
			return nil // one that cannot be read must not hide the others
		}
		if name == start {
			if !d.IsDir() {
				return core.Errorf(core.CodeInvalid, "%s is no folder.", s.path)
			}
			return nil
		}
		full := filepath.Join(base, filepath.FromSlash(name))
		for _, p := range private {
			if in, err := filepath.Rel(p, full); err == nil && filepath.IsLocal(in) {
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
		}
		if visited++; visited > maxVisited {
			more = true
			return fs.SkipAll
		}
		rel := name
		if start != "." {
			rel = strings.TrimPrefix(name, start+"/")
		}
		stop, err := visit(&spot{root: s.root, dir: s.dir, rel: filepath.FromSlash(name), path: filepath.Join(s.dir, filepath.FromSlash(name))}, rel, d)
		switch {
		case err != nil:
			return err
		case stop:
			more = true
			return fs.SkipAll
		case flat && d.IsDir():
			return fs.SkipDir
		}
		return nil
	})
	return more, err
}

// checkGlob says what is wrong with a pattern of file names; "" is none. Matching
// tries all alternatives of all braces with each other, so there must be few.
func checkGlob(pattern string) error {
	many, open := 1, []int{}
	for _, r := range pattern {
		switch {
		case r == '{':
			open = append(open, 1)
		case r == ',' && len(open) > 0:
			open[len(open)-1]++
		case r == '}' && len(open) > 0:
			many *= open[len(open)-1]
			open = open[:len(open)-1]
		}
		if many > maxAlternatives {
			break
		}
	}
	switch {
	case len(pattern) > maxPattern || many > maxAlternatives || strings.Count(pattern, "**") > maxStars:
		return core.Errorf(core.CodeInvalid, "The pattern of file names %q is too long or has too many alternatives. Use a simpler one.", core.Clip(pattern, 100))
	case pattern != "" && !doublestar.ValidatePattern(pattern):
		return core.Errorf(core.CodeInvalid, "%q is no pattern of file names.", pattern)
	}
	return nil
}

// expression is a regular expression whose matching can be stopped.
type expression struct {
	re   *regexp.Regexp
	size int // steps of its program: what one character may cost
}

func compile(pattern string, ignoreCase bool) (*expression, error) {
	if len(pattern) > maxPattern {
		return nil, core.Errorf(core.CodeInvalid, "The regular expression has %d bytes, more than %d. Use a shorter one.", len(pattern), maxPattern)
	}
	if ignoreCase {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, core.Errorf(core.CodeInvalid, "%q is no regular expression: %w", pattern, err)
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, core.Errorf(core.CodeInvalid, "%q is no regular expression: %w", pattern, err)
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, core.Errorf(core.CodeInvalid, "%q is no regular expression: %w", pattern, err)
	}
	return &expression{re, len(prog.Inst)}, nil
}

// match ends soon after ctx does, and then means nothing.
func (e *expression) match(ctx context.Context, line string) bool {
	if len(line)*e.size < 10_000_000 { // well under a second; nothing looks at ctx on the fast way
		return e.re.MatchString(line)
	}
	return e.re.MatchReader(&stoppable{ctx: ctx, r: strings.NewReader(line)})
}

// stoppable reads runes until ctx ends.
type stoppable struct {
	ctx context.Context
	r   *strings.Reader
}

func (s *stoppable) ReadRune() (rune, int, error) {
	if s.ctx.Err() != nil {
		return 0, 0, io.EOF
	}
	return s.r.ReadRune()
}

type searchArgs struct {
	Pattern, Path, Files string
	IgnoreCase           bool
}

func searchFiles(ctx context.Context, c *call, a searchArgs) (core.ToolResult, error) {
	re, err := compile(a.Pattern, a.IgnoreCase)
	if err != nil {
		return core.ToolResult{}, err
	}
	if err := checkGlob(a.Files); err != nil {
		return core.ToolResult{}, err
	}
	var out []string
	more, err := c.walk(ctx, a.Path, func(s *spot, name string, d fs.DirEntry) (bool, error) {
		if !d.Type().IsRegular() || a.Files != "" && !doublestar.MatchUnvalidated(a.Files, name) && !doublestar.MatchUnvalidated(a.Files, path.Base(name)) {
			return false, nil
		}
		if info, err := d.Info(); err != nil || info.Size() > maxSearched {
			return false, nil
		}
		if _, err := s.root.Lstat(s.rel); os.IsNotExist(err) {
			return false, nil
		}
		content, err := s.read()
		if err != nil {
			return false, nil // no text
		}
		for n, line := range strings.Split(content, "\n") {
			matches := re.match(ctx, line)
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			if !matches {
				continue
			}
			if len(out) == maxMatches {
				return true, nil
			}
			if len(line) > maxLine {
				line = strings.ToValidUTF8(line[:maxLine], "") + "…"
			}
			out = append(out, fmt.Sprintf("%s:%d: %s", name, n+1, strings.TrimRight(line, "\r")))
		}
		return false, nil
	}, false)
	if err != nil {
		return core.ToolResult{}, err
	}
	if len(out) == 0 {
		return text("No line matches."), nil
	}
	if more {
		out = append(out, fmt.Sprintf("There is more than these %d lines. Narrow the pattern or the files.", len(out)))
	}
	return text(strings.Join(out, "\n")), nil
}
