package connector

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"mime/multipart"
	"net/textproto"
	"slices"
	"strings"

	"patchbay/backend/core"
)

// multipartOf writes the fields of value as parts of a body (RFC 7578): files as
// files, texts and numbers as they are, lists as one part for each value and
// objects as JSON.
func multipartOf(files []string, value any) ([]byte, string, error) {
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, "", core.Errorf(core.CodeInvalid, "The body is sent in parts, so it must be an object of its fields.")
	}
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		list, isList := fields[k].([]any)
		if !isList {
			list = []any{fields[k]}
		}
		for _, item := range list {
			if item == nil {
				continue
			}
			p, err := partOf(k, item, slices.Contains(files, k))
			if err != nil {
				return nil, "", err
			}
			if err := p.write(w, k); err != nil {
				return nil, "", fmt.Errorf("writing the part %s: %w", k, err)
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", fmt.Errorf("writing the body: %w", err)
	}
	return out.Bytes(), w.FormDataContentType(), nil
}

// part is one part of a multipart body.
type part struct {
	file      string // its name; "" for what is no file
	mediaType string // "" for a plain text
	data      []byte
}

func partOf(name string, v any, isFile bool) (part, error) {
	if text, ok := textOf(v); ok {
		p := part{data: []byte(text)}
		if isFile {
			p.file, p.mediaType = name+".txt", "text/plain; charset=utf-8"
		}
		return p, nil
	}
	if !isFile {
		raw, err := json.Marshal(v)
		if err != nil {
			return part{}, fmt.Errorf("writing the part %s: %w", name, err)
		}
		return part{mediaType: "application/json", data: raw}, nil
	}
	bad := func(format string, args ...any) (part, error) {
		e := core.Errorf(core.CodeInvalid, format, args...)
		e.Path = name
		return part{}, e
	}
	object, _ := v.(map[string]any)
	p := part{file: name, mediaType: "application/octet-stream"}
	if s, ok := object["name"].(string); ok && s != "" {
		p.file = s
	}
	if s, ok := object["mediaType"].(string); ok && s != "" {
		p.mediaType = s
	}
	if strings.ContainsFunc(p.file+p.mediaType, func(r rune) bool { return r < 32 || r == 127 }) {
		return bad("The name or the media type of the file %q holds a control character, so it was not sent.", name)
	}
	text, hasText := object["text"].(string)
	encoded, hasData := object["base64"].(string)
	switch {
	case hasText == hasData:
		return bad("The argument %q is a file: a text, or an object with a name, a mediaType and either text or base64.", name)
	case hasText:
		p.data = []byte(text)
	default:
		data, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return bad("The file %q is no base64: %w", name, err)
		}
		p.data = data
	}
	return p, nil
}

func (p part) write(w *multipart.Writer, name string) error {
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", multipart.FileContentDisposition(name, p.file))
	if p.file == "" {
		h.Set("Content-Disposition", strings.TrimSuffix(multipart.FileContentDisposition(name, ""), `; filename=""`))
	}
	if p.mediaType != "" {
		h.Set("Content-Type", p.mediaType)
	}
	to, err := w.CreatePart(h)
	if err != nil {
		return err
	}
	_, err = to.Write(p.data)
	return err
}
