package mcp

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// rootURI is a root as servers want it (MCP 2025-11-25, Roots: file:// only). A
// folder that is not absolute lies in the person's home folder.
func rootURI(root string) string {
	if strings.HasPrefix(root, "file://") {
		return root
	}
	if !filepath.IsAbs(root) {
		if home, err := os.UserHomeDir(); err == nil {
			root = filepath.Join(home, root)
		}
	}
	path := filepath.ToSlash(filepath.Clean(root))
	if !strings.HasPrefix(path, "/") { // a drive of Windows
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// offerRoots makes roots what the client tells its server, in the place of old.
// The server hears of a change.
func offerRoots(c *sdk.Client, old, roots []string) {
	uris := make([]string, len(roots))
	//lint:ignore SA1019 deprecated by 2026-07-28, and in use until then
	var fresh []*sdk.Root
	for i, r := range roots {
		uris[i] = rootURI(r)
		if !slices.Contains(old, r) {
			//lint:ignore SA1019 as above
			fresh = append(fresh, &sdk.Root{URI: uris[i], Name: filepath.Base(r)})
		}
	}
	var gone []string
	for _, r := range old {
		if uri := rootURI(r); !slices.Contains(uris, uri) {
			gone = append(gone, uri)
		}
	}
	if len(gone) > 0 {
		//lint:ignore SA1019 as above
		c.RemoveRoots(gone...)
	}
	//lint:ignore SA1019 as above
	c.AddRoots(fresh...)
}

// tellRoots tells a running server of the roots that are configured now.
func (s *server) tellRoots(ctx context.Context, l *link) {
	spec, missing := expand(ctx, *s.live.Load(), s.m.o.Lookup, &s.log.secrets)
	switch {
	case slices.Equal(spec.Roots, l.roots):
	case len(missing) > 0:
		s.log.add("· ", "the roots were not changed, since values are missing: "+strings.Join(missing, ", "))
	default:
		offerRoots(l.client, l.roots, spec.Roots)
		l.roots = spec.Roots
	}
}
