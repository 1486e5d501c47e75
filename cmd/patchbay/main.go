// Command patchbay is Patchbay without a window: the command line, and the
// server that shows the same page in a browser.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"patchbay/backend/core"
	"patchbay/backend/host"
	"patchbay/backend/mcp"
	"patchbay/backend/tools/custom/worker"
)

// Exit codes, the same for every command.
const (
	exitDone     = 0
	exitFailed   = 1
	exitBadInput = 2
	exitDenied   = 3
	exitTimeout  = 4
)

type cli struct {
	JSON    bool             `help:"Print JSON for programs instead of text for people."`
	Version kong.VersionFlag `help:"Print the version and exit."`

	Servers    serversCmd    `cmd:"" help:"List, add, test, import, export and remove MCP servers."`
	Doctor     doctorCmd     `cmd:"" help:"Say what is wrong with the configured servers, then try them."`
	Tools      toolsCmd      `cmd:"" help:"List tools; allow, ask for or block them."`
	Call       callCmd       `cmd:"" help:"Call one tool and print its MCP result."`
	Chat       chatCmd       `cmd:"" help:"Send one message to an agent and print its answer as it is written."`
	Models     modelsCmd     `cmd:"" help:"List providers and models, add and remove providers."`
	Secrets    secretsCmd    `cmd:"" help:"List the names of secrets, keep and forget them."`
	Audit      auditCmd      `cmd:"" help:"Print the log of tool calls, the newest first."`
	Open       openCmd       `cmd:"" help:"Show the servers of a link in the window, for review."`
	Serve      serveCmd      `cmd:"" help:"Serve the page to a browser on this machine."`
	DemoServer demoServerCmd `cmd:"" name:"demo-server" help:"Run the demo MCP server on stdin and stdout, or over HTTP."`
}

func main() {
	worker.Main(os.Args)
	guardian := mcp.Guard(os.Args)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, guardian, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// app is what every command gets.
type app struct {
	ctx    context.Context
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	json   bool

	guardian string // as in host.Options
}

// exit is an error that carries its own exit code, and was told already.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// run runs the command of args and returns its exit code. guardian is as in
// host.Options.
func run(ctx context.Context, guardian string, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var c cli
	code := -1
	parser, err := kong.New(&c,
		kong.Name("patchbay"),
		kong.Description("Use MCP servers: paste a configuration, test it, call its tools, chat with agents that call them.\n\nPATCHBAY_HOME moves every file that is read or written. Exit codes: 0 done, 1 failed, 2 bad input, 3 denied, 4 timeout."),
		kong.Vars{"version": "patchbay " + host.Version},
		kong.Writers(stdout, stderr),
		kong.Exit(func(c int) { code = c }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		fmt.Fprintln(stderr, "patchbay:", err)
		return exitFailed
	}
	k, err := parser.Parse(args)
	if code >= 0 { // help or version were printed
		return code
	}
	if err != nil {
		fmt.Fprintf(stderr, "patchbay: %v\nRun \"patchbay --help\" to see what there is.\n", err)
		return exitBadInput
	}
	a := &app{ctx: ctx, stdin: stdin, stdout: stdout, stderr: stderr, json: c.JSON, guardian: guardian}
	err = k.Run(a)
	var e exit
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &e):
		return int(e)
	}
	return a.fail(err)
}

// fail tells an error and returns its exit code.
func (a *app) fail(err error) int {
	if a.json {
		a.printJSON(map[string]any{"error": wireError(err)})
	} else {
		fmt.Fprintln(a.stderr, "patchbay:", err)
		var ce *core.Error
		if errors.As(err, &ce) && ce.Line > 0 && !strings.Contains(ce.Message, "line ") {
			fmt.Fprintf(a.stderr, "  at line %d, column %d\n", ce.Line, ce.Column)
		}
	}
	return exitCode(core.CodeOf(err))
}

func wireError(err error) *core.Error {
	var ce *core.Error
	if errors.As(err, &ce) {
		return ce
	}
	return &core.Error{Code: core.CodeOf(err), Message: err.Error()}
}

func exitCode(c core.Code) int {
	switch c {
	case "":
		return exitDone
	case core.CodeInvalid, core.CodeNotFound, core.CodeConflict, core.CodeNeedsValue, core.CodeTooLarge:
		return exitBadInput
	case core.CodeDenied:
		return exitDenied
	case core.CodeTimeout:
		return exitTimeout
	}
	return exitFailed
}
