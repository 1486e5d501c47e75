// Package api is the contract between the backend and everything outside it.
//
// The exported methods of the facades in [Facades] are the channels of the
// product: MCP.AddServer is "mcp:addServer". The window binds a method per
// channel, the browser page posts to the same channel, and both reach
// [Dispatcher.Call]. The delegates, the TypeScript types and the TypeScript
// functions are generated from the facades; nobody writes a second client.
//
// Facade types hold what JSON can say: strings for times (RFC 3339) and ids.
// Slices and maps are never null on the wire.
package api
