package mcp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/backend/core"
	"patchbay/backend/event"
)

// dialer turns configurations into live links.
type dialer struct {
	o        Options
	paths    *pathFinder
	slots    chan struct{} // bounds the processes that are being started at once
	ledger   *ledger
	guardian *guardian
	procs    sync.Map // *process → the name of its server: those that live
	work     *workers
	auths    sync.Map // name and address → *authorizer
	memory   *memory
	rush     rush
}

// attempt is one try to reach one server. Its hooks may be nil.
type attempt struct {
	spec  core.ServerSpec // expanded
	key   string          // of what is remembered of it
	log   *logRing
	auth  *authorizer // nil where OAuth is not used; set by dialHTTP
	trial bool        // of a configuration that need not be one of ours
	leave func()      // the rush, once the first try has failed
	state func(core.ServerState, string)
	step  func(name string, status core.StepStatus, message string, took time.Duration)
}

func (a *attempt) to(s core.ServerState, msg string) {
	if a.state != nil {
		a.state(s, msg)
	}
}

// news returns what tells of changes that a server announces. A trial tells nobody.
func (d *dialer) news(a *attempt) func(event.Payload) {
	if a.trial {
		return func(event.Payload) {}
	}
	return d.o.Emit
}

func (a *attempt) done(name string, began time.Time, format string, args ...any) {
	if a.step != nil {
		a.step(name, core.StepOK, fmt.Sprintf(format, args...), time.Since(began))
	}
}

// dialError is why a server could not be reached, in the words of its status.
type dialError struct {
	step    string // of a test
	state   core.ServerState
	message string
	detail  string
	fix     core.Fix
	code    core.Code
	final   bool // repeating it will not help
	exited  bool // the process ended by itself
	missing []string
	err     error
}

func (e *dialError) Error() string { return e.message }
func (e *dialError) Unwrap() error { return e.err }

// public is the error for callers outside of the engine.
func (e *dialError) public() *core.Error {
	return &core.Error{Code: e.code, Message: e.message, Err: e.err}
}

func failed(step string, fix core.Fix, final bool, format string, args ...any) *dialError {
	return &dialError{step: step, state: core.StateFailed, fix: fix, final: final, code: core.CodeUnavailable, message: fmt.Sprintf(format, args...)}
}

// authorizer returns what holds the sign-in of a server at an address; nil where
// the configuration brings its own. own says that the server is a configured
// one; for others nothing is kept in memory. The error is a *dialError.
func (d *dialer) authorizer(spec core.ServerSpec, u *url.URL, log *logRing, own bool) (*authorizer, error) {
	for k := range spec.Headers {
		if strings.EqualFold(k, "Authorization") {
			return nil, nil
		}
	}
	key := spec.Name + "\x00" + u.String()
	known, ok := d.auths.Load(key)
	if ok {
		a := known.(*authorizer)
		if sameAuth(a.spec, spec.Auth) {
			if own {
				a.log.Store(log)
			}
			return a, nil
		}
	}
	cfg, bad := d.authConfig(spec)
	if bad != nil {
		return nil, bad
	}
	fresh := newAuthorizer(spec.Name, u, cfg, &d.o, d.work, log)
	fresh.spec = spec.Auth
	switch {
	case !own:
		return fresh, nil
	case ok:
		d.auths.Store(key, fresh) // of the same server under other settings
		return fresh, nil
	}
	a, _ := d.auths.LoadOrStore(key, fresh)
	return a.(*authorizer), nil
}

// questions returns what puts a server's questions to a person; nil where nobody
// can be asked. calls returns those that run.
func (d *dialer) questions(ctx context.Context, server string, calls func() []*sink) *questions {
	if d.o.Asker == nil {
		return nil
	}
	return &questions{asker: d.o.Asker, server: server, ctx: ctx, calls: calls, samples: newSampleLimit()}
}

