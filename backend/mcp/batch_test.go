package mcp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBatchLine(t *testing.T) {
	for arg, want := range map[string]string{
		`plain`:         `"plain"`,
		``:              `""`,
		`a b`:           `"a b"`,
		`C:\Users\me\`:  `"C:\Users\me\\"`, // its end must not escape the quote
		`C:\a b\c`:      `"C:\a b\c"`,
		`"q"`:           `"""q"""`,
		`\"`:            `"\\"""`,
		`{"a":"b\\"}`:   `"{""a"":""b\\\\""}"`,
		`%PATH%`:        `"%%cd:~,%PATH%%cd:~,%"`,
		`a&calc|b>c^d!`: `"a&calc|b>c^d!"`,
		`ü`:             `"ü"`,
	} {
		got, err := batchLine(`C:\n p\npx.cmd`, []string{arg})
		require.NoError(t, err)
		require.Equal(t, `cmd.exe /d /e:ON /v:OFF /s /c ""C:\n p\npx.cmd" `+want+`"`, got, arg)
	}
	for _, arg := range []string{"a\nb", "a\r", "\x00"} {
		_, err := batchLine(`C:\npx.cmd`, []string{arg})
		require.ErrorContains(t, err, "cannot be handed to the batch file")
	}
}
