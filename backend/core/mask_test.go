package core_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
)

// Would catch: a secret that comes back spelled as programs spell it, and is shown.
func TestASecretIsMaskedHoweverItIsSpelled(t *testing.T) {
	const secret = `p4ss/w+rd="<ü>"&\`
	mask := core.Masker("abc", secret, "first line of a key\nsecond line of a key")
	quoted, err := json.Marshal(secret)
	require.NoError(t, err)
	for name, s := range map[string]string{
		"plain": secret, "query": url.QueryEscape(secret), "path": url.PathEscape(secret), "small": lower(url.QueryEscape(secret)),
		"json": string(quoted[1 : len(quoted)-1]), "hex": hex.EncodeToString([]byte(secret)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"one line": "second line of a key",
	} {
		require.Equal(t, "a ••••••••.", mask("a "+s+"."), name)
	}
	for _, before := range []string{"", "u", "u:", "use", "user"} {
		for _, after := range []string{"", "x", "xy"} {
			for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
				got := mask(e.EncodeToString([]byte(before + secret + after)))
				require.Contains(t, got, "••••••••")
				require.Less(t, len(strings.ReplaceAll(got, "••••••••", "")), 12, got)
			}
		}
	}
	require.Equal(t, "abc def", mask("abc def"), "one that is too short stays")
	require.Equal(t, "as it is", core.Masker()("as it is"))
}

// lower writes the escapes of s in small letters and leaves the rest.
func lower(s string) string {
	return strings.NewReplacer("%2F", "%2f", "%2B", "%2b", "%3D", "%3d", "%3C", "%3c", "%3E", "%3e", "%C3%BC", "%c3%bc", "%5C", "%5c").Replace(s)
}
