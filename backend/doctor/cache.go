package doctor

import (
	"crypto/sha512"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"patchbay/backend/core"
)

// Cache looks into the folders of package runners. The zero value knows no
// folder and answers nothing.
type Cache struct {
	NPX string // npm's cache: the folder that holds _npx
	UV  string // uv's cache
}

// SystemCache finds the folders of this person. getenv reads the environment.
func SystemCache(getenv func(string) string) *Cache {
	c := &Cache{NPX: getenv("npm_config_cache"), UV: getenv("UV_CACHE_DIR")}
	home, err := os.UserHomeDir()
	if err != nil {
		return c
	}
	if c.NPX == "" {
		c.NPX = filepath.Join(home, ".npm")
		if local := getenv("LOCALAPPDATA"); runtime.GOOS == "windows" && local != "" {
			c.NPX = filepath.Join(local, "npm-cache")
		}
	}
	if c.UV == "" {
		c.UV = filepath.Join(home, ".cache", "uv")
		if x := getenv("XDG_CACHE_HOME"); x != "" {
			c.UV = filepath.Join(x, "uv")
		}
		if local := getenv("LOCALAPPDATA"); runtime.GOOS == "windows" && local != "" {
			c.UV = filepath.Join(local, "uv", "cache")
		}
	}
	return c
}

// Look reports whether the package that spec runs is on this machine. known is
// false when spec runs none, or when it cannot be told.
func (c *Cache) Look(spec core.ServerSpec) (pkg string, cached, known bool) {
	switch base(spec.Command) {
	case "npx":
		pkg = packageOf(spec.Args, "-p", "--package")
		if pkg == "" || c.NPX == "" || local(pkg) {
			return pkg, false, false
		}
		// npm keeps each set of packages in a folder named after their names.
		sum := sha512.Sum512([]byte(pkg))
		st, err := os.Stat(filepath.Join(c.NPX, "_npx", hex.EncodeToString(sum[:])[:16], "node_modules"))
		return pkg, err == nil && st.IsDir(), true
	case "uvx":
		pkg = packageOf(spec.Args, "--from", "")
		if pkg == "" || c.UV == "" || local(pkg) {
			return pkg, false, false
		}
		name := strings.ToLower(separators.ReplaceAllString(version.ReplaceAllString(pkg, ""), "-"))
		found, err := filepath.Glob(filepath.Join(c.UV, "wheels-v*", "pypi", name))
		return pkg, len(found) > 0, err == nil && name != ""
	}
	return "", false, false
}

var (
	separators = regexp.MustCompile(`[-_.]+`)
	version    = regexp.MustCompile(`[\[@=<>~! ].*$`)
)

// local reports whether pkg is a folder, an address or a placeholder.
func local(pkg string) bool {
	return strings.HasPrefix(pkg, ".") || strings.HasPrefix(pkg, "/") || strings.Contains(pkg, ":") || strings.Contains(pkg, "${") || strings.Contains(pkg, `\`)
}

// packageOf is the word that names the package: behind a flag, or the first
// that is no flag.
func packageOf(args []string, flags ...string) string {
	for i := 0; i < len(args); i++ {
		a := args[i]
		for _, f := range flags {
			if f != "" && a == f && i+1 < len(args) {
				return args[i+1]
			}
			if v, ok := strings.CutPrefix(a, f+"="); f != "" && ok {
				return v
			}
		}
		switch a {
		case "--registry", "--cache", "--userconfig", "--python", "--with", "--index-url", "--directory":
			i++
			continue
		}
		if !strings.HasPrefix(a, "-") {
			return a
		}
	}
	return ""
}
