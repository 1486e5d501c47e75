package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"patchbay/backend/core"
	"patchbay/backend/host"
	"patchbay/backend/mcp/demo"
)

type demoServerCmd struct {
	HTTP    string `name:"http" placeholder:"ADDRESS" help:"Serve streamable HTTP on this loopback address instead, for example 127.0.0.1:0."`
	Scratch string `help:"The folder for notes; by default one of Patchbay's own."`
}

func (c *demoServerCmd) Run(a *app) error {
	if c.Scratch == "" {
		paths, err := host.FindPaths()
		if err != nil {
			return err
		}
		c.Scratch = filepath.Join(paths.Data, "demo")
	}
	server := demo.New(c.Scratch)
	if c.HTTP == "" {
		return server.RunStdio(a.ctx, a.stdin, a.stdout)
	}
	return a.serveDemo(c.HTTP, server.Handler())
}

func (a *app) serveDemo(listen string, handler http.Handler) error {
	l, err := listenLoopback(a.ctx, listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	a.printJSON(map[string]string{"url": "http://" + l.Addr().String() + "/mcp"})
	return serveUntilDone(a.ctx, server, l)
}

// listenLoopback listens on a loopback literal and refuses anything wider.
func listenLoopback(ctx context.Context, address string) (net.Listener, error) {
	name, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(name); err != nil || ip == nil || !ip.IsLoopback() {
		return nil, core.Errorf(core.CodeInvalid, "%s is not a loopback address with a port. Use 127.0.0.1:0 or [::1]:0.", address)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, core.Errorf(core.CodeUnavailable, "Cannot listen on %s: %w", address, err)
	}
	return l, nil
}

// serveUntilDone serves until ctx ends, then gives running requests a moment.
func serveUntilDone(ctx context.Context, server *http.Server, l net.Listener) error {
	server.BaseContext = func(net.Listener) context.Context { return ctx }
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return core.Errorf(core.CodeInternal, "The server ended: %w", err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := server.Shutdown(last); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return core.Errorf(core.CodeInternal, "The server did not close: %w", err)
	}
	return server.Close()
}
