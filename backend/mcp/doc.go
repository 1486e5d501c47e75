// Package mcp is the engine that runs MCP servers: it starts and supervises
// them, keeps their tool lists in memory and calls their tools.
//
// A [Manager] holds one supervisor per configured server. A supervisor is one
// goroutine that owns the server's state; everybody else reads immutable
// snapshots. Nobody waits for a slow server except a call to that very server.
//
// The package is the only importer of the MCP SDK, and no type of the SDK is
// part of its surface. The SDK drives the protocol's lifecycle (version
// detection, initialize, subscriptions, requests of the server). What it leaves
// open is done here: process trees, junk on stdout, silent servers, oversized
// frames, HTTP endpoints that answer off the specification, and calls, which
// over stdio go straight to the wire so that results stay as the server wrote
// them.
package mcp
