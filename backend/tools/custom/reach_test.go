package custom_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/backend/tools/custom"
	"patchbay/backend/tools/reach"
)

func TestFilesOnlyInDeclaredFolders(t *testing.T) {
	dir := t.TempDir()
	in, out, ours := filepath.Join(dir, "in"), filepath.Join(dir, "out"), filepath.Join(dir, "in", "patchbay")
	for _, d := range []string{filepath.Join(in, "sub"), out, ours} {
		require.NoError(t, os.MkdirAll(d, 0o700))
	}
	require.NoError(t, os.WriteFile(filepath.Join(in, "a.txt"), []byte("hello ü"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(in, "bin"), []byte{0xff, 0xfe}, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), []byte("canary"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(ours, "tools.json"), []byte("canary"), 0o600))
	links := runtime.GOOS != "windows"
	if links {
		require.NoError(t, os.Symlink(filepath.Join(dir, "secret"), filepath.Join(in, "link")))
		require.NoError(t, os.Symlink(dir, filepath.Join(in, "up")))
		require.NoError(t, os.Symlink(filepath.Join("patchbay", "tools.json"), filepath.Join(in, "inner")))
		require.NoError(t, os.Symlink(filepath.Join(dir, "new"), filepath.Join(out, "dangling")))
	}
	b := newBench(t, func(o *custom.Options) { o.Private = []string{ours} }, nil)
	declare := func(c *core.CustomTool) { c.Folders, c.WriteFolders = []string{in}, []string{out} }
	js := func(format string, args ...any) core.Outcome {
		for i, a := range args {
			args[i] = filepath.ToSlash(a.(string))
		}
		return b.run(fmt.Sprintf(format, args...), declare)
	}
	require.Equal(t, "hello ü", js(`return await files.read("%s/a.txt")`, in).Result.Text())
	o := js(`await files.write("%s/n.txt", "one longer"); await files.write("%[1]s/n.txt", "two"); return await files.read("%[1]s/n.txt")`, out)
	require.Equal(t, "two", o.Result.Text())
	require.Contains(t, js(`return (await files.list("%s")).map(e => [e.name, e.folder, e.size])`, in).Result.Text(), `["a.txt",false,8]`)

	for _, c := range []struct{ code, why string }{
		{`return await files.read("` + dir + `/secret")`, "does not declare a folder"},
		{`return await files.read("` + in + `/../secret")`, "does not declare a folder"},
		{`return await files.read("` + in + `/sub/../../secret")`, "does not declare a folder"},
		{`return await files.read("` + in + `x/../secret")`, "does not declare a folder"},
		{`return await files.read("/etc/passwd")`, "does not declare a folder"},
		{`return await files.read("/proc/self/environ")`, "does not declare a folder"},
		{`return await files.read("a.txt")`, "no absolute path"},
		{`return await files.read("~root/x")`, "no absolute path"},
		{`return await files.read("` + in + `/a\0.txt")`, "no absolute path"},
		{`return await files.read("` + in + `")`, "is no file"},
		{`return await files.read("` + in + `/none")`, "does not exist"},
		{`return await files.read("` + in + `/bin")`, "no text in UTF-8"},
		{`return await files.write("` + in + `/a.txt", "x")`, "Add one to its writeFolders"},
		{`return await files.read("` + ours + `/tools.json")`, "files of Patchbay itself"},
		{`return await files.list("` + ours + `")`, "files of Patchbay itself"},
		{`return await files.list("` + dir + `")`, "does not declare a folder"},
	} {
		o := b.run(filepath.ToSlash(c.code), declare)
		require.Equal(t, core.CallToolError, o.Status, c.code)
		require.Contains(t, o.Result.Text(), c.why, c.code)
		require.NotContains(t, o.Result.Text(), "canary")
	}
	if links {
		for _, code := range []string{
			`return await files.read("` + in + `/link")`, `return await files.read("` + in + `/up/secret")`, `return await files.list("` + in + `/up")`,
			`return await files.read("` + in + `/inner")`, `return await files.write("` + out + `/dangling", "x")`,
		} {
			o := b.run(code, declare)
			require.Equal(t, core.CallToolError, o.Status, code)
			require.NotContains(t, o.Result.Text(), "canary")
		}
		require.NoFileExists(t, filepath.Join(dir, "new"))
	}
	o = b.run(`return await files.read("` + filepath.ToSlash(in) + `/a.txt")`)
	require.Equal(t, core.CallToolError, o.Status, "a tool that declares nothing read a file")
}

func TestFetchOnlyDeclaredHosts(t *testing.T) {
	var there *httptest.Server
	there = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/json":
			w.Header().Set("X-Method", r.Method+" "+r.Header.Get("Content-Type"))
			w.WriteHeader(201)
			fmt.Fprintf(w, `{"got":%q}`, r.Header.Get("X-Ask"))
		case "/bytes":
			_, _ = w.Write([]byte{0, 255, 1})
		case "/big":
			for range 11 << 4 {
				_, _ = w.Write(make([]byte, 64<<10))
			}
		case "/away":
			http.Redirect(w, r, strings.Replace(there.URL, "127.0.0.1", "localhost", 1)+"/json", http.StatusFound)
		case "/here":
			http.Redirect(w, r, "/json", http.StatusFound)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/around":
			http.Redirect(w, r, "/around", http.StatusFound)
		}
	}))
	defer there.Close()
	u, err := url.Parse(there.URL)
	require.NoError(t, err)
	b := newBench(t, nil, nil)
	with := func(hosts ...string) func(*core.CustomTool) {
		return func(c *core.CustomTool) { c.Hosts = hosts }
	}
	at := there.URL
	o := b.run(`const r = await fetch("`+at+`/json", { method: "post", headers: { "X-Ask": "me" }, body: new URLSearchParams({ a: 1 }) });
return [r.status, r.ok, r.headers.get("x-method"), await r.json(), r.redirected]`, with("127.0.0.1"))
	require.Equal(t, `[201,true,"POST application/x-www-form-urlencoded;charset=UTF-8",{"got":"me"},false]`, o.Result.Text())
	o = b.run(`return [...new Uint8Array(await (await fetch("`+at+`/bytes")).arrayBuffer())]`, with(u.Host))
	require.Equal(t, "[0,255,1]", o.Result.Text())
	o = b.run(`const r = await fetch("`+at+`/here"); return [r.status, r.redirected]`, with(u.Host))
	require.Equal(t, "[201,true]", o.Result.Text())

	for _, c := range []struct {
		code, why string
		hosts     []string
	}{
		{`await fetch("` + at + `/json")`, "does not declare the host", nil},
		{`await fetch("` + at + `/json")`, "does not declare the host", []string{"127.0.0.1:1"}},
		{`await fetch("` + at + `/json")`, "does not declare the host", []string{"*.0.0.1"[1:], "example.com"}},
		{`await fetch("` + at + `/away")`, "does not declare the host localhost", []string{"127.0.0.1"}},
		{`await fetch("` + at + `/file")`, "http and https only", []string{"127.0.0.1"}},
		{`await fetch("` + at + `/around")`, "redirects without end", []string{"127.0.0.1"}},
		{`await fetch("` + at + `/here", { redirect: "error" })`, "forbids", []string{"127.0.0.1"}},
		{`await (await fetch("` + at + `/big")).text()`, "larger than 10 MiB", []string{"127.0.0.1"}},
		{`await fetch("file:///etc/passwd")`, "http or https", []string{"127.0.0.1"}},
		{`await fetch("http://user@evil.example/")`, "does not declare", []string{"127.0.0.1"}},
		{`await fetch("http://evilexample.org/")`, "does not declare", []string{"*.example.org"}},
		{`await fetch("http://example.org/")`, "does not declare", []string{"*.example.org"}},
		{`await fetch("http://127.1:` + u.Port() + `/")`, "does not declare", []string{"127.0.0.1"}},
		{`await fetch("http://0x7f000001:` + u.Port() + `/")`, "does not declare", []string{"127.0.0.1"}},
		{`await fetch("http://169.254.169.254/latest")`, "does not declare", []string{"*"}[:0]},
	} {
		o := b.run(c.code, with(c.hosts...))
		require.Equal(t, core.CallToolError, o.Status, "%s: %v", c.code, o.Result.Text())
		require.Contains(t, o.Result.Text(), c.why, c.code)
	}
	// A name that leads to this machine is not enough, however it is declared.
	own, err := os.Hostname()
	require.NoError(t, err)
	if addrs, err := net.DefaultResolver.LookupNetIP(t.Context(), "ip", own); err != nil || len(addrs) == 0 || reach.Public(addrs[0].Unmap()) {
		t.Skip("this machine's name leads nowhere private")
	}
	o = b.run(`await fetch("http://`+own+`:`+u.Port()+`/json")`, with(own))
	require.Equal(t, core.CallToolError, o.Status)
	require.Contains(t, o.Result.Text(), "an address of this machine or a private network")
}
