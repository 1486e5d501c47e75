package api

import (
	"encoding/base64"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/backend/event"
)

// A link from outside is given to one page, once, and changes nothing itself.
func TestLinksWaitForThePage(t *testing.T) {
	b := servers(t)
	told := 0
	l := NewLinks(func(p event.Payload) { require.IsType(t, event.LinkOpened{}, p); told++ })
	b.links = l
	config := base64.StdEncoding.EncodeToString([]byte(`{"command":"npx","args":["-y","x"]}`))
	link := "cursor://anysphere.cursor-deeplink/mcp/install?name=x&config=" + url.QueryEscape(config)
	require.NoError(t, l.Open(link))
	require.Equal(t, 1, told)
	view, err := b.GetServers(t.Context())
	require.NoError(t, err)
	require.Empty(t, view.Servers, "opening saves nothing")
	v, err := b.TakeLink(t.Context())
	require.NoError(t, err)
	require.Equal(t, link, v.Link)
	v, err = b.TakeLink(t.Context())
	require.NoError(t, err)
	require.Empty(t, v.Link)
	for _, bad := range []string{"", "https://example.com/mcp", "npx -y x", "/etc/passwd", "javascript:alert(1)", "cursor://nothing", "patchbay:"} {
		require.Equal(t, core.CodeInvalid, core.CodeOf(l.Open(bad)), bad)
	}
	for range 2 * maxLinks {
		require.NoError(t, l.Open(link))
	}
	require.Len(t, l.wait, maxLinks)
}
