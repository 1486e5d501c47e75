// Package host joins the parts of the backend: the one place that knows them
// all. The window, the command line and the server each start one host.
package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/DeRuina/timberjack"

	"patchbay/backend/agent"
	"patchbay/backend/api"
	"patchbay/backend/api/wire"
	"patchbay/backend/approval"
	"patchbay/backend/chat"
	"patchbay/backend/config"
	"patchbay/backend/core"
	"patchbay/backend/doctor"
	"patchbay/backend/event"
	"patchbay/backend/limit"
	"patchbay/backend/llm/registry"
	"patchbay/backend/mcp"
	"patchbay/backend/policy"
	"patchbay/backend/question"
	"patchbay/backend/sampling"
	"patchbay/backend/secret"
	"patchbay/backend/serverlog"
	"patchbay/backend/store"
	"patchbay/backend/tools"
	"patchbay/backend/tools/builtin"
	"patchbay/backend/tools/connector"
	"patchbay/backend/tools/custom"
)

// Version is the product's version.
const Version = "0.1.0"

// lookForChoices is how often a program that stays looks whether another one,
// such as the command line, changed the approvals of tools.
const lookForChoices = 2 * time.Second

// keepServerLogs is how long the log of a server stays that nothing is written to.
const keepServerLogs = 30 * 24 * time.Hour

// customSource is the catalog's name for the tools of tools.json.
const customSource = "custom"

// Options say what differs between the window, the command line and the server.
// The zero value is right for a window.
type Options struct {
	// Answer decides on approvals in the place of a window; nil waits for one.
	Answer approval.Answerer
	// Stay says that the program is there to stay, as a window is, so that it
	// pays to prepare for what a person will do next.
	Stay bool
	// Guardian is what mcp.Guard returned to main; "" means that servers which a
	// kill of this process leaves stay until its next start.
	Guardian string
	// Limits of a tool call; zero means the gate's defaults.
	Limits tools.Limits
}

// Host is the whole backend. Its parts are safe for concurrent use. Make it
// with New, then Start it, and Close it in the end.
type Host struct {
	Paths      Paths
	Bus        *event.Bus
	Config     *config.Store
	Doctor     *doctor.Doctor
	Servers    *mcp.Manager
	Catalog    *tools.Catalog
	Gate       *tools.Executor
	Custom     *custom.Runner
	Agents     *agent.Agents
	Runner     *agent.Runner
	Chat       *chat.Service
	Models     *registry.Registry
	Links      *api.Links
	Facades    api.Facades
	Dispatcher *api.Dispatcher
	Logger     *slog.Logger

	stay    bool
	store   *store.Store
	choices *approval.Choices
	log     *timberjack.Logger

	serverLog *serverlog.Log
	ctx       context.Context
	cancel    context.CancelFunc
	wg        sync.WaitGroup

	apply   sync.Mutex
	started bool // guarded by apply
}

// New opens files and databases and joins the parts. Nothing is connected yet.
func New(ctx context.Context, o Options) (h *Host, err error) {
	h = &Host{Bus: &event.Bus{}, stay: o.Stay}
	if h.Paths, err = FindPaths(); err != nil {
		return nil, err
	}
	h.log = &timberjack.Logger{Filename: filepath.Join(h.Paths.State, "patchbay.log"), MaxSize: 5, MaxBackups: 2}
	h.serverLog = serverlog.Open(filepath.Join(h.Paths.State, "server-logs"))
	h.Logger = slog.New(slog.NewJSONHandler(h.log, nil))
	h.ctx, h.cancel = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close(context.WithoutCancel(ctx)))
			h = nil
		}
	}()
	if h.Config, err = config.Open(h.Paths.Config); err != nil {
		return h, err
	}
	if h.store, err = store.Open(ctx, h.Paths.Data); err != nil {
		return h, err
	}
	secrets, err := secret.Open(h.Paths.Data)
	if err != nil {
		return h, err
	}
	emit := h.Bus.Publish
	questions := question.NewDesk(emit)
	var asker mcp.Asker
	samples := &sampling.Service{Asker: deskAsker{questions}, Log: h.store.Audit, Emit: emit}
	if o.Stay { // a command that ends at once has nobody to ask
		asker = &person{questions, emit, samples}
	}
	h.Catalog = tools.NewCatalog(func() { emit(event.ToolsChanged{}) })
	naming, err := api.ToolNaming(ctx, h.store.App)
	if err != nil {
		return h, err
	}
	h.Catalog.SetNaming(naming)
	h.Catalog.Replace("builtin", builtin.Tools())
	h.Servers = mcp.New(mcp.Options{
		Emit: emit,
		Publish: func(server string, list []core.Tool) {
			h.Catalog.Replace("mcp:"+server, list)
		},
		Line:       h.serverLog.Add,
		Lookup:     lookup(secrets),
		Logger:     h.Logger,
		ClientName: "patchbay", ClientVersion: Version,
		StateDir: h.Paths.State, Guardian: o.Guardian, CacheDir: filepath.Join(h.Paths.Data, "servers"),
		Asker: asker, Tokens: secrets,
	})
	if h.choices, err = approval.NewChoices(ctx, h.store.App, func() { emit(event.ToolsChanged{}) }); err != nil {
		return h, err
	}
	h.Catalog.Blocked = h.choices.Blocked
	rules := policy.Default().With(h.choices)
	desk := approval.NewDesk(emit, o.Answer)
	private := []string{h.Paths.Config, h.Paths.Data, h.Paths.State}
	h.Custom = custom.New(custom.Options{
		Caller: scripts{h}, Requester: (&connector.Connector{Secret: secrets.Get}).Call, Secret: secrets.Get, Logger: h.Logger, Timeout: o.Limits.Idle,
		Private: private,
	})
	h.Gate = tools.NewExecutor(tools.Options{
		Catalog: h.Catalog, Log: h.store.Audit, Policy: rules, Desk: desk, Limiter: limit.New(),
		Runners: map[core.ToolKind]tools.Runner{core.ToolMCP: h.Servers, core.ToolFeature: h.Servers, core.ToolCustom: h.Custom,
			core.ToolBuiltin: &builtin.Runner{Private: private, Access: func(ctx context.Context) (core.BuiltinAccess, error) {
				return api.BuiltinAccess(ctx, h.store.App)
			}}},
		Nested: h.nested,
		Emit: func(p event.Payload) {
			emit(p)
			if end, ok := p.(event.ToolsStreamEnd); ok {
				questions.EndCall(end.CallID)
			}
		},
		Logger: h.Logger, Limits: o.Limits,
	})
	h.Chat = chat.NewService(h.store.App, emit)
	h.Agents = agent.NewAgents(h.store.App, emit)
	h.Models = registry.New(registry.Options{
		Store: h.store.App, Secrets: secrets, Defaults: defaults{h.store.App},
		Constructors: constructors(), Env: os.Getenv, Emit: emit,
	})
	samples.Choose = chooseModel(h.Models)
	h.Runner = agent.NewRunner(agent.Options{
		Conversations: h.Chat, Agents: h.Agents, Models: h.Models, Catalog: h.Catalog, Gate: h.Gate, Emit: emit, Logger: h.Logger,
	})
	h.Links = api.NewLinks(emit)
	info := wire.Info{Version: Version, ConfigPath: h.Config.Path(), DataDir: h.Paths.Data, LogDir: h.Paths.State}
	told := toldSecrets{secrets, h.Servers.SecretChanged}
	h.Facades = api.Facades{
		MCP:       api.NewMCP(h.mcpOptions(secrets)),
		Tools:     api.NewTools(h.Config, h.Catalog, h.Gate, rules, h.choices, h.Custom, h.store.App, h.configChanged),
		Chat:      api.NewChat(h.Chat, h.Runner, desk),
		Agents:    api.NewAgents(h.Agents),
		Approvals: api.NewApprovals(desk),
		Questions: api.NewQuestions(questions),
		Audit:     api.NewAudit(h.store.Audit, desk),
		Models:    api.NewModels(h.Models, h.store.App),
		Secrets:   api.NewSecrets(told, h.Config, h.Servers, emit),
		Settings:  api.NewSettings(h.store.App, h.Config, info, secrets.Where, h.Catalog.SetNaming, emit),
	}
	h.Dispatcher = api.NewDispatcher(h.ctx, h.Facades, h.Logger)
	return h, nil
}

