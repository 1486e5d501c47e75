// Package bundle reads MCP bundles (.mcpb, formerly .dxt): zip archives with a
// manifest.json that says how to start the server inside. An archive is
// untrusted: it is looked at as a whole and refused before a byte of it is
// written.
package bundle

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"patchbay/backend/core"
)

// Limits of an archive.
const (
	MaxBytes    = 96 << 20  // of the file
	MaxUnpacked = 512 << 20 // bytes of all files
	MaxEntries  = 20_000
	maxManifest = 1 << 20
	// maxRatio is how many times larger than packed all files may be; real
	// bundles stay below 10. Small archives are not judged by it.
	maxRatio      = 100
	ratioCounts   = 8 << 20
	maxNameLength = 240
)

// Bundle is an archive that was looked at and may be unpacked.
type Bundle struct {
	// Server is the configuration, with "${__dirname}" in the place of the
	// folder where the bundle will lie.
	Server core.ServerSpec
	// Inputs are the values that the bundle asks a person for.
	Inputs   []Input
	Warnings []string
	// Version and Description are the bundle's own words; both may be "".
	Version, Description string
	// Digest is the SHA-256 of the archive, in hex.
	Digest string

	files []*zip.File
}

// Input is a value that a bundle asks for.
type Input struct {
	Place       string // where it belongs, as "env.API_KEY" or "args.2"
	Title       string // never ""
	Description string // may be ""
	Secret      bool
	Required    bool
}

// Is reports whether data begins as an archive does.
func Is(data []byte) bool { return bytes.HasPrefix(data, []byte("PK\x03\x04")) }

// IsBundle reports whether a file is a bundle by its name.
func IsBundle(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".mcpb", ".dxt", ".zip":
		return true
	}
	return false
}

// Read looks at the archive data for the system goos ("linux", "darwin",
// "windows"). It reads and checks every file in it and writes nothing. The
// bundle keeps data.
func Read(ctx context.Context, data []byte, goos string) (*Bundle, error) {
	if len(data) > MaxBytes {
		return nil, core.Errorf(core.CodeTooLarge, "The bundle is larger than %d MiB. Unpack it yourself and paste the command that starts it.", MaxBytes>>20)
	}
	archive, signed, err := trim(data)
	if err != nil {
		return nil, err
	}
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, core.Errorf(core.CodeInvalid, "The bundle is damaged: it cannot be read as a zip archive. Download it again: %w", err)
	}
	b := &Bundle{files: r.File}
	manifest, err := b.check(ctx)
	if err != nil {
		return nil, err
	}
	if err := b.describe(manifest, goos); err != nil {
		return nil, err
	}
	if signed {
		b.Warnings = append(b.Warnings, "The bundle carries a signature, which was not checked.")
	}
	sum := sha256.Sum256(data)
	b.Digest = hex.EncodeToString(sum[:])
	return b, nil
}

// check reads every file and returns the manifest.
func (b *Bundle) check(ctx context.Context) (manifest []byte, err error) {
	names := newNames()
	var total, packed uint64
	for _, f := range b.files {
		if err := names.add(f); err != nil {
			return nil, err
		}
		total += f.UncompressedSize64
		packed += f.CompressedSize64
		if f.UncompressedSize64 > MaxUnpacked || total > MaxUnpacked {
			return nil, core.Errorf(core.CodeTooLarge, "The bundle would need more than %d MiB unpacked. It was refused.", MaxUnpacked>>20)
		}
	}
	if total > ratioCounts && total > packed*maxRatio {
		return nil, core.Errorf(core.CodeTooLarge, "The bundle is packed %d times smaller than it is, as an archive made to fill a disk would be. It was refused.", total/max(packed, 1))
	}
	for _, f := range b.files {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if f.FileInfo().IsDir() {
			continue
		}
		var keep bytes.Buffer
		into := io.Discard
		if f.Name == "manifest.json" {
			if f.UncompressedSize64 > maxManifest {
				return nil, core.Errorf(core.CodeTooLarge, "The manifest.json of the bundle is larger than %d MiB.", maxManifest>>20)
			}
			into = &keep
		}
		if err := copyFile(into, f); err != nil {
			return nil, err
		}
		if into == &keep {
			manifest = keep.Bytes()
		}
	}
	if manifest == nil {
		return nil, core.Errorf(core.CodeInvalid, "The archive holds no manifest.json at its top, so it is not an MCP bundle.")
	}
	return manifest, nil
}

