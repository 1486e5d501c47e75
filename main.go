// Patchbay is a desktop app for people who use MCP servers.
package main

import (
	"fmt"
	"os"

	"github.com/wailsapp/wails/v2"

	"patchbay/backend/mcp"
	"patchbay/backend/tools/custom/worker"
)

func main() {
	worker.Main(os.Args)
	app, err := newApp(mcp.Guard(os.Args))
	if err == nil {
		err = wails.Run(app.options())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "patchbay:", err)
		os.Exit(1)
	}
}