// Start connects all servers, at the same time and in the background, and
// follows edits of tools.json. It waits for none of them.
func (h *Host) Start() {
	h.apply.Lock()
	h.started = true
	h.apply.Unlock()
	if h.stay {
		h.Servers.LearnPath()
		h.wg.Go(func() { h.serverLog.Prune(keepServerLogs) })
		h.wg.Go(func() {
			h.choices.Follow(h.ctx, lookForChoices, func(err error) { h.Logger.Warn("the approvals of tools cannot be read anew", "err", err) })
		})
	}
	h.configChanged()
	h.wg.Go(func() {
		if err := h.Config.Watch(h.ctx, h.configChanged); err != nil {
			h.Logger.Error("tools.json is no longer watched", "err", err)
		}
	})
}

// configChanged brings what tools.json says into effect. A file that cannot be
// read leaves the last good state running. Before Start no server is touched.
func (h *Host) configChanged() {
	h.apply.Lock()
	defer h.apply.Unlock()
	file, err := h.Config.Current()
	if err == nil && h.started {
		h.Servers.Apply(file.Servers)
		h.Catalog.Replace(customSource, h.Custom.Set(file.Tools))
	}
	h.Bus.Publish(event.ConfigChanged{})
	h.Bus.Publish(event.ServersChanged{})
}

// Close ends everything in the order in which it stands on each other: runs,
// scripts, servers with their processes, the watcher, the databases. It returns within
// about ten seconds.
func (h *Host) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var errs []error
	if h.Runner != nil {
		errs = append(errs, h.Runner.Close(ctx))
	}
	if h.Custom != nil {
		h.Custom.Close()
	}
	if h.Servers != nil {
		errs = append(errs, h.Servers.Close(ctx))
	}
	h.cancel()
	h.wg.Wait()
	if h.store != nil {
		errs = append(errs, h.store.Close())
	}
	return errors.Join(append(errs, h.serverLog.Close(), h.log.Close())...)
}

// lookup resolves the placeholders of a configuration.
func lookup(secrets registry.Secrets) func(ctx context.Context, kind, name string) (string, bool) {
	return func(ctx context.Context, kind, name string) (string, bool) {
		if kind == "secret" {
			v, ok, err := secrets.Get(ctx, name)
			return v, ok && err == nil
		}
		return os.LookupEnv(name)
	}
}

type defaults struct{ store api.SettingsStore }

func (d defaults) DefaultModel(ctx context.Context) (string, string, error) {
	return api.DefaultModel(ctx, d.store)
}

// demoServer is the configuration of the demo server: the command line program
// that lies beside this one, or this one itself when it is that program.
func (h *Host) demoServer() (core.ServerSpec, error) {
	self, err := os.Executable()
	if err != nil {
		return core.ServerSpec{}, fmt.Errorf("finding this program: %w", err)
	}
	path, err := commandLine(self)
	if err != nil {
		return core.ServerSpec{}, err
	}
	return core.ServerSpec{Name: "demo", Transport: core.TransportStdio, Command: path, Args: []string{"demo-server", "--scratch", filepath.Join(h.Paths.Data, "demo")}}, nil
}
