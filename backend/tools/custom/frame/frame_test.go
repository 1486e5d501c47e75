package frame_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"patchbay/backend/tools/custom/frame"
)

func TestWhatIsSentIsRead(t *testing.T) {
	var pipe bytes.Buffer
	w := frame.NewWriter(&pipe)
	sent := []frame.Frame{
		{Kind: frame.Ready},
		{Kind: frame.Done, Body: json.RawMessage(`null`)},
		{Kind: frame.Ask, ID: 7, Op: "fetch", Body: json.RawMessage(`{"a":[1,"}"]}`)},
		{Kind: frame.Answer, ID: 8, Body: json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)},
		{Kind: frame.Fail, Problem: &frame.Problem{Cause: frame.Threw, Message: "no"}},
	}
	for _, f := range sent {
		require.NoError(t, w.Send(f))
	}
	for _, f := range sent {
		got, err := frame.Read(&pipe)
		require.NoError(t, err)
		require.Equal(t, f, got)
	}
	_, err := frame.Read(&pipe)
	require.ErrorIs(t, err, io.EOF)
}

// A body that is no JSON could say things of its own; one that is too large would end the reader.
func TestWhatIsNotSent(t *testing.T) {
	var pipe bytes.Buffer
	w := frame.NewWriter(&pipe)
	for _, body := range []string{`1,"kind":"done"`, `{`, `"` + strings.Repeat("x", frame.Max-10) + `"`} {
		require.Error(t, w.Send(frame.Frame{Kind: frame.Ask, Body: json.RawMessage(body)}))
	}
	require.Zero(t, pipe.Len())
}