// expandSpec replaces the placeholders of spec. The error is a *dialError.
// hide learns the secrets among the values.
func (d *dialer) expandSpec(ctx context.Context, spec core.ServerSpec, hide *redactor) (core.ServerSpec, error) {
	out, missing := expand(ctx, spec, d.o.Lookup, hide)
	if len(missing) == 0 {
		return out, nil
	}
	return out, &dialError{step: stepCheck, state: core.StateNeedsValues, fix: core.FixValues, code: core.CodeNeedsValue, final: true, missing: missing,
		message: fmt.Sprintf("Missing %s: %s. Fill in what is missing to start %s.", plural(len(missing), "value", "values"), strings.Join(missing, ", "), spec.Name)}
}

const (
	stepCheck     = "Check configuration"
	stepFind      = "Find command"
	stepStart     = "Start"
	stepHandshake = "Handshake"
	stepList      = "List tools"
)

// dial makes one attempt. What its error and its steps say holds no secret.
func (d *dialer) dial(ctx context.Context, a *attempt) (*link, error) {
	if step := a.step; step != nil {
		a.step = func(name string, status core.StepStatus, msg string, took time.Duration) {
			step(name, status, a.log.secrets.hide(msg), took)
		}
	}
	l, err := d.reach(ctx, a)
	var de *dialError
	if errors.As(err, &de) {
		de.message, de.detail = a.log.secrets.hide(de.message), a.log.secrets.hide(de.detail)
	}
	return l, err
}

func (d *dialer) reach(ctx context.Context, a *attempt) (*link, error) {
	switch a.spec.Transport {
	case core.TransportStdio:
		return d.dialStdio(ctx, a)
	case core.TransportHTTP, core.TransportSSE:
		return d.dialHTTP(ctx, a)
	}
	return nil, failed(stepCheck, core.FixEdit, true, "Unknown transport %q. Use stdio, streamable-http or sse.", a.spec.Transport)
}

// command is a program that was found, ready to be started.
type command struct {
	path, dir string
	args, env []string
}

func (d *dialer) command(a *attempt) (command, error) {
	s := a.spec
	if strings.TrimSpace(s.Command) == "" {
		return command{}, failed(stepCheck, core.FixEdit, true, "No command is configured. Give the program that starts the server, such as npx.")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = os.TempDir()
	}
	p := command{dir: s.Cwd, args: s.Args}
	if p.dir == "" {
		p.dir = home
	} else if !filepath.IsAbs(p.dir) {
		p.dir = filepath.Join(home, p.dir)
	}
	if st, err := os.Stat(p.dir); err != nil || !st.IsDir() {
		return p, failed(stepFind, core.FixEdit, true, "The working folder %s does not exist. Create it, or change the server's configuration.", p.dir)
	}
	base, ok := s.Env["PATH"]
	if !ok {
		base = os.Getenv("PATH")
	}
	var path string
	if p.path, path = d.paths.find(s.Command, base, p.dir); p.path == "" {
		return p, notFound(s.Command)
	}
	own := make(map[string]string, len(s.Env))
	for k, v := range s.Env {
		if k != "PATH" {
			own[k] = v
		}
	}
	p.env = childEnv(os.Environ(), path, own)
	return p, nil
}

// notFound names the runtime to install for a command.
func notFound(command string) *dialError {
	base := strings.TrimSuffix(filepath.Base(command), ".exe")
	if base != command {
		return failed(stepFind, core.FixEdit, true, "Command not found: %s. Correct the path in the server's configuration.", command)
	}
	what := "the program"
	switch base {
	case "npx", "npm", "node":
		what = "Node.js"
	case "uvx", "uv":
		what = "uv"
	case "python", "python3", "pip", "pipx":
		what = "Python"
	case "docker":
		what = "Docker"
	case "bun", "bunx":
		what = "Bun"
	case "deno":
		what = "Deno"
	case "dotnet", "dnx":
		what = ".NET"
	case "java":
		what = "Java"
	case "go":
		what = "Go"
	case "pnpm", "pnpx":
		what = "pnpm"
	}
	return failed(stepFind, core.FixInstall, true, "Command not found: %s. Install %s, or give the full path to the program.", command, what)
}

