package paste

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the expected files anew; read them before they are kept")

// expected is what stands beside a sample: a result, or a refusal.
type expected struct {
	Servers  []Server   `json:"servers,omitempty"`
	Missing  []string   `json:"missing,omitempty"`
	Warnings []string   `json:"warnings,omitempty"`
	Rejected []Rejected `json:"rejected,omitempty"`
	Error    *Error     `json:"error,omitempty"`
}

// The samples are what people really paste; a change in how one of them is read
// has to be seen.
func TestSamples(t *testing.T) {
	files, err := filepath.Glob("testdata/pastes/*.txt")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 60)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			var got expected
			r, perr := Parse(string(b))
			if perr != nil {
				require.True(t, errors.As(perr, &got.Error))
				assert.Regexp(t, `^[A-Z"].*[.]$`, firstUpper(got.Error.Message))
			} else {
				got = expected{Servers: r.Servers, Missing: r.Missing, Warnings: r.Warnings, Rejected: r.Rejected}
			}
			assert.Equal(t, strings.HasPrefix(filepath.Base(file), "refused-"), perr != nil)
			var out strings.Builder
			enc := json.NewEncoder(&out)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			require.NoError(t, enc.Encode(got))
			want := strings.TrimSuffix(file, ".txt") + ".json"
			if *update {
				require.NoError(t, os.WriteFile(want, []byte(out.String()), 0o644))
				return
			}
			w, err := os.ReadFile(want)
			require.NoError(t, err)
			assert.Equal(t, string(w), out.String())
		})
	}
}

// firstUpper passes over the name of the server at the beginning of a message.
func firstUpper(s string) string {
	if name, rest, ok := strings.Cut(s, ": "); ok && !strings.Contains(name, " ") {
		s = rest
	}
	return upper(s)
}
