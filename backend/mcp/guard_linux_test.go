package mcp

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/internal/testmcp"
)

// guardians are the processes that watch over a ledger in dir.
func guardians(dir string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		b, _ := os.ReadFile(f)
		args := strings.Split(string(b), "\x00")
		if len(args) > 2 && args[1] == guardArgument && filepath.Dir(args[2]) == dir {
			pid, _ := strconv.Atoi(strings.Split(f, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}

// theGuardian waits for the one guardian of dir that is not the process but, and
// until it is what it shall be.
func theGuardian(t *testing.T, dir string, but int) (pid int) {
	t.Helper()
	require.True(t, eventually(10*time.Second, func() bool {
		all := guardians(dir)
		if len(all) != 1 || all[0] == but {
			return false
		}
		pid = all[0]
		b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
		_, mask, _ := strings.Cut(string(b), "\nSigIgn:\t")
		n, _ := strconv.ParseUint(mask[:min(16, len(mask))], 16, 64)
		return n&(1<<(syscall.SIGTERM-1)) != 0 && n&(1<<(syscall.SIGINT-1)) != 0 && n&(1<<(syscall.SIGHUP-1)) != 0
	}), "guardians: %v", guardians(dir))
	return pid
}

// A server that stops for nothing but a kill, and its helper in a group of its
// own, must not outlive a program that is killed.
func TestGuardianEndsWhatAKillLeaves(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} { // the guardian is killed, too, and a server starts after that
		spec := stdioSpec(t, "s", testmcp.Options{Faults: []string{testmcp.IgnoreEOF, testmcp.IgnoreTerm, testmcp.Fork}})
		self, err := os.Executable()
		require.NoError(t, err)
		mortal := stdioSpec(t, "mortal", testmcp.Options{})
		host, dir := startHost(t, hostJob{Specs: []core.ServerSpec{spec, mortal}, Guardian: self}, 20*time.Second)
		defer func() {
			_ = host.Process.Kill()
			_ = host.Wait()
		}()
		guard := theGuardian(t, dir, 0)
		if late {
			require.NoError(t, syscall.Kill(guard, syscall.SIGKILL))
			require.NoError(t, syscall.Kill(pids(t, mortal)[0], syscall.SIGKILL))
			guard = theGuardian(t, dir, guard)
		}
		// What a terminal or a session's end sends to all of a group.
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
			require.NoError(t, syscall.Kill(guard, sig))
		}
		list := pids(t, spec)
		require.Len(t, list, 2)
		for _, pid := range append(list, guard) {
			require.NotEmpty(t, startTime(pid))
		}
		require.NoError(t, host.Process.Kill())
		_ = host.Wait()
		began := time.Now()
		requireNobody(t, map[int]string{list[0]: startTime(list[0]), list[1]: startTime(list[1]), guard: startTime(guard)}, nil)
		t.Logf("nobody is left after %s", time.Since(began).Round(time.Millisecond))
		left, err := filepath.Glob(filepath.Join(dir, "servers-*"))
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

// The guardian holds nothing of ours but its pipe, is in nobody's group, and ends
// with the manager.
func TestGuardianIsSmallAndAlone(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	w := newWorld(t, func(o *Options) { o.StateDir, o.Guardian = dir, self })
	require.Empty(t, guardians(dir), "before there is a server")
	web, _ := httpSpec(t, "web", testmcp.Options{})
	w.start(web)
	require.Empty(t, guardians(dir), "for a server that is no process")
	w.Apply([]core.ServerSpec{web, stdioSpec(t, "a", testmcp.Options{}), stdioSpec(t, "b", testmcp.Options{})})
	w.until("a", core.StateConnected)
	w.until("b", core.StateConnected)
	pid := theGuardian(t, dir, 0)
	proc := "/proc/" + strconv.Itoa(pid)
	env, err := os.ReadFile(proc + "/environ")
	require.NoError(t, err)
	assert.Less(t, len(env), len("GOMAXPROCS=1 GOGC=10  LD_LIBRARY_PATH= ")+len(os.Getenv("LD_LIBRARY_PATH")))
	files, err := os.ReadDir(proc + "/fd")
	require.NoError(t, err)
	var pipes int
	for _, f := range files {
		to, _ := os.Readlink(proc + "/fd/" + f.Name())
		if strings.HasPrefix(to, "pipe:") {
			pipes++
		} else if to != "/dev/null" && !strings.HasPrefix(to, "anon_inode:") && !strings.HasPrefix(to, "/sys/fs/cgroup/") { // Go's runtime has those open
			assert.Fail(t, "the guardian holds "+to)
		}
	}
	assert.Equal(t, 1, pipes)
	session, err := syscall.Getpgid(pid)
	require.NoError(t, err)
	assert.Equal(t, pid, session, "a group of its own")
	status, err := os.ReadFile(proc + "/status")
	require.NoError(t, err)
	t.Logf("%q", slices.Collect(func(yield func(string) bool) {
		for _, l := range regexp.MustCompile(`(VmRSS|RssAnon|RssFile|Threads):\s*(.*)`).FindAllString(string(status), -1) {
			if !yield(l) {
				return
			}
		}
	}))
	w.Apply(nil)
	require.NoError(t, w.Close(context.Background()))
	require.Empty(t, guardians(dir))
}

// A program that is killed while it starts servers has noted each of them.
func TestGuardianOfAProgramThatDiesOfItself(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := newLedger(dir)
	name := l.path()
	spec := stdioSpec(t, "s", testmcp.Options{Faults: []string{testmcp.IgnoreEOF, testmcp.IgnoreTerm, testmcp.Fork}})
	p, err := startProcess(spec.Command, nil, childEnv(os.Environ(), os.Getenv("PATH"), spec.Env), dir, time.Second, &tail{})
	require.NoError(t, err)
	defer func() {
		p.kill()
		<-p.gone
	}()
	l.add(p.cmd.Process.Pid, p.mark, "s")
	require.True(t, eventually(10*time.Second, func() bool { return len(pids(t, spec)) == 2 }))
	// As if this program were another one by now: its number was given away.
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	first, rest, _ := bytes.Cut(b, []byte("\n"))
	first = regexp.MustCompile(`"start":"\d+"`).ReplaceAll(first, []byte(`"start":"1"`))
	require.NoError(t, os.WriteFile(name, slices.Concat(first, []byte("\n"), rest, []byte(`{"pid":12`)), 0o600))
	guard(name, strings.NewReader(""))
	requireGone(t, spec, 2)
	require.NoFileExists(t, name)
}
