package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"patchbay/backend/core"
	"patchbay/backend/tools/reach"
)

const (
	commandTime = 120 * time.Second
	maxPrinted  = 1 << 20 // bytes that are kept of what a command prints
	maxTold     = 1000    // pieces of that which are told while it runs
	pipeGrace   = 100 * time.Millisecond
)

type commandArgs struct {
	Command []string
	Folder  string
	Timeout int // seconds
}

func runCommand(ctx context.Context, c *call, a commandArgs) (core.ToolResult, error) {
	s, err := c.at(a.Folder, true)
	if err != nil {
		return core.ToolResult{}, err
	}
	defer s.root.Close()
	// A link in the folder must not lead the command's folder out of it.
	st, err := s.root.Stat(s.rel)
	if err != nil {
		return core.ToolResult{}, reach.FileError(s.path, err)
	}
	if !st.IsDir() {
		return core.ToolResult{}, core.Errorf(core.CodeInvalid, "%s is no folder.", s.path)
	}
	limit := commandTime
	if a.Timeout > 0 {
		limit = time.Duration(a.Timeout) * time.Second
	}
	ctx, stop := context.WithTimeoutCause(ctx, limit, core.Errorf(core.CodeTimeout, "%s ran longer than %s and was ended with all that it started. Give it a longer timeout, up to 540 s.", a.Command[0], limit))
	defer stop()
	printed := &printer{chunk: c.chunk}
	cmd := exec.CommandContext(ctx, a.Command[0], a.Command[1:]...)
	cmd.Dir, cmd.Env = filepath.Join(s.dir, s.rel), environment()
	group(cmd)
	err = run(cmd, printed)
	printed.flush()
	if ctx.Err() != nil {
		return core.ToolResult{}, context.Cause(ctx)
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit):
	default:
		return core.ToolResult{}, core.Errorf(core.CodeInvalid, "%s could not be started: %w", a.Command[0], err)
	}
	code := cmd.ProcessState.ExitCode()
	res := text(fmt.Sprintf("%s\n[exit code %d]", strings.TrimRight(printed.text(), "\n"), code))
	res.IsError = code != 0
	return res, nil
}

// run runs cmd to its end, and ends with it what it left in the background. What
// they print goes to out.
func run(cmd *exec.Cmd, out io.Writer) error {
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("making a pipe: %w", err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	err = cmd.Start()
	_ = w.Close() // theirs now
	if err != nil {
		_ = r.Close()
		return err
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(out, r) // ends when nobody can print any more, or when r is closed
	}()
	err = cmd.Wait()
	endGroup(cmd)
	select {
	case <-read:
	case <-time.After(pipeGrace): // something left the group and holds the other end
	}
	_ = r.Close()
	select { // at once, but for systems where closing does not wake a reader
	case <-read:
	case <-time.After(pipeGrace):
	}
	return err
}

// environment is what a command gets of ours: enough to find programs, and no keys.
func environment() []string {
	var out []string
	for _, k := range []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TERM",
		"SYSTEMROOT", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMFILES", "PROGRAMDATA"} {
		if v, ok := os.LookupEnv(k); ok {
			out = append(out, k+"="+v)
		}
	}
	return out
}

// printer keeps what a command prints and tells it line by line.
type printer struct {
	chunk core.ChunkFunc

	mu   sync.Mutex
	head bytes.Buffer
	tail []byte
	lost int
	line []byte
	told int
}

func (p *printer) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	rest := b
	if room := maxPrinted/2 - p.head.Len(); room > 0 {
		n := min(room, len(rest))
		p.head.Write(rest[:n])
		rest = rest[n:]
	}
	p.tail = append(p.tail, rest...)
	if over := len(p.tail) - maxPrinted/2; over > 0 {
		p.lost += over
		p.tail = append(p.tail[:0], p.tail[over:]...)
	}
	p.line = append(p.line, b...)
	if i := bytes.LastIndexByte(p.line, '\n'); i >= 0 || len(p.line) > 4<<10 {
		if i < 0 {
			i = len(p.line) - 1
		}
		p.tell(p.line[:i+1])
		p.line = append(p.line[:0], p.line[i+1:]...)
	}
	return len(b), nil
}

func (p *printer) tell(b []byte) {
	s := strings.ToValidUTF8(strings.TrimRight(string(b), "\r\n"), "\uFFFD")
	if s == "" {
		return
	}
	if p.told++; p.told == maxTold {
		s = "It prints too much to be followed. The end of it will be in the result."
	}
	if p.told <= maxTold {
		p.chunk(core.Chunk{Kind: core.ChunkLog, Level: "info", Message: s})
	}
}

func (p *printer) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tell(p.line)
	p.line = nil
}

func (p *printer) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	between := ""
	if p.lost > 0 {
		between = fmt.Sprintf("\n[%d bytes left out here]\n", p.lost)
	}
	return strings.ToValidUTF8(p.head.String()+between+string(p.tail), "\uFFFD")
}
