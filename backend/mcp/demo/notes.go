package demo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	noteSuffix = ".txt"
	noteBytes  = 64 << 10
	noteCount  = 1000
)

type noteName struct {
	Name string `json:"name" jsonschema:"name of the note, without folders"`
}

type noteInput struct {
	Name string `json:"name" jsonschema:"name of the note, without folders"`
	Text string `json:"text" jsonschema:"text of the note, at most 64 KiB"`
}

type note struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

type notesOutput struct {
	Notes []note `json:"notes"`
}

// file returns the file of a note, or why there can be none of that name.
func file(name string) (string, error) {
	switch {
	case name == "" || len(name) > 80:
		return "", errors.New("a note needs a name of 1 to 80 characters")
	case strings.ContainsAny(name, `/\:`) || strings.HasPrefix(name, ".") || strings.ContainsFunc(name, unicode.IsControl):
		return "", fmt.Errorf("%q cannot be the name of a note: it must not start with a dot or contain a path separator, a colon or control characters", name)
	}
	return name + noteSuffix, nil
}

// open opens the scratch folder. Nothing outside of it can be reached through
// what is returned, not even over a link.
func (s *Server) open() (*os.Root, error) {
	if err := os.MkdirAll(s.scratch, 0o700); err != nil {
		return nil, errors.New("the scratch folder cannot be created")
	}
	r, err := os.OpenRoot(s.scratch)
	if err != nil {
		return nil, errors.New("the scratch folder cannot be opened")
	}
	return r, nil
}

func (s *Server) listNotes(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, notesOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := notesOutput{Notes: []note{}}
	r, err := s.open()
	if err != nil {
		return nil, out, err
	}
	defer r.Close()
	entries, err := fs.ReadDir(r.FS(), ".")
	if err != nil {
		return nil, out, errors.New("the scratch folder cannot be read")
	}
	var lines []string
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), noteSuffix)
		if !ok || e.IsDir() {
			continue
		}
		b, err := r.ReadFile(e.Name())
		if err != nil {
			continue // gone meanwhile
		}
		out.Notes = append(out.Notes, note{name, string(b)})
		lines = append(lines, name+": "+string(b))
	}
	slices.Sort(lines)
	if len(lines) == 0 {
		return text("There are no notes yet."), out, nil
	}
	return text("%s", strings.Join(lines, "\n")), out, nil
}

func (s *Server) writeNote(in noteInput) (*sdk.CallToolResult, error) {
	name, err := file(in.Name)
	if err != nil {
		return nil, err
	}
	if len(in.Text) > noteBytes {
		return nil, fmt.Errorf("the text has %d bytes; a note holds %d", len(in.Text), noteBytes)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if b, err := r.ReadFile(name); err == nil {
		if string(b) == in.Text {
			return text("The note %s is there already.", in.Name), nil
		}
		return nil, fmt.Errorf("there is a note %q already; delete it first, or choose another name", in.Name)
	}
	if entries, err := fs.ReadDir(r.FS(), "."); err == nil && len(entries) >= noteCount {
		return nil, fmt.Errorf("there are %d notes already; delete some first", len(entries))
	}
	if err := r.WriteFile(name, []byte(in.Text), 0o600); err != nil {
		return nil, fmt.Errorf("the note %q cannot be written", in.Name)
	}
	return text("Wrote the note %s.", in.Name), nil
}

func (s *Server) deleteNote(ctx context.Context, req *sdk.CallToolRequest, in noteName) (*sdk.CallToolResult, error) {
	name, err := file(in.Name)
	if err != nil {
		return nil, err
	}
	if ok, err := confirm(ctx, req, in.Name); err != nil || !ok {
		return text("The note %s was kept.", in.Name), err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if err := r.Remove(name); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no note %q", in.Name)
		}
		return nil, fmt.Errorf("the note %q cannot be deleted", in.Name)
	}
	return text("Deleted the note %s.", in.Name), nil
}

// confirm asks the person, if the client can (MCP 2025-11-25, Elicitation).
// Where it cannot, the host has the hint that the tool destroys.
func confirm(ctx context.Context, req *sdk.CallToolRequest, name string) (bool, error) {
	p := req.Session.InitializeParams()
	if p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil || p.ProtocolVersion >= "2026-07-28" {
		return true, nil
	}
	res, err := req.Session.Elicit(ctx, &sdk.ElicitParams{
		Message: fmt.Sprintf("Delete the note %q for good?", name),
		RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{
			"confirm": map[string]any{"type": "boolean", "title": "Delete it", "default": true}}},
	})
	if err != nil {
		return false, err
	}
	yes, given := res.Content["confirm"].(bool)
	return res.Action == "accept" && (yes || !given), nil
}
