package mcp

import (
	"context"
	"log/slog"
	"os"
	"time"

	"patchbay/backend/core"
	"patchbay/backend/event"
)

// Options is what a [Manager] needs from its surroundings. The zero value works.
type Options struct {
	// Emit receives event.ServersChanged whenever a status changed. It is called
	// from the supervisors' goroutines and must not block. nil means that nobody listens.
	Emit func(event.Payload)
	// Publish receives a server's whole tool list whenever it changed, and nil
	// when the server was removed or turned off. Calls for one server never
	// overlap. The slice is shared and must not be modified. nil means that nobody listens.
	Publish func(server string, tools []core.Tool)
	// Lookup resolves the placeholders of a configuration. kind is "env" or
	// "secret"; false means that there is no such value. nil means the
	// program's own environment and no secrets.
	Lookup func(ctx context.Context, kind, name string) (string, bool)
	// Asker puts the questions of servers to a person. nil means that nobody is
	// there: servers are told so, and nobody can sign in.
	Asker Asker
	// Tokens keeps sign-ins. nil means that they end with the program.
	Tokens TokenStore
	// Auth says how to sign in to a server. It is asked once for each server and
	// address. nil means the zero AuthConfig for all.
	Auth func(server string) AuthConfig
	// Line receives each line of a server's timeline that is no message, with
	// known secrets blanked out. It is called from many goroutines and must be
	// quick. nil means that nobody listens.
	Line func(server string, a core.Activity)
	// Logger receives what is only for developers. nil means none.
	Logger *slog.Logger
	// ClientName and ClientVersion are what servers get to see of us
	// (MCP 2025-11-25, Lifecycle, clientInfo). "" means "patchbay" and "0".
	ClientName    string
	ClientVersion string
	// Limits bounds every wait.
	Limits Limits
	// StateDir is a folder for the ledger of running processes, by which a later
	// start finds the servers that a crash left behind. "" means none.
	StateDir string
	// Guardian is the program that [Guard] returned to main. It is started once
	// more beside the servers, to end them should this process be killed. "", or
	// no StateDir, means that only the next start ends what such a kill leaves.
	Guardian string
	// CacheDir is a folder for what was learned about the servers, one file each:
	// their tools, and how they are spoken to. By it a later start knows the tools
	// before the servers run. "" means none.
	CacheDir string
	// Shell is the login shell that is asked for its PATH. "" means that of the
	// person ($SHELL); "none" means that no shell is asked.
	Shell string
}

// Limits bounds every wait of the engine. Zero in any field means its default.
type Limits struct {
	// Start bounds a stdio server from its start to the end of the handshake; 10 s.
	Start time.Duration
	// StartRunner is Start for package runners (npx, uvx, docker …), which may
	// have to download the server first; 60 s.
	StartRunner time.Duration
	// Connect bounds the handshake over HTTP; 30 s.
	Connect time.Duration
	// Probe bounds the wait for an answer to server/discover; 8 s. Silence means
	// a server of the older revisions (MCP 2026-07-28, Versioning).
	Probe time.Duration
	// Stream bounds the wait for the headers of a server's event stream; 8 s.
	Stream time.Duration
	// ListPage bounds one page of tools/list; 5 s. List bounds all of them; 30 s.
	ListPage time.Duration
	List     time.Duration
	// ListGap is the shortest age at which a list counts as old, whatever the
	// server or its settings say; 5 s.
	ListGap time.Duration
	// Pages and Tools cap the listing: 100 pages, 5,000 tools.
	Pages int
	Tools int
	// Grace is the time for each stage of ending a process: after closing its
	// stdin, and after asking it to terminate; 2 s.
	Grace time.Duration
	// MaxFrame is the largest message in bytes, 64 MiB. A larger one fails its call only.
	MaxFrame int
	// BackoffMin and BackoffMax bound the pause between attempts: 1 s and 60 s.
	BackoffMin time.Duration
	BackoffMax time.Duration
}

func (l Limits) withDefaults() Limits {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	num := func(d *int, v int) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&l.Start, 10*time.Second)
	def(&l.StartRunner, 60*time.Second)
	def(&l.Connect, 30*time.Second)
	def(&l.Probe, 8*time.Second)
	def(&l.Stream, 8*time.Second)
	def(&l.ListPage, 5*time.Second)
	def(&l.List, 30*time.Second)
	def(&l.ListGap, 5*time.Second)
	def(&l.Grace, 2*time.Second)
	def(&l.BackoffMin, time.Second)
	def(&l.BackoffMax, time.Minute)
	num(&l.Pages, 100)
	num(&l.Tools, 5000)
	num(&l.MaxFrame, 64<<20)
	return l
}

func (o Options) withDefaults() Options {
	o.Limits = o.Limits.withDefaults()
	if o.Emit == nil {
		o.Emit = func(event.Payload) {}
	}
	if o.Line == nil {
		o.Line = func(string, core.Activity) {}
	}
	if o.Publish == nil {
		o.Publish = func(string, []core.Tool) {}
	}
	if o.Lookup == nil {
		o.Lookup = func(_ context.Context, kind, name string) (string, bool) {
			if kind != "env" {
				return "", false
			}
			return os.LookupEnv(name)
		}
	}
	if o.Tokens == nil {
		o.Tokens = &memoryTokens{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.ClientName == "" {
		o.ClientName = "patchbay"
	}
	if o.ClientVersion == "" {
		o.ClientVersion = "0"
	}
	return o
}
