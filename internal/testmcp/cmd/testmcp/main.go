// Command testmcp is the composable MCP test server as a program. Its options
// are a JSON object, given as the value of -options or in the environment
// variable TESTMCP; -http serves over HTTP instead of stdio.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"patchbay/internal/testmcp"
)

func main() {
	os.Exit(run())
}

func run() int {
	options := flag.String("options", os.Getenv(testmcp.Variable), "options as a JSON object, or @file")
	faults := flag.String("faults", "", "faults, separated by commas")
	addr := flag.String("http", "", "address to serve HTTP on; empty serves stdio")
	flag.Parse()
	var o testmcp.Options
	text := *options
	if name, ok := strings.CutPrefix(text, "@"); ok {
		b, err := os.ReadFile(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, "testmcp:", err)
			return 2
		}
		text = string(b)
	}
	if text != "" {
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			fmt.Fprintln(os.Stderr, "testmcp: options:", err)
			return 2
		}
	}
	if *faults != "" {
		o.Faults = append(o.Faults, strings.Split(*faults, ",")...)
	}
	if *addr == "" {
		return testmcp.Serve(o, os.Stdin, os.Stdout, os.Stderr)
	}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testmcp:", err)
		return 1
	}
	fmt.Fprintf(os.Stderr, "http://%s/mcp\n", l.Addr())
	srv := &http.Server{Handler: testmcp.Handler(o), ReadHeaderTimeout: 10 * time.Second}
	fmt.Fprintln(os.Stderr, "testmcp:", srv.Serve(l))
	return 1
}