func (d *dialer) dialStdio(ctx context.Context, a *attempt) (*link, error) {
	began := time.Now()
	p, err := d.command(a)
	if err != nil {
		return nil, err
	}
	a.done(stepFind, began, "%s", p.path)
	a.log.add("· ", "starting "+p.path+" "+strings.Join(p.args, " ")+" in "+p.dir)
	era, why := d.era(a)
	l, conn, err := d.tryStdio(ctx, a, p, era)
	if err == nil {
		l.why = d.learned(a, why, l.version, conn.silent.Load(), conn.probe)
		return l, nil
	}
	if ctx.Err() != nil || conn == nil {
		return nil, err
	}
	var we *jsonrpc.Error
	var de *dialError
	switch {
	case era != "": // what we knew of it no longer holds
		d.memory.change(a.key, func(r *record) { r.Legacy = time.Time{} })
		if !errors.As(err, &we) {
			return nil, err
		}
		era = ""
	case errors.As(err, &we) && we.Code == sdk.CodeUnsupportedProtocolVersion && conn.silent.Load():
		// It was only slow to answer the probe.
	case errors.As(err, &de) && de.exited && conn.probed.Load() && !conn.spoke.Load():
		era = versionLegacy // the probe may have been what it died of
	default:
		return nil, err
	}
	first, again := err, *a
	if again.step != nil {
		again.step = func(name string, status core.StepStatus, message string, took time.Duration) {
			if name != stepStart { // it was told already
				a.step(name, status, message, took)
			}
		}
	}
	if a.leave != nil {
		a.leave()
		d.rush.wait(ctx)
	}
	if l, _, err = d.tryStdio(ctx, &again, p, era); err != nil {
		if era == versionLegacy {
			return nil, first
		}
		return nil, err
	}
	if l.why = discovered(l.version); era == versionLegacy {
		l.why = "It ended when it was asked with server/discover, so initialize was used."
		d.legacy(a)
	}
	return l, nil
}

// era returns the revision to begin with, "" to find out, and why in a sentence.
func (d *dialer) era(a *attempt) (version, why string) {
	r := d.memory.get(a.key)
	if !r.legacy() {
		return "", ""
	}
	return versionLegacy, "Remembered from " + r.Legacy.Local().Format("2 Jan") + ": it does not answer server/discover."
}

// legacy remembers that the server must not be asked with server/discover.
func (d *dialer) legacy(a *attempt) {
	d.memory.change(a.key, func(r *record) { r.Legacy = time.Now() })
}

// learned remembers what the handshake showed of the revision that a server
// speaks, and says why it is spoken. why is what was known before, "" for
// nothing; silent says that the probe got no answer within limit.
func (d *dialer) learned(a *attempt, why, version string, silent bool, limit time.Duration) string {
	switch {
	case why != "":
		return why
	case silent:
		d.legacy(a)
		return fmt.Sprintf("It did not answer server/discover within %s, so initialize was used.", seconds(limit))
	}
	return discovered(version)
}

// discovered says why the revision version is spoken with a server that the
// probe reached.
func discovered(version string) string {
	if version >= versionModern {
		return "It answered server/discover."
	}
	return "It does not know server/discover, so initialize was used."
}

