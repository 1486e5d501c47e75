package main

import (
	"context"
	"crypto/sha256"
	_ "embed" // the icon
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	goruntime "runtime"
	"sync"

	"github.com/gofrs/flock"
	"github.com/wailsapp/wails/v2/pkg/menu"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	"github.com/wailsapp/wails/v2/pkg/options/mac"
	"github.com/wailsapp/wails/v2/pkg/options/windows"
	"github.com/wailsapp/wails/v2/pkg/runtime"

	"patchbay/backend/api"
	"patchbay/backend/api/rpc"
	"patchbay/backend/core"
	"patchbay/backend/host"
	"patchbay/frontend"
)

//go:embed build/appicon.png
var icon []byte

// eventsChannel is the one Wails event; it carries batches of ours as JSON.
const eventsChannel = "patchbay"

// App is the window: it starts the backend, binds its channels and carries its
// events. Its exported methods are what the page can call.
type App struct {
	host *host.Host
	lock *flock.Flock
	mine bool // this process owns the profile

	ctx      context.Context // of Wails; set in startup
	mu       sync.Mutex
	stopPump context.CancelFunc
	pump     sync.WaitGroup
}

func newApp(guardian string) (*App, error) {
	if goruntime.GOOS == "linux" {
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return nil, errors.New("there is no display here. \"patchbay serve\" shows the same page in a browser")
		}
		// WebKitGTK shows an empty window with some NVIDIA drivers otherwise.
		if os.Getenv("WEBKIT_DISABLE_DMABUF_RENDERER") == "" {
			if err := os.Setenv("WEBKIT_DISABLE_DMABUF_RENDERER", "1"); err != nil {
				return nil, fmt.Errorf("preparing the window: %w", err)
			}
		}
	}
	paths, err := host.FindPaths()
	if err != nil {
		return nil, err
	}
	// Two windows on one profile would start every server twice.
	a := &App{lock: flock.New(filepath.Join(paths.State, "window.lock"))}
	if a.mine, err = a.lock.TryLock(); err != nil {
		return nil, fmt.Errorf("locking the profile in %s: %w", paths.State, err)
	}
	if !a.mine {
		if goruntime.GOOS == "linux" && os.Getenv("DBUS_SESSION_BUS_ADDRESS") == "" {
			return nil, errors.New("a window with this profile is open already")
		}
		return a, nil // the system tells the first window and ends this process
	}
	if a.host, err = host.New(context.Background(), host.Options{Stay: true, Guardian: guardian}); err == nil {
		dir, _ := os.Getwd() // without one, only whole paths are found
		a.open(os.Args[1:], dir)
	}
	return a, err
}

// open shows the review of the links and files among the arguments of a start in
// the folder dir. The system gives them so to a program that is registered for
// patchbay: and for bundles.
func (a *App) open(args []string, dir string) {
	if a.host == nil {
		return
	}
	for _, arg := range args {
		if api.IsLink(arg) {
			if err := a.host.Links.Open(arg); err != nil {
				a.host.Logger.Warn("a link that was opened holds no server", "err", err)
			}
			continue
		}
		if !filepath.IsAbs(arg) {
			arg = filepath.Join(dir, arg)
		}
		if info, err := os.Stat(arg); err == nil && info.Mode().IsRegular() {
			a.host.Links.OpenFile(arg)
		}
	}
}

func (a *App) options() *options.App {
	o := &options.App{
		Title: "Patchbay", Width: 1200, Height: 800, MinWidth: 640, MinHeight: 480,
		AssetServer: &assetserver.Options{Assets: frontend.Dist(), Middleware: pageHeaders},
		OnStartup:   a.startup,
		OnDomReady:  a.ready,
		OnShutdown:  a.shutdown,
		Bind:        []any{a},
		// A second start only brings the first window to the front.
		SingleInstanceLock: &options.SingleInstanceLock{UniqueId: a.instance(), OnSecondInstanceLaunch: func(second options.SecondInstanceData) {
			a.open(second.Args, second.WorkingDirectory)
			runtime.WindowUnminimise(a.ctx)
			runtime.Show(a.ctx)
		}},
		// The page cannot read the files that WebKitGTK shows it.
		DragAndDrop:      &options.DragAndDrop{EnableFileDrop: true},
		BackgroundColour: options.NewRGB(250, 249, 247),
		Linux:            &linux.Options{Icon: icon, ProgramName: "patchbay", WebviewGpuPolicy: gpuPolicy},
		Windows:          &windows.Options{Theme: windows.SystemDefault},
		Mac:              &mac.Options{OnUrlOpen: func(link string) { a.open([]string{link}, "") }, OnFileOpen: func(path string) { a.open([]string{path}, "") }, About: &mac.AboutInfo{Title: "Patchbay " + host.Version, Icon: icon}},
	}
	if goruntime.GOOS == "darwin" { // without these, copy and paste have no keys there
		o.Menu = menu.NewMenuFromItems(menu.AppMenu(), menu.EditMenu(), menu.WindowMenu())
	}
	return o
}

