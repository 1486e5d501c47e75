package mcp

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/internal/testmcp"
)

// soakFor is the environment variable that says how long the soak test takes.
const soakFor = "PATCHBAY_SOAK"

// usage is what a process holds.
type usage struct {
	goroutines, files int
	heap, rss         int64 // bytes
}

func (u usage) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, heap %.1f MB, RSS %.1f MB", u.goroutines, u.files, float64(u.heap)/1e6, float64(u.rss)/1e6)
}

func used(t *testing.T) usage {
	t.Helper()
	debug.FreeOSMemory()
	debug.FreeOSMemory() // what finalizers let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	statm, err := os.ReadFile("/proc/self/statm")
	require.NoError(t, err)
	pages, err := strconv.ParseInt(strings.Fields(string(statm))[1], 10, 64)
	require.NoError(t, err)
	return usage{runtime.NumGoroutine(), len(files), int64(m.HeapAlloc), pages * int64(os.Getpagesize())}
}

// soak is a fleet that is ill-treated.
type soak struct {
	*world
	t     *testing.T
	base  []core.ServerSpec
	https []*restartable
	did   sync.Map // what was done → *atomic.Int64
	wg    sync.WaitGroup
}

// restartable is a server over HTTP in a process of its own, at the same address
// in each of its lives.
type restartable struct {
	o   testmcp.Options
	mu  sync.Mutex
	cmd *exec.Cmd
	in  *os.File // its end ends it
}

func (r *restartable) start(t *testing.T) {
	self, err := os.Executable()
	if !assert.NoError(t, err) {
		return
	}
	in, w, err := os.Pipe()
	if !assert.NoError(t, err) {
		return
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), testmcp.Variable+"="+testmcp.Env(r.o)[testmcp.Variable])
	cmd.Stdin = in
	assert.NoError(t, cmd.Start())
	in.Close()
	r.cmd, r.in = cmd, w
}

func (r *restartable) kill() {
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
	r.in.Close()
}

func newSoak(t *testing.T) *soak {
	dir := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	s := &soak{t: t}
	s.world = newWorld(t, func(o *Options) {
		o.StateDir, o.CacheDir, o.Guardian = dir, filepath.Join(dir, "cache"), self
		o.Emit, o.Publish = nil, nil // which would be kept
	})
	stdio := func(name string, start core.StartMode, o testmcp.Options) {
		spec := stdioSpec(t, name, o)
		spec.Start, spec.IdleStopMS = start, 300
		s.base = append(s.base, spec)
	}
	stdio("calm", "", testmcp.Options{Tools: 10})
	stdio("old", "", testmcp.Options{Tools: 10})
	stdio("new", "", testmcp.Options{Tools: 10, Faults: []string{testmcp.Modern}})
	stdio("chatty", "", testmcp.Options{Tools: 10, Faults: []string{testmcp.Junk, testmcp.Double}})
	stdio("stubborn", "", testmcp.Options{Faults: []string{testmcp.IgnoreEOF, testmcp.IgnoreTerm, testmcp.Fork}})
	stdio("asleep", core.StartOnDemand, testmcp.Options{Tools: 10})
	for _, h := range []struct {
		name      string
		transport core.Transport
		path      string
		faults    []string
	}{
		{"web", core.TransportHTTP, "/mcp", []string{testmcp.GetStream}},
		{"webevents", core.TransportHTTP, "/mcp", []string{testmcp.EventAnswers}},
		{"webnew", core.TransportHTTP, "/mcp", []string{testmcp.Modern}},
		{"websse", core.TransportSSE, "/sse", []string{testmcp.LegacySSE}},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		addr := l.Addr().String()
		require.NoError(t, l.Close())
		r := &restartable{o: testmcp.Options{Tools: 10, HTTP: true, Addr: addr, Faults: h.faults}}
		r.start(t)
		s.https = append(s.https, r)
		s.base = append(s.base, core.ServerSpec{Name: h.name, Transport: h.transport, URL: "http://" + addr + h.path})
	}
	t.Cleanup(func() {
		for _, r := range s.https {
			r.kill()
		}
	})
	return s
}