// tryStdio starts the process once. A nil connection says that it did not start.
func (d *dialer) tryStdio(ctx context.Context, a *attempt, p command, era string) (*link, *stdioConn, error) {
	select {
	case d.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	began := time.Now()
	lim := d.o.Limits
	stderr := &tail{line: func(s string) { a.log.add("", s) }}
	proc, err := startProcess(p.path, p.args, p.env, p.dir, lim.Grace, stderr)
	<-d.slots // how long the server takes from here on is its own affair
	if err != nil {
		de := failed(stepStart, core.FixEdit, true, "%s could not be started: %s.", p.path, strings.TrimSuffix(plainOS(err), "."))
		de.err = err
		return nil, nil, de
	}
	a.done(stepStart, began, "process %d", proc.cmd.Process.Pid)
	forget := d.ledger.add(proc.cmd.Process.Pid, proc.mark, a.spec.Name)
	d.guardian.watch()
	d.procs.Store(proc, a.spec.Name)
	proc.done = func() {
		d.procs.Delete(proc)
		forget()
	}
	limit, isRunner, probe := lim.Start, runner(a.spec.Command), lim.Probe
	if isRunner {
		limit = max(limit, lim.StartRunner)
	}
	own := time.Duration(a.spec.ConnectTimeoutMS) * time.Millisecond
	if own > 0 { // the older handshake must fit into it too
		limit, probe = own, min(probe, own/2)
	}
	conn := newStdioConn(proc, probe, lim.MaxFrame)
	lctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l := newLink(lctx, cancel)
	l.gone, l.shut = conn.gone, conn.close
	conn.junk = func(line []byte) {
		if n := conn.junked.Add(1); n <= 50 {
			if n == 1 {
				first := core.Clip(string(line), 100)
				conn.odd.Store(&first)
			}
			a.log.add("stdout: ", core.Clip(string(line), 300))
		}
	}
	conn.tap = a.log.frame
	conn.changed = l.touch
	conn.logged = func(level, text string) { a.log.add(level+": ", text) }
	conn.begin()

	a.to(core.StateNegotiating, "Waiting for an answer…")
	began = time.Now()
	l.asks = d.questions(lctx, a.spec.Name, conn.running)
	l.client = sdk.NewClient(&sdk.Implementation{Name: d.o.ClientName, Version: d.o.ClientVersion},
		clientOptions(l.asks, l.touch, d.news(a), a.spec.Name, func(string, core.Chunk) {}, func(string, string) {}, len(a.spec.Roots) > 0))
	l.roots = a.spec.Roots
	offerRoots(l.client, nil, l.roots)
	told, first := time.Duration(0), d.memory.get(a.key).FetchedAt.IsZero()
	session, end, err := connect(ctx, l.client, conn, func() time.Duration {
		if waited := time.Since(began); waited-told > 2*time.Second && !conn.spoke.Load() {
			switch {
			case isRunner && first: // it never answered, so there was nothing to start yet
				a.to(core.StateInstalling, fmt.Sprintf("Installing the package with %s (first run), %s", filepath.Base(a.spec.Command), seconds(waited)))
			case told == 0:
				a.to(core.StateNegotiating, "Still waiting for an answer…")
			}
			told = waited
		}
		if conn.silent.Load() && own == 0 { // it gets the whole time again for the older handshake
			return max(limit, lim.Probe+lim.Start)
		}
		return limit
	}, era)
	if err != nil {
		cancel()
		died := false
		select {
		case <-proc.exited:
			died = !conn.left.Load() // else it left because we did
		case <-conn.ended: // the exit follows at once, if it is one
			select {
			case <-proc.exited:
				died = !conn.left.Load()
			case <-time.After(100 * time.Millisecond):
			}
		default:
		}
		waited := time.Since(began)
		proc.kill()
		<-conn.gone
		end()
		if ctx.Err() != nil {
			return nil, conn, ctx.Err()
		}
		return nil, conn, explainStdio(a.spec, conn, err, died, waited)
	}
	l.session = session
	l.version = session.InitializeResult().ProtocolVersion
	l.rpc = newStdioRPC(conn, session, d.o, l.version, len(a.spec.Roots) > 0)
	l.gone = goneAfter(conn.gone, end)
	l.watch(func(error) string {
		select {
		case <-proc.exited:
			return "It " + proc.fate() + "."
		case <-time.After(300 * time.Millisecond):
			if conn.deaf.Load() {
				return "It closed its input."
			}
			return "It closed its output."
		}
	})
	a.done(stepHandshake, began, "MCP %s", l.version)
	return l, conn, nil
}

// goneAfter ends the session's context when the transport is gone.
func goneAfter(gone <-chan struct{}, end func()) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-gone
		end()
	}()
	return done
}

