package demo

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	allNotes = "note:///"
	oneNote  = "note:///{name}"
)

// tones are the values that the prompt's argument is completed to.
func tones() []string { return []string{"as a list", "as a letter", "as a poem", "in one sentence"} }

// options are what the server can do beside its tools.
func (s *Server) options() *sdk.ServerOptions {
	return &sdk.ServerOptions{
		Instructions:       instructions,
		CompletionHandler:  s.complete,
		SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil }, // the SDK keeps count
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	}
}

// offer adds the notes as resources, and a prompt about them.
func (s *Server) offer(srv *sdk.Server) {
	srv.AddResource(&sdk.Resource{URI: allNotes, Name: "notes", Title: "All Notes", MIMEType: "text/markdown",
		Description: "Every note of the scratch folder in one text."}, s.readNotes)
	srv.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: oneNote, Name: "note", Title: "One Note", MIMEType: "text/plain",
		Description: "The text of the note of that name."}, s.readNotes)
	srv.AddPrompt(&sdk.Prompt{Name: "sum_up_notes", Title: "Sum Up the Notes", Description: "Asks for a summary of all notes.",
		Arguments: []*sdk.PromptArgument{{Name: "tone", Title: "How", Description: "How to sum up, such as: in one sentence", Required: true}}}, s.sumUp)
}

// changed tells those who subscribed that a note was written or deleted.
func (s *Server) changed(ctx context.Context, srv *sdk.Server, name string) {
	for _, uri := range []string{allNotes, allNotes + url.PathEscape(name)} {
		// Nobody may listen any more, which is no fault of the tool.
		_ = srv.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri})
	}
}

func (s *Server) readNotes(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	_, out, err := s.listNotes(ctx, nil, struct{}{})
	if err != nil {
		return nil, err
	}
	wanted, err := url.PathUnescape(strings.TrimPrefix(r.Params.URI, allNotes))
	if err != nil {
		return nil, sdk.ResourceNotFoundError(r.Params.URI)
	}
	var b strings.Builder
	for _, n := range out.Notes {
		if n.Name == wanted {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: "text/plain", Text: n.Text}}}, nil
		}
		fmt.Fprintf(&b, "## %s\n\n%s\n\n", n.Name, n.Text)
	}
	if wanted != "" {
		return nil, sdk.ResourceNotFoundError(r.Params.URI)
	}
	if b.Len() == 0 {
		b.WriteString("There are no notes yet.\n")
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: "text/markdown", Text: b.String()}}}, nil
}

func (s *Server) sumUp(ctx context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	tone := strings.TrimSpace(r.Params.Arguments["tone"])
	if tone == "" {
		return nil, fmt.Errorf("the argument tone is missing; say how to sum up, such as %q", tones()[0])
	}
	res, err := s.readNotes(ctx, &sdk.ReadResourceRequest{Params: &sdk.ReadResourceParams{URI: allNotes}})
	if err != nil {
		return nil, err
	}
	return &sdk.GetPromptResult{Description: "A summary of all notes, " + tone, Messages: []*sdk.PromptMessage{
		{Role: "user", Content: &sdk.TextContent{Text: "Sum up these notes " + tone + ":\n\n" + res.Contents[0].Text}},
	}}, nil
}

func (s *Server) complete(ctx context.Context, r *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	var all []string
	switch {
	case r.Params.Ref == nil:
	case r.Params.Ref.Type == "ref/prompt" && r.Params.Argument.Name == "tone":
		all = tones()
	case r.Params.Ref.Type == "ref/resource" && r.Params.Argument.Name == "name":
		_, out, err := s.listNotes(ctx, nil, struct{}{})
		if err != nil {
			return nil, err
		}
		for _, n := range out.Notes {
			all = append(all, n.Name)
		}
	}
	values := []string{}
	for _, v := range all {
		if strings.HasPrefix(strings.ToLower(v), strings.ToLower(r.Params.Argument.Value)) && len(values) < 100 {
			values = append(values, v)
		}
	}
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: values, Total: len(values)}}, nil
}