func (s *soak) note(what string) {
	n, _ := s.did.LoadOrStore(what, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
}

// victim is any server but the one that must not notice anything.
func (s *soak) victim() core.ServerSpec { return s.base[1+rand.IntN(len(s.base)-1)] }

// process is any process of a victim; nil if there is none at the moment.
func (s *soak) process() *process {
	var all []*process
	calm := s.calm()
	s.d.procs.Range(func(p, _ any) bool {
		if p := p.(*process); p.cmd.Process.Pid != calm {
			all = append(all, p)
		}
		return true
	})
	if len(all) == 0 {
		return nil
	}
	return all[rand.IntN(len(all))]
}

// calm is the process of the server that is left alone.
func (s *soak) calm() int {
	list := pids(s.t, s.base[0])
	if len(list) == 0 {
		return 0
	}
	return list[0]
}

// harm does one random thing.
func (s *soak) harm(ctx context.Context, n int) {
	v := s.victim()
	switch rand.IntN(12) {
	case 0:
		if p := s.process(); p != nil {
			s.note("kill")
			_ = p.cmd.Process.Kill()
		}
	case 1:
		if p := s.process(); p != nil {
			s.note("hang")
			_ = p.cmd.Process.Signal(syscall.SIGSTOP)
			s.wg.Go(func() {
				pause(ctx, time.Duration(rand.IntN(800))*time.Millisecond)
				_ = p.cmd.Process.Signal(syscall.SIGCONT)
			})
		}
	case 2:
		r := s.https[rand.IntN(len(s.https))]
		s.wg.Go(func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			if rand.IntN(2) == 0 {
				s.note("kill over HTTP")
				r.kill()
				pause(ctx, time.Duration(rand.IntN(300))*time.Millisecond)
				r.start(s.t)
				return
			}
			s.note("hang over HTTP")
			_ = r.cmd.Process.Signal(syscall.SIGSTOP)
			pause(ctx, time.Duration(rand.IntN(800))*time.Millisecond)
			_ = r.cmd.Process.Signal(syscall.SIGCONT)
		})
	case 3:
		s.note("reconnect")
		_ = s.Reconnect(ctx, v.Name)
	case 4:
		s.note("disconnect")
		_ = s.Disconnect(ctx, v.Name)
		s.wg.Go(func() {
			pause(ctx, time.Duration(rand.IntN(300))*time.Millisecond)
			_ = s.Reconnect(ctx, v.Name)
		})
	case 5:
		s.note("apply")
		specs := append([]core.ServerSpec(nil), s.base...)
		i := 1 + rand.IntN(len(specs)-1)
		switch rand.IntN(3) {
		case 0: // gone
			specs = append(specs[:i], specs[i+1:]...)
		case 1: // another program, each time
			specs[i].Env = map[string]string{testmcp.Variable: specs[i].Env[testmcp.Variable], "GENERATION": strconv.Itoa(n)}
		default:
			specs[i].TimeoutMS = int64(n)
		}
		s.Apply(specs)
	case 6:
		s.note("trial")
		s.wg.Go(func() {
			c, cancel := context.WithTimeout(ctx, time.Duration(rand.IntN(500))*time.Millisecond)
			defer cancel()
			v.Args = []string{strconv.Itoa(n)}
			s.Test(c, v, nil)
		})
	case 7:
		s.note("refresh")
		s.wg.Go(func() {
			c, cancel := context.WithTimeout(ctx, 2*time.Second)
			defer cancel()
			_ = s.Refresh(c, v.Name)
		})
	default:
		tool := []struct{ name, args string }{
			{"echo", `{"text":"x"}`}, {"hang", `{}`}, {"slow", `{"ms":10,"steps":20}`}, {"big", `{"bytes":300000}`}, {"crash", `{}`}, {"nan", `{}`}, {"grow", `{}`},
			{"flood", `{"steps":2000,"text":"log"}`}, {"flood", `{"steps":2000,"text":"changed"}`}, {"flood", `{"steps":2000,"text":"progress"}`},
			{"flood", `{"steps":2000,"text":"stderr"}`}, {"flood", `{"steps":2000,"text":"junk"}`},
		}[rand.IntN(12)]
		if tool.name == "crash" && v.Transport != core.TransportStdio {
			return // nobody would start it again
		}
		s.note("call " + tool.name)
		s.wg.Go(func() {
			c, cancel := context.WithTimeout(ctx, time.Duration(50+rand.IntN(1000))*time.Millisecond)
			defer cancel()
			_, _ = s.Call(c, ref(v.Name, tool.name), fmt.Sprint("call", n), []byte(tool.args), func(core.Chunk) {})
		})
	}
}

