package main

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"time"

	"patchbay/backend/api/rpc"
	"patchbay/backend/host"
	"patchbay/frontend"
)

type serveCmd struct {
	Open   string `help:"A link (patchbay:, cursor: or vscode:) whose servers the page shows for review."`
	Listen string `default:"127.0.0.1:0" help:"A loopback address and a port; port 0 takes a free one."`
}

func (c *serveCmd) Run(a *app) error {
	l, err := listenLoopback(a.ctx, c.Listen)
	if err != nil {
		return err
	}
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails, says its documentation
	token := base64.RawURLEncoding.EncodeToString(raw)
	return a.with(host.Options{Stay: true}, true, func(h *host.Host) error {
		if c.Open != "" {
			if err := h.Links.Open(c.Open); err != nil {
				return errors.Join(err, l.Close())
			}
		}
		server := &http.Server{
			Handler:           rpc.New(h.Dispatcher, h.Bus, token, frontend.Dist()),
			ReadHeaderTimeout: 10 * time.Second,
		}
		address := "http://" + l.Addr().String()
		// The token stands behind "#", which a browser sends to nobody.
		a.printJSON(map[string]string{"url": address + "/#token=" + token, "address": address, "token": token})
		fmt.Fprintf(a.stderr, "Patchbay is served to browsers on this machine. Open %s\nCtrl+C ends it.\n", address+"/#token="+token)
		return serveUntilDone(a.ctx, server, l)
	})
}
