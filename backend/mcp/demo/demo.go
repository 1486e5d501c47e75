// Package demo is a small MCP server that comes with the product: something to
// connect to before one has a server of one's own. Its tools are real and harmless,
// and together they show everything that a tool can do: structured output,
// progress, cancellation, images, and changes that want a person's consent.
package demo

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Server is the demo server. Its methods may run at the same time.
type Server struct {
	scratch string
	mu      sync.Mutex // of the notes
}

// New makes a server that keeps its notes in the folder scratch, which is
// created with the first note.
func New(scratch string) *Server { return &Server{scratch: scratch} }

// RunStdio speaks MCP on in and out until in ends or ctx ends. Ending by either
// is no error. It closes neither.
func (s *Server) RunStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err := s.build().Run(ctx, &sdk.IOTransport{Reader: io.NopCloser(in), Writer: nopCloser{out}})
	if ctx.Err() != nil || err == io.EOF {
		return nil
	}
	return err
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// Handler serves MCP over streamable HTTP. Requests from web pages of other
// origins are refused.
func (s *Server) Handler() http.Handler {
	srv := s.build()
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return srv }, &sdk.StreamableHTTPOptions{SessionTimeout: 30 * time.Minute, PropagateRequestCancellation: true})
	return http.NewCrossOriginProtection().Handler(h)
}

const instructions = "A demonstration server. Its notes live in a scratch folder of their own, so nothing of value can be lost."

func (s *Server) build() *sdk.Server {
	srv := sdk.NewServer(&sdk.Implementation{Name: "patchbay-demo", Title: "Patchbay demo", Version: "1.0.0"}, s.options())
	no, yes := new(bool), new(bool)
	*yes = true
	reads := func(title string, repeatable bool) *sdk.ToolAnnotations {
		return &sdk.ToolAnnotations{Title: title, ReadOnlyHint: true, IdempotentHint: repeatable, DestructiveHint: no, OpenWorldHint: no}
	}
	sdk.AddTool(srv, &sdk.Tool{Name: "current_time", Title: "Current Time", Annotations: reads("Current Time", false),
		Description: "Tells the date and time in a time zone such as Europe/Berlin. Without a time zone it is UTC."}, currentTime)
	sdk.AddTool(srv, &sdk.Tool{Name: "transform_text", Title: "Transform Text", Annotations: reads("Transform Text", true),
		Description: "Changes or measures a text: upper, lower, title, reverse, count_words or count_characters."}, transformText)
	sdk.AddTool(srv, &sdk.Tool{Name: "slow_count", Title: "Slow Count", Annotations: reads("Slow Count", true),
		Description: "Counts up to a number of seconds, 1 to 60, and reports its progress every second. It can be canceled."}, slowCount)
	sdk.AddTool(srv, &sdk.Tool{Name: "roll_dice", Title: "Roll Dice", Annotations: reads("Roll Dice", false),
		Description: "Rolls dice, 1 to 100 of 2 to 1000 sides. Without arguments it rolls one die of six sides."}, rollDice)
	sdk.AddTool(srv, &sdk.Tool{Name: "draw_chart", Title: "Draw Chart", Annotations: reads("Draw Chart", true),
		Description: "Draws 1 to 50 numbers as a chart and returns it as a PNG image."}, drawChart)
	sdk.AddTool(srv, &sdk.Tool{Name: "list_notes", Title: "List Notes", Annotations: reads("List Notes", true),
		Description: "Lists the notes in the scratch folder with their text."}, s.listNotes)
	sdk.AddTool(srv, &sdk.Tool{Name: "write_note", Title: "Write Note",
		Annotations: &sdk.ToolAnnotations{Title: "Write Note", IdempotentHint: true, DestructiveHint: no, OpenWorldHint: no},
		Description: "Writes a new note into the scratch folder. It never overwrites: a note of the same name with another text is refused."},
		func(ctx context.Context, _ *sdk.CallToolRequest, in noteInput) (*sdk.CallToolResult, any, error) {
			res, err := s.writeNote(in)
			if err == nil {
				s.changed(ctx, srv, in.Name)
			}
			return res, nil, err
		})
	sdk.AddTool(srv, &sdk.Tool{Name: "delete_note", Title: "Delete Note",
		Annotations: &sdk.ToolAnnotations{Title: "Delete Note", DestructiveHint: yes, OpenWorldHint: no},
		Description: "Deletes a note from the scratch folder for good."},
		func(ctx context.Context, r *sdk.CallToolRequest, in noteName) (*sdk.CallToolResult, any, error) {
			res, err := s.deleteNote(ctx, r, in)
			if err == nil {
				s.changed(ctx, srv, in.Name)
			}
			return res, nil, err
		})
	s.offer(srv)
	return srv
}