// explainStdio makes a sentence of why the handshake failed.
func explainStdio(spec core.ServerSpec, c *stdioConn, err error, died bool, waited time.Duration) *dialError {
	tail := strings.TrimSpace(c.proc.stderr.String())
	line := tellingLine(tail)
	because := ""
	if line != "" {
		because = " It said: " + sentence(line)
	} else if odd := c.odd.Load(); odd != nil && strings.Contains(*odd, "\x00") {
		because = " It printed something that is no text."
	} else if odd != nil {
		because = fmt.Sprintf(" It printed %q, which is no message of MCP.", *odd)
	}
	var de *dialError
	var we *jsonrpc.Error
	late := errors.Is(err, context.DeadlineExceeded)
	switch rest, odd := c.rest.Load(), c.odd.Load(); {
	case late && odd != nil && strings.HasPrefix(*odd, "Content-Length:"):
		de = failed(stepHandshake, core.FixShowLog, true, "%s puts Content-Length before its messages, as language servers do. MCP wants one message a line. Tell the author of the server.", spec.Name)
	case late && rest != nil && strings.HasPrefix(*rest, "{"):
		de = failed(stepHandshake, core.FixShowLog, true, "%s does not end its messages with a line feed, as MCP wants it. Tell the author of the server.", spec.Name)
	case late && c.echoes.Load():
		de = failed(stepHandshake, core.FixShowLog, true, "%s prints what it is sent and does not answer. Check that its command starts an MCP server on standard input and output.", spec.Name)
	case c.wide.Load() && !c.spoke.Load():
		de = failed(stepHandshake, core.FixEdit, true, "%s prints UTF-16 on its standard output, where MCP wants UTF-8. Set the encoding of its output to UTF-8; a script of PowerShell does so by [Console]::OutputEncoding.", spec.Name)
	case died:
		de = failed(stepHandshake, core.FixShowLog, false, "%s %s before it answered.%s Check its command and arguments; its log shows what it printed.", spec.Name, c.proc.fate(), because)
		de.exited = true
		de.detail = "Exit: " + c.proc.fate()
	case errors.Is(err, context.DeadlineExceeded) && !c.spoke.Load():
		de = failed(stepHandshake, core.FixShowLog, true, "%s did not answer within %s. Check that its command starts an MCP server on standard input and output. If it only needs longer, raise the time limit for connecting in its settings.%s", spec.Name, seconds(waited), because)
	case errors.Is(err, context.DeadlineExceeded):
		de = failed(stepHandshake, core.FixShowLog, true, "%s did not finish the handshake within %s. If it only needs longer, raise the time limit for connecting in its settings.%s", spec.Name, seconds(waited), because)
	case errors.As(err, &we):
		de = failed(stepHandshake, core.FixShowLog, true, "%s refused the handshake: %s", spec.Name, sentence(we.Message))
	default:
		de = failed(stepHandshake, core.FixShowLog, false, "%s", explainHello(spec.Name, err))
	}
	de.err = err
	if tail != "" {
		if de.detail != "" {
			de.detail += "\n\n"
		}
		de.detail += lastLines(tail, 40)
	}
	return de
}

// tellingLine picks the line of stderr that most likely names the cause.
func tellingLine(tail string) string {
	var last, best string
	for line := range strings.Lines(tail) {
		s := strings.TrimSpace(line)
		low := strings.ToLower(s)
		if s == "" || strings.HasPrefix(low, "at ") || strings.HasPrefix(low, "npm notice") || strings.HasPrefix(low, "npm warn") ||
			strings.HasPrefix(low, "node.js v") || strings.HasPrefix(low, "file \"") || strings.Trim(s, "^~-=*{}[]() ") == "" ||
			strings.Contains(low, "complete log of this run") {
			continue
		}
		last = s
		for _, w := range []string{"error", "cannot", "can't", "could not", "couldn't", "not found", "no such", "denied", "enoent", "eacces", "exception", "fatal", "panic", "refused", "invalid", "missing", "required", "unknown", "failed", "usage:", "expected"} {
			if strings.Contains(low, w) {
				best = s
				break
			}
		}
	}
	if best == "" {
		best = last
	}
	return core.Clip(best, 240)
}

func lastLines(s string, n int) string {
	lines := strings.Split(s, "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// plainOS is the last part of a system error: "permission denied".
func plainOS(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	if u := errors.Unwrap(err); u != nil {
		err = u
	}
	return err.Error()
}

// sentence makes text fit to end a message.
func sentence(s string) string {
	s = core.Clip(strings.TrimSpace(s), 300)
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?…") {
		return s
	}
	return s + "."
}

func seconds(d time.Duration) string {
	if d < 1500*time.Millisecond {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%d s", int(d.Seconds()+0.5))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
