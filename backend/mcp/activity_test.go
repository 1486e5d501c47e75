package mcp

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/backend/event"
)

// The timeline shows every message both ways, joined and timed, over every
// transport and in both revisions, and no secret.
func TestTimelineShowsTheMessages(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, spec core.ServerSpec, modern bool) {
		w := newWorld(t, func(o *Options) {
			o.Lookup = nil
		})
		w.Apply([]core.ServerSpec{spec})
		require.NoError(t, w.WaitSettled(t.Context()))
		_, err := w.asks("s", "echo", `{"text":"find me"}`)
		require.NoError(t, err)
		all, err := w.Activity("s", 0)
		require.NoError(t, err)
		var sent, got *core.Activity
		last := int64(0)
		for i := range all {
			a := &all[i]
			assert.Greater(t, a.Seq, last, "the order is that of the wire")
			last = a.Seq
			if a.Method == "tools/call" && !a.Answer {
				sent = a
			} else if a.Method == "tools/call" {
				got = a
			}
			if a.Kind == core.ActivitySent || a.Kind == core.ActivityReceived {
				assert.True(t, a.Cut || json.Valid([]byte(a.Text)), a.Text)
			}
		}
		require.NotNil(t, sent)
		require.NotNil(t, got)
		assert.Equal(t, core.ActivitySent, sent.Kind)
		assert.Contains(t, sent.Text, "find me")
		assert.Equal(t, core.ActivityReceived, got.Kind)
		assert.Equal(t, sent.ID, got.ID)
		require.NotNil(t, got.Millis)
		assert.Positive(t, *got.Millis)
		assert.False(t, got.Failed)
		assert.EqualValues(t, len(got.Text), got.Bytes)
		more, err := w.Activity("s", last)
		require.NoError(t, err)
		assert.Empty(t, more, "what is known is not sent again")
		require.Eventually(t, func() bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, p := range w.events {
				if p == (event.ServerActivity{Server: "s"}) {
					return true
				}
			}
			return false
		}, 10*time.Second, 10*time.Millisecond)
		require.NoError(t, w.ClearActivity("s"))
		all, err = w.Activity("s", 0)
		require.NoError(t, err)
		assert.Empty(t, all)
	})
}

func TestTimelineHidesSecretsAndForgetsTheOldest(t *testing.T) {
	r := &logRing{}
	r.secrets.learn([]string{"hunter2hunter2"})
	r.frame(core.ActivitySent, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"key":"hunter2hunter2"}}`))
	r.frame(core.ActivityReceived, []byte(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}`))
	got := r.activity(0)
	require.Len(t, got, 2)
	assert.NotContains(t, got[0].Text, "hunter2hunter2")
	assert.True(t, got[1].Failed)
	long := []byte(`{"jsonrpc":"2.0","result":"` + strings.Repeat("x", 100_000) + `","id":7}`)
	r.frame(core.ActivityReceived, long)
	got = r.activity(2)
	assert.True(t, got[0].Cut)
	assert.EqualValues(t, len(long), got[0].Bytes)
	assert.Equal(t, "7", got[0].ID, "also where the id stands at the very end")
	for range 3000 {
		r.frame(core.ActivityReceived, long)
		r.add("", "line")
	}
	assert.LessOrEqual(t, r.kept, frameBytes)
	assert.LessOrEqual(t, len(r.frames.all()), frames)
	assert.Len(t, r.lines.all(), logLines)
	assert.LessOrEqual(t, cap(r.frames.items), 8*frames, "what is forgotten must be given back")
}

// However a stream is cut into reads, its messages come out whole.
func TestTappedStream(t *testing.T) {
	text := ": hello\n\nevent: message\nid: 1\ndata: {\"jsonrpc\":\"2.0\",\r\ndata:\"method\":\"a\"}\r\n\r\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"b\"}\n\n" +
		"data: " + `{"jsonrpc":"2.0","id":3,"result":"` + strings.Repeat("y", 10_000) + "\"}\n\n"
	for _, read := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.HalfReader} {
		log := &logRing{}
		tr := &tapped{base: streamed(text), log: log}
		req, err := http.NewRequest(http.MethodPost, "http://x", strings.NewReader(`{"jsonrpc":"2.0","id":3,"method":"m"}`))
		require.NoError(t, err)
		resp, err := tr.RoundTrip(req)
		require.NoError(t, err)
		b, err := io.ReadAll(read(resp.Body))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		plain := strings.NewReplacer(": hello\n", "", "\r\n", "\n").Replace(text)
		assert.Equal(t, plain, string(b), "the reader must see what came, but for what says nothing")
		got := log.activity(0)
		require.Len(t, got, 4)
		assert.Equal(t, "m", got[0].Method)
		assert.Equal(t, []string{"a", "b"}, []string{got[1].Method, got[2].Method})
		assert.True(t, got[3].Cut)
		assert.Equal(t, "m", got[3].Method)
		assert.Greater(t, got[3].Bytes, int64(10_000))
	}
}

type streamed string

func (a streamed) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}
