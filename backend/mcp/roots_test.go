package mcp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/internal/testmcp"
)

func TestRootsAreTold(t *testing.T) {
	t.Parallel()
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	for _, c := range []struct {
		name   string
		faults []string
		http   bool
	}{{"stdio", nil, false}, {"http", []string{testmcp.GetStream}, true}, {"modern stdio", []string{testmcp.Modern}, false}, {"modern http", []string{testmcp.Modern}, true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := &vault{values: map[string]string{"place": "/srv/a b"}}
			w := newWorld(t, func(o *Options) { o.Lookup = v.lookup })
			o := testmcp.Options{Faults: c.faults}
			spec, _ := httpSpec(t, "s", o)
			if !c.http {
				spec = stdioSpec(t, "s", o)
			}
			w.start(spec)
			res, err := w.call("s", testmcp.ClientCaps, "{}")
			require.NoError(t, err)
			assert.NotContains(t, res.Text(), "roots", "nothing is declared that there is not")

			spec.Roots = []string{"~/notes", "${secret:place}"}
			w.Apply([]core.ServerSpec{spec})
			require.Eventually(t, func() bool { // that there are any cannot be told to a running server
				res, err = w.call("s", testmcp.ClientCaps, "{}")
				return err == nil && strings.Contains(res.Text(), "roots")
			}, 10*time.Second, 10*time.Millisecond)
			before := len(pids(t, spec))
			roots := func() string {
				res, err := w.call("s", testmcp.AskRoots, "{}")
				require.NoError(t, err)
				return res.Text()
			}
			text := roots()
			assert.Contains(t, text, `"uri":"`+rootURI(filepath.Join(home, "notes"))+`"`)
			assert.Contains(t, text, `"uri":"file:///srv/a%20b"`)
			assert.Contains(t, text, `"name":"notes"`)

			spec.Roots = []string{"/other", "${secret:place}"}
			w.Apply([]core.ServerSpec{spec})
			require.Eventually(t, func() bool { return strings.Contains(roots(), "file:///other") }, 10*time.Second, 10*time.Millisecond)
			text = roots()
			assert.NotContains(t, text, "notes")
			assert.Contains(t, text, "file:///srv/a%20b")
			assert.Len(t, pids(t, spec), before, "on the same connection")
			if !strings.HasPrefix(c.name, "modern") { // the newer revision asks each time
				require.Eventually(t, func() bool {
					res, err := w.call("s", testmcp.RootNews, "{}")
					return err == nil && res.Text() != "0"
				}, 10*time.Second, 10*time.Millisecond)
			}
			if !c.http && !strings.HasPrefix(c.name, "modern") {
				spec.Roots = []string{"${secret:nowhere}"}
				w.Apply([]core.ServerSpec{spec})
				require.Eventually(t, func() bool {
					return strings.Contains(strings.Join(w.Log("s"), "\n"), "the roots were not changed, since values are missing: secret:nowhere")
				}, 10*time.Second, 10*time.Millisecond)
			}
		})
	}
}

func TestRootsAreFileURIs(t *testing.T) {
	t.Parallel()
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	for root, want := range map[string]string{
		"/a/../b":      "file:///b",
		"/ä#?%":        "file:///%C3%A4%23%3F%25",
		"file:///x/y":  "file:///x/y",
		"work/project": rootURI(filepath.Join(home, "work", "project")),
	} {
		assert.Equal(t, want, rootURI(root))
	}
}
