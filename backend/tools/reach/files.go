package reach

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"patchbay/backend/core"
)

// Home makes a path that begins with "~" absolute and cleans it. Any other path
// that is not absolute is an invalid error.
func Home(path string) (string, error) {
	rest, ok := strings.CutPrefix(path, "~")
	if ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		dir, err := os.UserHomeDir()
		if err != nil {
			return "", core.Errorf(core.CodeUnavailable, "The home folder is not known: %w", err)
		}
		path = dir + rest
	}
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return "", core.Errorf(core.CodeInvalid, "%q is no absolute path and does not begin with ~/.", path)
	}
	return filepath.Clean(path), nil
}

// Real resolves links as far as the path exists.
func Real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(Real(parent), filepath.Base(path))
}

// Touches reports whether rel below dir is one of the private paths or lies in
// one, by its name, through links, or by another spelling of it where the system
// takes them for the same.
func Touches(private []string, dir, rel string) bool {
	full := filepath.Join(Real(dir), rel)
	full = filepath.Join(Real(filepath.Dir(full)), filepath.Base(full))
	for _, at := range []string{full, Real(full)} {
		for _, p := range private {
			if in, err := filepath.Rel(Real(p), at); err == nil && filepath.IsLocal(in) {
				return true
			}
		}
	}
	var ours []os.FileInfo
	for _, p := range private {
		if st, err := os.Stat(p); err == nil {
			ours = append(ours, st)
		}
	}
	for at := full; ; at = filepath.Dir(at) {
		if st, err := os.Stat(at); err == nil && slices.ContainsFunc(ours, func(o os.FileInfo) bool { return os.SameFile(o, st) }) {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

// OpenRegular opens a file in root without waiting for one that is none, such
// as a pipe. path is its name for errors.
func OpenRegular(root *os.Root, rel string, flag int, path string) (*os.File, error) {
	f, err := root.OpenFile(rel, flag|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, FileError(path, err)
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = core.Errorf(core.CodeInvalid, "%s is no file.", path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// WriteFile makes the file rel in root, or replaces it as a whole: when that
// fails, what was there before still is (but not in a folder where no file can be
// made). path is what errors call it.
func WriteFile(root *os.Root, rel, content, path string) error {
	mode := fs.FileMode(0o600)
	for range maxLinks {
		st, err := root.Lstat(rel)
		if err != nil || st.Mode()&fs.ModeSymlink == 0 {
			break
		}
		to, err := root.Readlink(rel)
		if err != nil {
			return FileError(path, err)
		}
		if filepath.IsAbs(to) { // root says no to it, when it is opened
			break
		}
		rel = filepath.Join(filepath.Dir(rel), to)
	}
	_, missing := root.Lstat(rel)
	if missing == nil { // may it be written, and is it a file?
		f, err := OpenRegular(root, rel, os.O_WRONLY, path)
		if err != nil {
			return err
		}
		st, err := f.Stat()
		if err = errors.Join(err, f.Close()); err != nil {
			return FileError(path, err)
		}
		mode = st.Mode().Perm()
	}
	part := filepath.Join(filepath.Dir(rel), ".patchbay-"+rand.Text())
	f, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	switch {
	case errors.Is(err, fs.ErrPermission) && missing == nil: // the folder is closed, the file is not
		return overwrite(root, rel, content, path)
	case err != nil:
		return FileError(path, err)
	}
	_, err = f.WriteString(content)
	if err == nil {
		err = f.Chmod(mode) // what the umask took
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(part, rel)
	}
	if err != nil {
		return FileError(path, errors.Join(err, root.Remove(part)))
	}
	return nil
}

// overwrite replaces what a file holds where no new one can be put in its place.
func overwrite(root *os.Root, rel, content, path string) error {
	f, err := OpenRegular(root, rel, os.O_WRONLY, path)
	if err != nil {
		return err
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteString(content)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return FileError(path, err)
	}
	return nil
}

const maxLinks = 20 // that are followed to a file

// FileError says of an error of the system what it means for path.
func FileError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return core.Errorf(core.CodeNotFound, "%s does not exist.", path)
	case errors.Is(err, fs.ErrPermission):
		return core.Errorf(core.CodeDenied, "%s: the system denies access.", path)
	}
	return core.Errorf(core.CodeInvalid, "%s cannot be used: %w", path, err)
}
