package testmcp

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
)

// StallMS is how long StallsInLine waits in the middle of a line, in milliseconds.
const StallMS = 700

// dribble is the pause after each byte that Dribbles writes.
const dribble = 50 * time.Millisecond

// lines writes lines on stdout as the faults of a connection say.
type lines struct {
	o Options

	mu      sync.Mutex
	w       *bufio.Writer
	begun   bool // something was written
	stalled bool
}

func (l *lines) line(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	end := "\n"
	if l.o.has(CRLF) {
		end = "\r\n"
	}
	b := []byte(text + end)
	called := strings.Contains(text, `"content"`) // it answers tools/call
	var pause time.Duration
	switch {
	case l.o.has(UTF16), l.o.has(UTF16BOM):
		b = l.wide(string(b))
	case l.o.has(NoLineEnd):
		b = []byte(text)
	case l.o.has(LengthFirst):
		b = fmt.Appendf(nil, "Content-Length: %d\r\n\r\n%s", len(text), text)
	case l.o.has(Pretty):
		var p bytes.Buffer
		if json.Indent(&p, []byte(text), "", "  ") == nil {
			b = append([]byte("{\na brace that nothing closes\n"), append(p.Bytes(), end...)...)
		}
	case l.o.has(StallsInLine) && called && !l.stalled:
		l.stalled = true
		l.w.Write(b[:len(b)/2])
		l.w.Flush()
		time.Sleep(StallMS * time.Millisecond)
		b = b[len(b)/2:]
	case l.o.has(Dribbles) && called:
		pause = dribble
	}
	if pause == 0 && !l.o.has(Bytewise) {
		l.w.Write(b)
		l.w.Flush()
		return
	}
	for _, c := range b {
		l.w.WriteByte(c)
		l.w.Flush()
		time.Sleep(pause)
	}
}

// wide encodes text as programs of Windows do.
func (l *lines) wide(text string) []byte {
	var b bytes.Buffer
	if l.o.has(UTF16BOM) && !l.begun {
		text = "\ufeff" + text
	}
	l.begun = true
	_ = binary.Write(&b, binary.LittleEndian, utf16.Encode([]rune(text))) // a buffer takes all
	return b.Bytes()
}
