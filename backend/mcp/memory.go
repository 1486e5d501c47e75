package mcp

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"time"

	"patchbay/backend/core"
)

// legacyFor is how long a server counts as one that must not be asked with
// server/discover. It may be a newer one by then.
const legacyFor = 7 * 24 * time.Hour

// streamEnds is how often a stream of news ends before the SDK gives up its session.
const streamEnds = 5

// record is what is remembered of one configuration. The tools are shared and
// must not be modified.
type record struct {
	Key string `json:"key"` // of the configuration, see keyOf
	// Legacy is when the server was found not to answer server/discover, or not
	// to survive it; zero if it does.
	Legacy time.Time `json:"legacy,omitzero"`
	// Quiet is when the server was found to end its stream of news again and
	// again, which costs the whole session; zero if it does not.
	Quiet time.Time `json:"quiet,omitzero"`
	// Transport is the one that worked where the configured one did not; "" otherwise.
	Transport       core.Transport `json:"transport,omitempty"`
	ProtocolVersion string         `json:"protocolVersion,omitempty"`
	ServerTitle     string         `json:"serverTitle,omitempty"`
	ServerVersion   string         `json:"serverVersion,omitempty"`
	Private         bool           `json:"private,omitempty"` // the tools are those of who is signed in
	FetchedAt       time.Time      `json:"fetchedAt,omitzero"`
	Features        []core.Feature `json:"features,omitempty"`
	Tools           []core.Tool    `json:"tools"` // nil: never listed
}

// legacy reports whether the server is known not to answer server/discover.
func (r record) legacy() bool {
	return !r.Legacy.IsZero() && time.Since(r.Legacy) < legacyFor
}

// quiet reports whether the server is known not to keep its stream of news.
func (r record) quiet() bool { return !r.Quiet.IsZero() && time.Since(r.Quiet) < legacyFor }

// memory is what was learned about servers: in memory by configuration, and for
// the configured ones in one file each. What it remembers may be wrong by now:
// everything is verified when the server is reached.
type memory struct {
	dir string // "" keeps nothing on disk

	mu    sync.Mutex
	known map[string]record // by key
}

func newMemory(dir string) *memory { return &memory{dir: dir, known: map[string]record{}} }

// keyOf identifies what determines the program or the service behind a server,
// with the values of its environment as they are configured.
func keyOf(s core.ServerSpec) string {
	b, _ := json.Marshal(core.ServerSpec{Name: s.Name, Transport: s.Transport, Command: s.Command, Args: s.Args, Env: s.Env,
		Cwd: s.Cwd, URL: s.URL, Headers: s.Headers, Auth: s.Auth}) // texts only
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func (m *memory) path(name string) string {
	sum := sha256.Sum256([]byte(name)) // a name need not be a legal file name
	return filepath.Join(m.dir, "server-"+hex.EncodeToString(sum[:8])+".json")
}

// get returns what is known of a configuration, the zero record if nothing is.
func (m *memory) get(key string) record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known[key]
}

// change notes what f learns, until the program ends.
func (m *memory) change(key string, f func(*record)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.known[key]
	r.Key = key
	f(&r)
	m.known[key] = r
}

// keep forgets the configurations that are not among keys: those that were
// changed, removed, or only tried.
func (m *memory) keep(keys map[string]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k := range m.known {
		if !keys[k] {
			delete(m.known, k)
		}
	}
}

// load reads what an earlier run knew of the server called name, if it is still
// configured as it was then.
func (m *memory) load(name, key string) record {
	if r := m.get(key); r.Key != "" || m.dir == "" {
		return r
	}
	b, err := os.ReadFile(m.path(name))
	var r record
	if err != nil || json.Unmarshal(b, &r) != nil || r.Key != key {
		return record{}
	}
	for i := range r.Tools {
		t := &r.Tools[i]
		t.Ref.Kind, t.Ref.Server = core.ToolMCP, name
		t.Ref.Digest = t.ComputeDigest()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if now, ok := m.known[key]; ok {
		return now
	}
	m.known[key] = r
	return r
}

// save writes what is known of a configured server.
func (m *memory) save(name, key string) error {
	r := m.get(key)
	if m.dir == "" || r.Key == "" {
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // schemas stay as they were written
	if err := enc.Encode(r); err != nil {
		return err
	}
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(m.dir, "server-*.new")
	if err != nil {
		return err
	}
	_, err = tmp.Write(b.Bytes())
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), m.path(name))
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}

// forget removes the file of a server that is no longer configured.
func (m *memory) forget(name string) {
	if m.dir != "" {
		os.Remove(m.path(name))
	}
}

// sweep removes the files of all servers but those of the names given, and what
// a crash left half written.
func (m *memory) sweep(names map[string]bool) {
	if m.dir == "" {
		return
	}
	keep := map[string]bool{}
	for n := range names {
		keep[m.path(n)] = true
	}
	files, _ := filepath.Glob(filepath.Join(m.dir, "server-*.json"))
	for _, f := range files {
		if !keep[f] {
			os.Remove(f)
		}
	}
	half, _ := filepath.Glob(filepath.Join(m.dir, "server-*.new"))
	for _, f := range half {
		if st, err := os.Stat(f); err == nil && time.Since(st.ModTime()) > time.Minute { // else another run may be writing it
			os.Remove(f)
		}
	}
}
