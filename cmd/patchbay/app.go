package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-isatty"

	"patchbay/backend/approval"
	"patchbay/backend/config"
	"patchbay/backend/core"
	"patchbay/backend/event"
	"patchbay/backend/host"
	"patchbay/backend/tools"
)

// printJSON prints one line of JSON.
func (a *app) printJSON(v any) {
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		fmt.Fprintln(a.stderr, "patchbay: writing the output:", err)
	}
}

func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.stdout, format, args...) }

// terminal reports whether w is one.
func terminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// read returns the text of an argument: of stdin for "-", of the file of that
// name, or the argument itself when it can be no file.
func (a *app) read(arg string) (string, error) {
	if arg == "-" {
		b, err := io.ReadAll(a.stdin)
		if err != nil {
			return "", core.Errorf(core.CodeInvalid, "The standard input cannot be read: %w", err)
		}
		return string(b), nil
	}
	b, err := os.ReadFile(arg)
	switch {
	case err == nil:
		return string(b), nil
	case arg == "" || strings.ContainsAny(arg, "{}[]\n \t") || strings.Contains(arg, "://"):
		return arg, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", core.Errorf(core.CodeInvalid, "There is no file %q. Give a file, \"-\" for the standard input, or the text itself in quotes.", arg)
	}
	return "", core.Errorf(core.CodeInvalid, "The file %q cannot be read: %w", arg, err)
}

// with runs fn with a backend. connect says whether its servers are connected.
func (a *app) with(o host.Options, connect bool, fn func(*host.Host) error) (err error) {
	o.Guardian = a.guardian
	h, err := host.New(a.ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close(context.WithoutCancel(a.ctx))) }()
	if connect {
		file, err := h.Config.Current()
		if err != nil {
			fmt.Fprintf(a.stderr, "patchbay: %s cannot be used: %v\n", h.Config.Path(), err)
		}
		a.tellSkipped(file.Skipped)
		h.Start()
	}
	return fn(h)
}

// tellSkipped says which entries of tools.json cannot be used.
func (a *app) tellSkipped(list []config.Skipped) {
	for _, s := range list {
		fmt.Fprintf(a.stderr, "skipped: %s\n", visible(s.Error.Message))
	}
}

// await waits until ready is true, all servers have settled, or the limit is
// over. It reports whether ready became true.
func await(ctx context.Context, h *host.Host, limit time.Duration, ready func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	settled := make(chan struct{})
	go func() {
		defer close(settled)
		_ = h.Servers.WaitSettled(ctx) // its end is the signal, whatever the reason
	}()
	sub := h.Bus.Subscribe()
	defer sub.Close()
	changes := make(chan struct{}, 1)
	go func() {
		for {
			if _, err := sub.Next(ctx); err != nil {
				return
			}
			select {
			case changes <- struct{}{}:
			default:
			}
		}
	}()
	for !ready() {
		select {
		case <-changes:
		case <-settled:
			return ready()
		}
	}
	return true
}

// answerer decides on approvals: yes to all, a question at the terminal, or no.
func (a *app) answerer(yes bool) approval.Answerer {
	turn := make(chan struct{}, 1) // one question at a time
	return func(ctx context.Context, ap core.Approval) (core.Answer, error) {
		if yes {
			return core.AnswerAllowOnce, nil
		}
		if !terminal(a.stdin) || !terminal(a.stderr) {
			fmt.Fprintf(a.stderr, "patchbay: %s needs approval (%s) and nobody can be asked here. Use --yes to allow it.\n", ap.Call.Ref, ap.Decision.Why)
			return core.AnswerDeny, nil
		}
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-ctx.Done():
			return "", ctx.Err()
		}
		fmt.Fprintf(a.stderr, "\nRun %s?\n  %s\n  %s\n[y] allow once, [c] allow for this chat, anything else denies: ", ap.Call.Ref, ap.Decision.Why, visible(string(ap.Call.Arguments)))
		line := make(chan string, 1)
		go func() { // a read from a terminal cannot be interrupted; it ends with the program
			s, _ := bufio.NewReader(a.stdin).ReadString('\n')
			line <- strings.ToLower(strings.TrimSpace(s))
		}()
		select {
		case s := <-line:
			switch s {
			case "y", "yes":
				return core.AnswerAllowOnce, nil
			case "c":
				return core.AnswerAllowChat, nil
			}
			return core.AnswerDeny, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// visible keeps control characters of a tool's arguments from reaching the terminal.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || (r >= 0x80 && r < 0xa0) {
			return '·'
		}
		return r
	}, s)
}

// clean lets line breaks and tabs through and no other control character, so
// that what a tool returns cannot drive the terminal.
func clean(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		cells := strings.Split(l, "\t")
		for j, c := range cells {
			cells[j] = visible(c)
		}
		lines[i] = strings.Join(cells, "\t")
	}
	return strings.Join(lines, "\n")
}

func limits(timeout time.Duration) tools.Limits {
	return tools.Limits{Idle: timeout, Absolute: timeout}
}

// follow hands every event of a conversation to fn until the run has finished.
func follow(ctx context.Context, sub *event.Subscription, conversationID string, fn func(event.Event)) (event.RunFinished, error) {
	for {
		batch, err := sub.Next(ctx)
		if err != nil {
			return event.RunFinished{}, err
		}
		for _, e := range batch {
			if of(e.Data) != conversationID {
				continue
			}
			if end, ok := e.Data.(event.RunFinished); ok {
				return end, nil
			}
			fn(e)
		}
	}
}

// of names the conversation that an event is about, "" for none.
func of(p event.Payload) string {
	switch p := p.(type) {
	case event.ChatDelta:
		return p.ConversationID
	case event.ChatToolCall:
		return p.ConversationID
	case event.RunStarted:
		return p.ConversationID
	case event.RunFinished:
		return p.ConversationID
	}
	return ""
}