// chaos harms the fleet for d while the calm server is called all the time.
func (s *soak) chaos(d time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	s.wg.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			c, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			text := fmt.Sprint("calm ", i)
			res, err := s.Call(c, ref("calm", "echo"), text, fmt.Appendf(nil, `{"text":%q}`, text), nil)
			cancel()
			if !assert.NoError(s.t, err) || !assert.Equal(s.t, text, res.Text()) {
				return
			}
			s.note("calm call")
			pause(ctx, 5*time.Millisecond)
		}
	})
	for n := 0; ctx.Err() == nil; n++ {
		s.harm(ctx, n)
		pause(ctx, time.Duration(rand.IntN(40))*time.Millisecond)
	}
	s.wg.Wait()
}

// settle brings the fleet back to what it was at the begin.
func (s *soak) settle() usage {
	s.t.Helper()
	s.Apply(s.base)
	for _, spec := range s.base[1:] {
		require.NoError(s.t, s.Reconnect(context.Background(), spec.Name))
	}
	for _, spec := range s.base {
		if spec.Start == core.StartOnDemand {
			continue
		}
		require.True(s.t, eventually(time.Minute, func() bool {
			c, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			_, err := s.Call(c, ref(spec.Name, "echo"), "settle", []byte(`{"text":"x"}`), nil)
			if s.status(spec.Name).State == core.StateCrashLoop || s.status(spec.Name).State == core.StateFailed {
				_ = s.Reconnect(context.Background(), spec.Name)
			}
			return err == nil
		}), "%s: %+v\n%s", spec.Name, s.status(spec.Name), strings.Join(s.Log(spec.Name), "\n"))
	}
	require.True(s.t, eventually(time.Minute, func() bool { return s.status("asleep").State == core.StateOnDemand }), "%+v", s.status("asleep"))
	procs := 0
	require.True(s.t, eventually(20*time.Second, func() bool {
		procs = 0
		s.d.procs.Range(func(_, _ any) bool {
			procs++
			return true
		})
		return procs == 5
	}), "%d processes instead of 5", procs)
	var least usage
	eventually(2*time.Second, func() bool { // what is on its way out may go
		if u := used(s.t); least.goroutines == 0 || u.goroutines < least.goroutines {
			least = u
		}
		return false
	})
	return least
}

// A fleet that is killed, stopped, flooded, changed and reconnected at random
// must leave nothing behind, however long it goes on, and a server beside it
// must not notice.
func TestSoak(t *testing.T) {
	d := 12 * time.Second
	if v := os.Getenv(soakFor); v != "" {
		var err error
		d, err = time.ParseDuration(v)
		require.NoError(t, err)
	} else if testing.Short() {
		t.Skip("takes half a minute")
	}
	s := newSoak(t)
	s.Apply(s.base)
	s.chaos(max(3*time.Second, min(d/10, time.Minute)))
	before := s.settle()
	t.Logf("warm:  %s", before)
	part := max(d/10, min(d, 5*time.Second))
	var after usage
	for left := d; left > 0; left -= part {
		s.chaos(min(part, left))
		after = s.settle()
		t.Logf("then:  %s", after)
	}
	var total int64
	s.did.Range(func(what, n any) bool {
		t.Logf("%7d × %s", n.(*atomic.Int64).Load(), what)
		total += n.(*atomic.Int64).Load()
		return true
	})
	assert.Len(t, pids(t, s.base[0]), 1, "the calm server was never started again")
	// What differs between two settled moments are connections that HTTP keeps.
	if !assert.LessOrEqual(t, after.goroutines, before.goroutines+15) {
		buf := make([]byte, 1<<20)
		t.Logf("%s", buf[:runtime.Stack(buf, true)])
	}
	assert.LessOrEqual(t, after.files, before.files+10)
	assert.LessOrEqual(t, after.heap, before.heap+10<<20)
	if !raceDetector { // whose own memory grows for long
		assert.LessOrEqual(t, after.rss, before.rss+30<<20)
	}

	require.NoError(t, s.Close(context.Background()))
	assert.Empty(t, guardians(s.o.StateDir))
	files, err := filepath.Glob(filepath.Join(s.o.StateDir, "servers-*"))
	require.NoError(t, err)
	assert.Empty(t, files, "the ledger is empty")
	for _, spec := range s.base {
		if spec.Transport == core.TransportStdio { // by its environment: numbers were used again since
			assert.True(t, eventually(2*time.Second, func() bool { return len(marked("PIDFILE="+spec.Env["PIDFILE"])) == 0 }), "a process of %s is left", spec.Name)
		}
	}
	u := used(t)
	t.Logf("closed: %s", u)
}
