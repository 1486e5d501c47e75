package bundle

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"patchbay/backend/core"
)

const (
	endSize       = 22
	entrySize     = 46
	endMark       = "PK\x05\x06"
	entryMark     = "PK\x01\x02"
	signatureMark = "MCPB_SIG_V1"
	signatureEnd  = "MCPB_SIG_END"
)

// trim returns the archive without the signature behind it. It refuses an
// archive with anything else before or behind, and one with too many entries,
// before memory is spent on them.
func trim(data []byte) (archive []byte, signed bool, err error) {
	end := bytes.LastIndex(data, []byte(endMark))
	if end < 0 || len(data) < end+endSize {
		return nil, false, core.Errorf(core.CodeInvalid, "The file is not a whole zip archive, so it is no bundle. Download it again.")
	}
	tail := data[end:]
	n := binary.LittleEndian.Uint16(tail[10:])
	size, offset := binary.LittleEndian.Uint32(tail[12:]), binary.LittleEndian.Uint32(tail[16:])
	if n == 0xffff || offset == 0xffffffff || int(n) > MaxEntries {
		return nil, false, core.Errorf(core.CodeTooLarge, "The bundle holds more than %d files. It was refused.", MaxEntries)
	}
	behind := data[end+endSize:]
	comment := int(binary.LittleEndian.Uint16(tail[20:]))
	switch block := behind[min(comment, len(behind)):]; {
	case isSignature(behind):
		signed = true
	case isSignature(block):
		signed = true
	case len(block) > 0 || comment > len(behind):
		return nil, false, core.Errorf(core.CodeInvalid, "The bundle has data behind its end. It was refused; download it again.")
	}
	if uint64(offset)+uint64(size) != uint64(end) {
		return nil, false, core.Errorf(core.CodeInvalid, "The bundle has data that its table of contents does not name. It was refused.")
	}
	// The reader of archives believes the table, not the number at its end.
	entries := 0
	for at := int(offset); at+entrySize <= end && string(data[at:at+4]) == entryMark; entries++ {
		head := data[at:]
		at += entrySize
		for _, field := range []int{28, 30, 32} { // the lengths of name, extra and comment
			at += int(binary.LittleEndian.Uint16(head[field:]))
		}
		if entries > MaxEntries {
			break
		}
	}
	if entries != int(n) {
		return nil, false, core.Errorf(core.CodeInvalid, "The bundle is damaged: it says that it holds %d files, and its table of contents names another number.", n)
	}
	archive = bytes.Clone(data[:end+endSize])
	archive[end+20], archive[end+21] = 0, 0 // the comment is gone
	return archive, signed, nil
}

func isSignature(b []byte) bool {
	return bytes.HasPrefix(b, []byte(signatureMark)) && bytes.HasSuffix(b, []byte(signatureEnd))
}

// names finds entries that would meet in one file on some system.
type names struct {
	files map[string]string // folded name → name
	dirs  map[string]string
	fold  cases.Caser
}

func newNames() *names {
	return &names{files: map[string]string{}, dirs: map[string]string{}, fold: cases.Fold()}
}

func refusal(name, what string) error {
	if r := []rune(name); len(r) > 80 {
		name = string(r[:80]) + "…"
	}
	return core.Errorf(core.CodeInvalid, "The bundle was refused: %q %s.", name, what)
}

func (n *names) add(f *zip.File) error {
	name := f.Name
	dir := strings.HasSuffix(name, "/")
	clean := strings.TrimSuffix(name, "/")
	switch mode := f.Mode(); {
	case f.Flags&1 != 0:
		return refusal(name, "is encrypted, and nobody gave the password")
	case mode.IsDir() != dir:
		return refusal(name, "is neither a file nor a folder")
	case !dir && !mode.IsRegular():
		return refusal(name, "is a link or a device; a bundle may only hold files and folders")
	case clean == "" || len(clean) > maxNameLength || !utf8.ValidString(clean):
		return refusal(name, "is not a usable name for a file")
	case strings.ContainsAny(clean, `\:*?"<>|`) || strings.ContainsFunc(clean, unicode.IsControl):
		return refusal(name, "has a character in its name that not every system allows")
	case strings.HasPrefix(clean, "/") || path.Clean(clean) != clean || clean == "." || clean == ".." || strings.HasPrefix(clean, "../"):
		return refusal(name, "points outside the bundle's folder")
	}
	for _, part := range strings.Split(clean, "/") {
		if isDevice(part) || strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") {
			return refusal(name, "has a name that Windows keeps for itself")
		}
	}
	key := n.fold.String(norm.NFC.String(clean))
	if other, ok := n.files[key]; ok {
		return refusal(name, "would overwrite "+other+", whose name differs in nothing that every system can tell")
	}
	if dir {
		n.dirs[key] = name
		n.files[key] = name
	} else {
		if other, ok := n.dirs[key]; ok {
			return refusal(name, "is a file and also the folder "+other)
		}
		n.files[key] = name
	}
	for up := path.Dir(key); up != "."; up = path.Dir(up) {
		if other, ok := n.files[up]; ok && !strings.HasSuffix(other, "/") {
			return refusal(name, "lies below "+other+", which is a file")
		}
		n.dirs[up] = name
	}
	return nil
}

// isDevice reports whether Windows takes the name for a device.
func isDevice(part string) bool {
	base, _, _ := strings.Cut(strings.ToUpper(part), ".")
	base = strings.TrimRight(base, " ")
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	if len(base) < 4 || base[:3] != "COM" && base[:3] != "LPT" {
		return false
	}
	switch base[3:] {
	case "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³":
		return true
	}
	return false
}

// safeFolder makes a name for a folder from a server's.
func safeFolder(name string) string {
	s := strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.", r)) {
			return unicode.ToLower(r)
		}
		return '-'
	}, name)
	if s = strings.Trim(s[:min(len(s), 40)], "-_."); s == "" || isDevice(s) {
		return "bundle"
	}
	return s
}