// copyFile unpacks f, which must be as long as it says and have its checksum.
func copyFile(w io.Writer, f *zip.File) error {
	r, err := f.Open()
	if err == nil {
		var n int64
		n, err = io.Copy(w, io.LimitReader(r, int64(f.UncompressedSize64)+1))
		if err == nil && uint64(n) != f.UncompressedSize64 {
			err = errors.New("it is not as long as the archive says")
		}
		err = errors.Join(err, r.Close())
	}
	if err != nil {
		return core.Errorf(core.CodeInvalid, "%q in the bundle is damaged. Download the bundle again: %w", f.Name, err)
	}
	return nil
}

// Place returns spec with folder in the place of "${__dirname}".
func Place(spec core.ServerSpec, folder string) core.ServerSpec {
	return replaceAll(spec, func(s string) string { return dirname().ReplaceAllLiteralString(s, filepath.ToSlash(folder)) })
}

// Move returns spec with the folder to in the place of the folder from.
func Move(spec core.ServerSpec, from, to string) core.ServerSpec {
	return replaceAll(spec, func(s string) string { return strings.ReplaceAll(s, filepath.ToSlash(from), filepath.ToSlash(to)) })
}

// Inside reports whether command is a program in a bundle below parent.
func Inside(command, parent string) bool {
	return strings.HasPrefix(command, filepath.ToSlash(parent)+"/")
}

// Folder is where Unpack puts the bundle below parent, as long as that is free.
func (b *Bundle) Folder(parent string) string {
	return filepath.Join(parent, safeFolder(b.Server.Name)+"-"+b.Digest[:8])
}

// Unpack writes the bundle into a fresh folder below parent and returns the
// folder. Either all of it is there afterwards, or nothing.
func (b *Bundle) Unpack(ctx context.Context, parent string) (folder string, err error) {
	fail := func(err error) (string, error) {
		var ce *core.Error
		if errors.As(err, &ce) || ctx.Err() != nil {
			return "", err
		}
		return "", core.Errorf(core.CodeUnavailable, "The bundle cannot be unpacked below %s: %w", parent, err)
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return fail(err)
	}
	temp := filepath.Join(parent, ".unpacking-"+uuid.NewString())
	if err := os.Mkdir(temp, 0o700); err != nil {
		return fail(err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(temp))
		}
	}()
	if err := b.write(ctx, temp); err != nil {
		return fail(err)
	}
	for n := 1; ; n++ {
		folder = b.Folder(parent)
		if n > 1 {
			folder += "-" + strconv.Itoa(n)
		}
		// Mkdir says whether the name is free; renaming onto an empty folder is
		// not possible everywhere, so it is given up again just before.
		err := os.Mkdir(folder, 0o700)
		if errors.Is(err, fs.ErrExist) && n < 1000 {
			continue
		}
		if err == nil {
			if err = os.Remove(folder); err == nil {
				err = os.Rename(temp, folder)
			}
		}
		if err != nil {
			return fail(err)
		}
		return folder, nil
	}
}

func (b *Bundle) write(ctx context.Context, dir string) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for _, f := range b.files {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		name := path.Clean(f.Name)
		if f.FileInfo().IsDir() {
			if err := root.MkdirAll(name, 0o700); err != nil {
				return err
			}
			continue
		}
		if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
			return err
		}
		mode := fs.FileMode(0o600)
		if f.Mode()&0o111 != 0 || name == b.binary() {
			mode = 0o700
		}
		out, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
		if err != nil {
			return err
		}
		if err := errors.Join(copyFile(out, f), out.Close()); err != nil {
			return err
		}
	}
	return nil
}

// binary is the path in the archive of the program that is started itself, ""
// if something else starts the server: archives made on Windows do not say that
// it may be run.
func (b *Bundle) binary() string {
	rest := dirname().FindStringIndex(b.Server.Command)
	if rest == nil || rest[0] != 0 {
		return ""
	}
	return path.Clean(filepath.ToSlash(b.Server.Command[rest[1]:]))[1:]
}
