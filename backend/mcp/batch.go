package mcp

import (
	"strings"

	"patchbay/backend/core"
)

// batchLine is the command line by which Windows runs a batch file such as
// npx.cmd. The interpreter would expand and split what it sees, and the program
// that the file starts takes the line apart by other rules: a quote is doubled for
// both, a backslash before one for the latter, and a percent sign is followed by an
// expansion to nothing. A line break cannot be handed over at all.
func batchLine(path string, args []string) (string, error) {
	var b strings.Builder
	b.WriteString(`cmd.exe /d /e:ON /v:OFF /s /c "`)
	for i, arg := range append([]string{path}, args...) {
		if strings.ContainsAny(arg, "\r\n\x00") {
			return "", core.Errorf(core.CodeInvalid, "An argument holds a line break, which cannot be handed to the batch file %s. Take it out, or start the program without the batch file.", path)
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		quoteBatch(&b, arg)
	}
	b.WriteByte('"')
	return b.String(), nil
}

func quoteBatch(b *strings.Builder, arg string) {
	b.WriteByte('"')
	slashes := 0
	for _, r := range arg {
		switch r {
		case '\\':
			slashes++
		case '"':
			b.WriteString(strings.Repeat(`\`, slashes))
			b.WriteByte('"')
			slashes = 0
		case '%':
			b.WriteString("%%cd:~,")
			slashes = 0
		default:
			slashes = 0
		}
		b.WriteRune(r)
	}
	b.WriteString(strings.Repeat(`\`, slashes))
	b.WriteByte('"')
}
