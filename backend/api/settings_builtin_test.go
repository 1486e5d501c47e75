package api_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"patchbay/backend/api"
	"patchbay/backend/api/wire"
	"patchbay/backend/config"
	"patchbay/backend/core"
	"patchbay/backend/store"
	"patchbay/backend/tools"
)

func TestFoldersOfTheBuiltInTools(t *testing.T) {
	s, err := store.Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	c, err := config.Open(filepath.Join(t.TempDir(), "tools.json"))
	require.NoError(t, err)
	f := api.NewSettings(s.App, c, wire.Info{}, func() string { return "" }, func(tools.Naming) {}, nil)
	dir := filepath.Join(t.TempDir(), "project")
	require.NoError(t, os.Mkdir(dir, 0o755))
	view, err := f.Get(t.Context())
	require.NoError(t, err)
	for _, bad := range []string{"", "project", dir + "/none", "/etc/passwd"} {
		view.Builtin.Folders = []core.ToolFolder{{Path: bad}}
		require.Equal(t, core.CodeInvalid, core.CodeOf(f.Update(t.Context(), view)), bad)
	}
	view.Builtin.Folders = []core.ToolFolder{{Path: dir + "/../project/", Write: true}}
	require.NoError(t, f.Update(t.Context(), view))
	access, err := api.BuiltinAccess(t.Context(), s.App)
	require.NoError(t, err)
	require.Equal(t, []core.ToolFolder{{Path: dir, Write: true}}, access.Folders)
	// A folder that has gone meanwhile must not stop the change of a theme.
	require.NoError(t, os.Remove(dir))
	view, err = f.Get(t.Context())
	require.NoError(t, err)
	view.Theme = "dark"
	require.NoError(t, f.Update(t.Context(), view))
}
