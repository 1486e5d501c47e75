package mcp

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every legal spelling of a stream must come out as the one that the SDK reads,
// however the stream is cut into reads.
func TestPlainEvents(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"data: a\n\n":                                   "data: a\n\n",
		"\xef\xbb\xbfdata: a\r\rdata: b\r\n\r\n":        "data: a\n\ndata: b\n\n",
		"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n":           "\n",
		": ping\n\n:\n":                                 "\n",
		"data\nid\nevent:message\ndata:a:b\n\n":         "data:\nid:\nevent:message\ndata:a:b\n\n",
		"unknown: x\ndatabase: y\ndat: z\nretry: 5\n\n": "retry: 5\n\n",
		"data: no end":                                  "data: no end",
		"\r\n\r\r\n\n":                                  "\n\n\n\n",
		"data: é:\u2028\n":                              "data: é:\u2028\n",
	} {
		for _, read := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.DataErrReader} {
			b, err := io.ReadAll(&plainEvents{ReadCloser: io.NopCloser(read(strings.NewReader(in))), first: true})
			require.NoError(t, err)
			assert.Equal(t, want, string(b), "%q", in)
		}
	}
}

// Only the answer to initialize may name the session.
func TestSessionIsNamedOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ header, want string }{{"", "2"}, {"Mcp-Session-Id", ""}, {"Mcp-Protocol-Version", ""}} {
		req := &http.Request{Header: http.Header{}}
		if c.header != "" {
			req.Header.Set(c.header, "1")
		}
		resp := &http.Response{Header: http.Header{"Mcp-Session-Id": {"2"}}}
		tidy(req, resp)
		assert.Equal(t, c.want, resp.Header.Get("Mcp-Session-Id"), c.header)
	}
}
