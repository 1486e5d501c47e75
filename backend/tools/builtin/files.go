package builtin

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pmezard/go-difflib/difflib"

	"patchbay/backend/core"
	"patchbay/backend/tools/reach"
)

const (
	maxFile = 10 << 20 // bytes that are read or written
	maxRead = 512 << 10
	maxDiff = 4000 // lines that are compared
)

type readArgs struct {
	Path  string
	From  int
	Lines int
}

func readFile(_ context.Context, c *call, a readArgs) (core.ToolResult, error) {
	s, err := c.at(a.Path, false)
	if err != nil {
		return core.ToolResult{}, err
	}
	defer s.root.Close()
	content, err := s.read()
	if err != nil {
		return core.ToolResult{}, err
	}
	if a.From == 0 && a.Lines == 0 {
		if len(content) > maxRead {
			return core.ToolResult{}, core.Errorf(core.CodeTooLarge, "%s has %d bytes in %d lines, more than the %d KiB that are read at once. Ask for some of its lines.",
				s.path, len(content), strings.Count(content, "\n")+1, maxRead>>10)
		}
		return text(content), nil
	}
	lines := strings.SplitAfter(content, "\n")
	from := max(a.From, 1)
	if from > len(lines) {
		return core.ToolResult{}, core.Errorf(core.CodeInvalid, "%s has only %d lines.", s.path, len(lines))
	}
	to := len(lines)
	if a.Lines > 0 && a.Lines < to-from+1 {
		to = from - 1 + a.Lines
	}
	part := strings.Join(lines[from-1:to], "")
	if len(part) > maxRead {
		return core.ToolResult{}, core.Errorf(core.CodeTooLarge, "These lines of %s have %d bytes, more than %d KiB. Ask for fewer.", s.path, len(part), maxRead>>10)
	}
	return text(part), nil
}

// read returns a whole text file.
func (s *spot) read() (string, error) {
	f, err := reach.OpenRegular(s.root, s.rel, os.O_RDONLY, s.path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return "", reach.FileError(s.path, err)
	case len(raw) > maxFile:
		return "", core.Errorf(core.CodeTooLarge, "%s is larger than the %d MiB that can be read.", s.path, maxFile>>20)
	case !utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0:
		return "", core.Errorf(core.CodeInvalid, "%s is no text in UTF-8 (%d bytes), so it was not read.", s.path, len(raw))
	}
	return string(raw), nil
}

// write replaces the file, as far as the system lets it in one step.
func (s *spot) write(content string) error {
	if len(content) > maxFile {
		return core.Errorf(core.CodeTooLarge, "%s was not written: at most %d MiB can be.", s.path, maxFile>>20)
	}
	return reach.WriteFile(s.root, s.rel, content, s.path)
}

type writeArgs struct{ Path, Content string }

func writeFile(_ context.Context, c *call, a writeArgs) (core.ToolResult, error) {
	s, err := c.at(a.Path, true)
	if err != nil {
		return core.ToolResult{}, err
	}
	defer s.root.Close()
	if dir := filepath.Dir(s.rel); dir != "." {
		if err := s.root.MkdirAll(dir, 0o755); err != nil {
			return core.ToolResult{}, reach.FileError(filepath.Dir(s.path), err)
		}
	}
	word := "Wrote"
	if _, err := s.root.Lstat(s.rel); err != nil {
		word = "Created"
	}
	if err := s.write(a.Content); err != nil {
		return core.ToolResult{}, err
	}
	return text(fmt.Sprintf("%s %s, %d bytes.", word, s.path, len(a.Content))), nil
}

type editArgs struct {
	Path, Old, New string
	All            bool
}

func editFile(_ context.Context, c *call, a editArgs) (core.ToolResult, error) {
	s, err := c.at(a.Path, true)
	if err != nil {
		return core.ToolResult{}, err
	}
	defer s.root.Close()
	before, err := s.read()
	if err != nil {
		return core.ToolResult{}, err
	}
	n := strings.Count(before, a.Old)
	switch {
	case n == 0:
		return core.ToolResult{}, core.Errorf(core.CodeNotFound, "%s does not hold that text. Read it and copy the piece exactly, with its white space.", s.path)
	case n > 1 && !a.All:
		return core.ToolResult{}, core.Errorf(core.CodeInvalid, "%s holds that text %d times. Give more of what stands around it, or set all.", s.path, n)
	case a.Old == a.New:
		return core.ToolResult{}, core.Errorf(core.CodeInvalid, "The old and the new text are the same.")
	}
	if size := len(before) + n*(len(a.New)-len(a.Old)); size > maxFile { // before it is made: it could fill the memory
		return core.ToolResult{}, core.Errorf(core.CodeTooLarge, "%s was not changed: it would have %d bytes, and at most %d MiB can be written.", s.path, size, maxFile>>20)
	}
	after := strings.ReplaceAll(before, a.Old, a.New)
	if err := s.write(after); err != nil {
		return core.ToolResult{}, err
	}
	diff, err := difference(s.path, before, after)
	if err != nil {
		return core.ToolResult{}, fmt.Errorf("comparing %s: %w", s.path, err)
	}
	if diff == "" {
		return text(fmt.Sprintf("Replaced it %d times in %s. The difference is too long to be shown.", n, s.path)), nil
	}
	return text(diff), nil
}

// difference is what changed, as a unified diff; "" where it would be too long.
// Its time grows with the square of the lines, so it is made of few.
func difference(path, before, after string) (string, error) {
	a, b := difflib.SplitLines(before), difflib.SplitLines(after)
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	end := 0
	for end < min(len(a), len(b))-same && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	const around = 3
	from, rest := max(same-around, 0), max(end-around, 0)
	a, b = a[from:len(a)-rest], b[from:len(b)-rest]
	if len(a)+len(b) > maxDiff {
		return "", nil
	}
	diff, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: a, B: b, FromFile: path, ToFile: path, Context: around})
	if err != nil || len(diff) > maxRead {
		return "", err
	}
	return hunk.ReplaceAllStringFunc(diff, func(head string) string {
		m := hunk.FindStringSubmatch(head)
		old, _ := strconv.Atoi(m[1]) // digits, and few of them
		now, _ := strconv.Atoi(m[3])
		return fmt.Sprintf("@@ -%d%s +%d", old+from, m[2], now+from)
	}), nil
}

// hunk is the head of a part of a diff, up to the line of the new text.
var hunk = regexp.MustCompile(`(?m)^@@ -(\d+)(,\d+)? \+(\d+)`)
