package secret

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
)

// fakeKeychain stands in for the system's.
type fakeKeychain struct {
	mu      sync.Mutex
	entries map[string]string
	broken  error
	calls   int
}

func (f *fakeKeychain) Get(service, account string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if f.broken != nil {
		return "", f.broken
	}
	v, ok := f.entries[service+"/"+account]
	if !ok {
		return "", ErrNoKey
	}
	return v, nil
}

func (f *fakeKeychain) Set(service, account, value string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if f.broken == nil {
		f.entries[service+"/"+account] = value
	}
	return f.broken
}

func TestKeychainHoldsTheKey(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	k := &fakeKeychain{entries: map[string]string{}}
	s, err := OpenWith(dir, k)
	require.NoError(t, err)
	_, ok, err := s.Get(ctx, "a")
	require.NoError(t, err)
	assert.False(t, ok)
	require.NoError(t, s.Delete(ctx, "a"))
	assert.Zero(t, k.calls, "without secrets the keychain is left alone")
	assert.Contains(t, s.Where(), "system keychain")

	require.NoError(t, s.Set(ctx, "github/token", "ghp_value"))
	require.NoError(t, s.Set(ctx, "b", ""))
	assert.Len(t, k.entries, 1)
	assert.NoFileExists(t, filepath.Join(dir, identityFile))

	again, err := OpenWith(dir, k)
	require.NoError(t, err)
	v, ok, err := again.Get(ctx, "github/token")
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, "ghp_value", v)
	names, err := again.Names(ctx)
	require.NoError(t, err)
	assert.Equal(t, []string{"b", "github/token"}, names)
	require.NoError(t, again.Delete(ctx, "b"))
	names, err = s.Names(ctx)
	require.NoError(t, err)
	assert.Equal(t, []string{"github/token"}, names)

	for _, e := range files(t, dir) {
		assert.NotContains(t, e.text, "ghp_value", e.name)
		assert.EqualValues(t, 0o600, e.mode, e.name)
	}
}

type file struct {
	name, text string
	mode       os.FileMode
}

func files(t *testing.T, dir string) (out []file) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		out = append(out, file{e.Name(), string(b), info.Mode().Perm()})
	}
	return out
}

func TestWithoutKeychainTheKeyIsInAFile(t *testing.T) {
	ctx := context.Background()
	for name, k := range map[string]Keychain{"none": nil, "broken": &fakeKeychain{broken: errors.New("no service")}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, err := OpenWith(dir, k)
			require.NoError(t, err)
			require.NoError(t, s.Set(ctx, "a", "value"))
			assert.Contains(t, s.Where(), identityFile)
			again, err := OpenWith(dir, &fakeKeychain{entries: map[string]string{}}) // a keychain appears
			require.NoError(t, err)
			v, _, err := again.Get(ctx, "a")
			require.NoError(t, err)
			assert.Equal(t, "value", v)
			for _, e := range files(t, dir) {
				assert.EqualValues(t, 0o600, e.mode, e.name)
			}
		})
	}
}

func TestALostKeyIsSaidAndNothingIsOverwritten(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	k := &fakeKeychain{entries: map[string]string{}}
	s, err := OpenWith(dir, k)
	require.NoError(t, err)
	require.NoError(t, s.Set(ctx, "a", "value"))
	before, err := os.ReadFile(filepath.Join(dir, secretsFile))
	require.NoError(t, err)

	for name, now := range map[string]Keychain{
		"gone":   &fakeKeychain{entries: map[string]string{}},
		"locked": &fakeKeychain{broken: errors.New("locked")},
		"none":   nil,
		"other":  other{},
	} {
		s, err := OpenWith(dir, now)
		require.NoError(t, err)
		_, _, err = s.Get(ctx, "a")
		assert.Equal(t, core.CodeUnavailable, core.CodeOf(err), name)
		assert.Error(t, s.Set(ctx, "a", "new"), name)
		after, err := os.ReadFile(filepath.Join(dir, secretsFile))
		require.NoError(t, err)
		assert.Equal(t, before, after, name)
	}
	require.NoError(t, os.Remove(filepath.Join(dir, accountFile)))
	fresh, err := OpenWith(dir, k)
	require.NoError(t, err)
	assert.Error(t, fresh.Set(ctx, "a", "new"))
}

type other struct{}

func (other) Get(string, string) (string, error) {
	return "AGE-SECRET-KEY-1GQ9778VQXMMJVE8SK7J6VT8UJ4HDQAJUVSFCWCM02D8GEWQ72PVQ2Y5J33", nil
}
func (other) Set(string, string, string) error { return nil }

func TestDamagedFile(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	s, err := OpenWith(dir, nil)
	require.NoError(t, err)
	require.NoError(t, s.Set(ctx, "a", "value"))
	path := filepath.Join(dir, secretsFile)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, b[:len(b)-5], 0o600))
	_, _, err = s.Get(ctx, "a")
	assert.Equal(t, core.CodeUnavailable, core.CodeOf(err))
	assert.NotContains(t, err.Error(), "value")
}

func TestLimits(t *testing.T) {
	ctx := context.Background()
	s, err := OpenWith(t.TempDir(), nil)
	require.NoError(t, err)
	assert.Equal(t, core.CodeInvalid, core.CodeOf(s.Set(ctx, " ", "v")))
	assert.Equal(t, core.CodeInvalid, core.CodeOf(s.Set(ctx, "a\nb", "v")))
	assert.Equal(t, core.CodeTooLarge, core.CodeOf(s.Set(ctx, "a", strings.Repeat("x", MaxValue+1))))
	_, err = OpenWith(filepath.Join(t.TempDir(), "none"), nil)
	assert.Error(t, err)
}

func TestStoresDoNotLoseEachOther(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	var stores []*Store
	for range 3 {
		s, err := OpenWith(dir, nil)
		require.NoError(t, err)
		stores = append(stores, s)
	}
	var wg sync.WaitGroup
	for i := range 9 {
		wg.Go(func() { assert.NoError(t, stores[i%3].Set(ctx, fmt.Sprint("n", i), "v")) })
	}
	wg.Wait()
	names, err := stores[0].Names(ctx)
	require.NoError(t, err)
	assert.Len(t, names, 9)
}

func TestNoSessionBusMeansNoKeychain(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	assert.False(t, hasSessionBus())
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/x")
	assert.True(t, hasSessionBus())
}