// instance names the profile, so that two profiles can be open side by side.
func (a *App) instance() string {
	sum := sha256.Sum256([]byte(a.lock.Path()))
	return "patchbay-" + hex.EncodeToString(sum[:6])
}

// pageHeaders gives the page its policy, and keeps conditional requests from
// the asset server: WebView2 turns their answer 304 into an error.
func pageHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("If-None-Match")
		r.Header.Del("If-Modified-Since")
		w.Header().Set("Content-Security-Policy", rpc.CSP)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

func (a *App) startup(ctx context.Context) {
	a.ctx = ctx
	if a.mine {
		runtime.OnFileDrop(ctx, func(_, _ int, paths []string) { a.open(paths, "") })
		a.host.Start()
	}
}

// ready is called when the page stands. A second process that nobody ended
// until now, because the system could not tell the first window, ends itself.
func (a *App) ready(ctx context.Context) {
	if !a.mine {
		fmt.Fprintln(os.Stderr, "patchbay: a window with this profile is open already")
		runtime.Quit(ctx)
	}
}

func (a *App) shutdown(context.Context) {
	a.mu.Lock()
	stop := a.stopPump
	a.mu.Unlock()
	if stop != nil {
		stop()
		a.pump.Wait()
	}
	if a.host != nil {
		if err := a.host.Close(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "patchbay: closing:", err)
		}
	}
	if !a.mine {
		return
	}
	if err := a.lock.Unlock(); err != nil {
		fmt.Fprintln(os.Stderr, "patchbay: unlocking the profile:", err)
	}
}

// call carries one channel. An error reaches the page as JSON text, since
// Wails hands over nothing else reliably.
func (a *App) call(channel, callID, input string) (string, error) {
	if a.host == nil {
		return "", errors.New(`{"code":"unavailable","message":"A window with this profile is open already."}`)
	}
	out, err := a.host.Dispatcher.Call(context.Background(), channel, callID, []byte(input))
	if err != nil {
		var ce *core.Error
		if !errors.As(err, &ce) {
			ce = &core.Error{Code: core.CodeInternal, Message: err.Error()}
		}
		text, merr := json.Marshal(ce)
		if merr != nil {
			return "", merr
		}
		return "", errors.New(string(text))
	}
	return string(out), nil
}

// RpcCancel ends the running call of that id.
//
//lint:ignore ST1003 bound methods are named after their channels: rpc:cancel
func (a *App) RpcCancel(callID string) {
	if a.host != nil {
		a.host.Dispatcher.Cancel(callID)
	}
}

// RpcSubscribe starts the flow of events to the page, and starts it anew when
// the page was loaded again.
//
//lint:ignore ST1003 bound methods are named after their channels: rpc:subscribe
func (a *App) RpcSubscribe() {
	if a.host == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopPump != nil {
		a.stopPump()
		a.pump.Wait()
	}
	var ctx context.Context
	ctx, a.stopPump = context.WithCancel(context.Background())
	a.pump.Go(func() {
		err := a.host.Bus.Pump(ctx, func(batch []byte) error {
			runtime.EventsEmit(a.ctx, eventsChannel, string(batch))
			return nil
		})
		if ctx.Err() == nil {
			a.host.Logger.Error("events no longer reach the page", "err", err)
		}
	})
}

// RpcChooseFile lets the person choose a file of this computer and returns its
// path, "" when none was chosen. A page cannot ask the system for a path itself.
//
//lint:ignore ST1003 bound methods are named after their channels
func (a *App) RpcChooseFile(title string) (string, error) {
	return runtime.OpenFileDialog(a.ctx, runtime.OpenDialogOptions{Title: title, ResolvesAliases: true})
}

// RpcChooseFolder is RpcChooseFile for a folder.
//
//lint:ignore ST1003 bound methods are named after their channels
func (a *App) RpcChooseFolder(title string) (string, error) {
	return runtime.OpenDirectoryDialog(a.ctx, runtime.OpenDialogOptions{Title: title, ResolvesAliases: true, CanCreateDirectories: true})
}
