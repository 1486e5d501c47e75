package tools

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"patchbay/backend/core"
)

const (
	// maxResult is how much of a result is kept, in bytes.
	maxResult = 1 << 20
	// maxMedia is how large one image, sound or blob may be, in bytes.
	maxMedia = 8 << 20
	// maxModelText is how much of a result a model is given, in bytes.
	maxModelText = 128 << 10
)

// shape bounds a result: long text keeps its head and its tail with a sentence
// between them that says what is missing; media that is too large becomes a note.
func shape(r core.ToolResult) core.ToolResult {
	r.Bytes = int64(len(r.StructuredContent))
	textLeft := maxResult
	out := make([]core.Content, 0, len(r.Content))
	for _, c := range r.Content {
		r.Bytes += int64(len(c.Text) + len(c.Data))
		if len(c.Data) > maxMedia {
			c = core.Content{Type: core.ContentText, Text: fmt.Sprintf("[%s of %d bytes left out: the limit is %d.]", c.Type, len(c.Data), maxMedia)}
			r.Shortened = true
		}
		if len(c.Text) > textLeft {
			c.Text = HeadTail(c.Text, textLeft)
			r.Shortened = true
		}
		textLeft = max(textLeft-len(c.Text), 256)
		out = append(out, c)
	}
	r.Content = out
	if len(r.StructuredContent) > maxResult {
		r.StructuredContent = nil
		r.Shortened = true
		r.Warning = strings.TrimSpace(r.Warning + fmt.Sprintf(" The structured content was larger than %d bytes and was left out.", maxResult))
	}
	return r
}

// HeadTail returns at most about limit bytes of s: three quarters from its
// head, one quarter from its tail, and between them a note for the reader.
func HeadTail(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	head, tail := limit*3/4, limit/4
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	start := len(s) - tail
	for start < len(s) && !utf8.RuneStart(s[start]) {
		start++
	}
	return fmt.Sprintf("%s\n\n[%d of %d bytes left out here. Ask for a smaller part to see them.]\n\n%s", s[:head], start-head, len(s), s[start:])
}

// ModelText is what a model is given of a result: its text, a word for each
// block that is not text, and the structured content where there is no text.
func ModelText(r core.ToolResult) string {
	var parts []string
	for _, c := range r.Content {
		switch {
		case c.Type == core.ContentText:
			parts = append(parts, c.Text)
		case c.Type == core.ContentResourceLink:
			parts = append(parts, fmt.Sprintf("[link to %s: %s]", c.Name, c.URI))
		case c.Text != "":
			parts = append(parts, fmt.Sprintf("[resource %s]\n%s", c.URI, c.Text))
		default:
			parts = append(parts, fmt.Sprintf("[%s, %s, %d bytes]", c.Type, c.MIMEType, len(c.Data)))
		}
	}
	if len(parts) == 0 && len(r.StructuredContent) > 0 {
		parts = append(parts, string(r.StructuredContent))
	}
	if len(parts) == 0 {
		parts = append(parts, "[The tool returned nothing.]")
	}
	return HeadTail(strings.Join(parts, "\n"), maxModelText)
}

// refusal is what a model is told of a call that gave no result. Each end has
// fixed wording that a model can act on.
func refusal(status core.CallStatus, err error) string {
	switch status {
	case core.CallDenied:
		return "The person declined this call. It was not made. Do not repeat it; ask what to do instead."
	case core.CallDeniedRule:
		return "A policy forbids this call. It was not made and repeating it will not help. " + err.Error()
	case core.CallExpired:
		return "The person did not answer in time. The call was not made."
	case core.CallTimeout:
		return "The call took too long and was given up. It may have had an effect. " + err.Error()
	case core.CallCanceled:
		return "The person stopped this call. It may have had an effect."
	case core.CallInvalid:
		return "The call was not made. " + err.Error() + " Correct it and call again."
	}
	return "The call failed. " + err.Error()
}