type timeInput struct {
	Timezone string `json:"timezone,omitempty" jsonschema:"IANA name of the time zone, such as Europe/Berlin; UTC if missing"`
}

type timeOutput struct {
	Time     string `json:"time" jsonschema:"the time in RFC 3339"`
	Timezone string `json:"timezone"`
	Weekday  string `json:"weekday"`
	Unix     int64  `json:"unix" jsonschema:"seconds since 1970"`
}

func currentTime(_ context.Context, _ *sdk.CallToolRequest, in timeInput) (*sdk.CallToolResult, timeOutput, error) {
	if in.Timezone == "" {
		in.Timezone = "UTC"
	}
	zone, err := time.LoadLocation(in.Timezone)
	if err != nil {
		return nil, timeOutput{}, fmt.Errorf("unknown time zone %q; use an IANA name such as Europe/Berlin", in.Timezone)
	}
	t := time.Now().In(zone)
	out := timeOutput{Time: t.Format(time.RFC3339), Timezone: in.Timezone, Weekday: t.Weekday().String(), Unix: t.Unix()}
	return text("%s, %s (%s)", out.Weekday, t.Format("2 January 2006, 15:04:05"), in.Timezone), out, nil
}

type transformInput struct {
	Text      string `json:"text" jsonschema:"the text"`
	Operation string `json:"operation" jsonschema:"one of upper, lower, title, reverse, count_words, count_characters"`
}

func transformText(_ context.Context, _ *sdk.CallToolRequest, in transformInput) (*sdk.CallToolResult, any, error) {
	switch in.Operation {
	case "upper":
		return text("%s", strings.ToUpper(in.Text)), nil, nil
	case "lower":
		return text("%s", strings.ToLower(in.Text)), nil, nil
	case "title":
		start := true
		return text("%s", strings.Map(func(r rune) rune {
			was := start
			start = unicode.IsSpace(r)
			if was {
				return unicode.ToTitle(r)
			}
			return r
		}, in.Text)), nil, nil
	case "reverse":
		r := []rune(in.Text)
		for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
			r[i], r[j] = r[j], r[i]
		}
		return text("%s", string(r)), nil, nil
	case "count_words":
		return text("%d", len(strings.Fields(in.Text))), nil, nil
	case "count_characters":
		return text("%d", len([]rune(in.Text))), nil, nil
	}
	return nil, nil, fmt.Errorf("unknown operation %q; use upper, lower, title, reverse, count_words or count_characters", in.Operation)
}

type countInput struct {
	Seconds int `json:"seconds" jsonschema:"how long to count, 1 to 60"`
}

func slowCount(ctx context.Context, req *sdk.CallToolRequest, in countInput) (*sdk.CallToolResult, any, error) {
	if in.Seconds < 1 || in.Seconds > 60 {
		return nil, nil, fmt.Errorf("seconds must be between 1 and 60, not %d", in.Seconds)
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	token := req.Params.GetProgressToken()
	for i := 1; i <= in.Seconds; i++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
		if token != nil {
			// A client that does not listen is no reason to stop counting.
			_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: float64(i), Total: float64(in.Seconds),
				Message: fmt.Sprintf("Counted %d of %d", i, in.Seconds)})
		}
	}
	return text("Counted to %d.", in.Seconds), nil, nil
}

type diceInput struct {
	Count int `json:"count,omitempty" jsonschema:"how many dice, 1 to 100; 1 if missing"`
	Sides int `json:"sides,omitempty" jsonschema:"sides of each, 2 to 1000; 6 if missing"`
}

type diceOutput struct {
	Rolls []int `json:"rolls"`
	Total int   `json:"total"`
}

func rollDice(_ context.Context, _ *sdk.CallToolRequest, in diceInput) (*sdk.CallToolResult, diceOutput, error) {
	if in.Count == 0 {
		in.Count = 1
	}
	if in.Sides == 0 {
		in.Sides = 6
	}
	if in.Count < 1 || in.Count > 100 || in.Sides < 2 || in.Sides > 1000 {
		return nil, diceOutput{}, fmt.Errorf("count must be between 1 and 100 and sides between 2 and 1000, not %d and %d", in.Count, in.Sides)
	}
	out := diceOutput{Rolls: make([]int, in.Count)}
	for i := range out.Rolls {
		out.Rolls[i] = rand.IntN(in.Sides) + 1
		out.Total += out.Rolls[i]
	}
	return text("Rolled %v, in all %d.", out.Rolls, out.Total), out, nil
}

func text(format string, args ...any) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf(format, args...)}}}
}
