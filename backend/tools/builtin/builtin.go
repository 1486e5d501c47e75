// Package builtin holds the product's own tools: files in the folders that a
// person chose, commands there, and fetching a URL. No agent has one until it is
// given it, and each call passes the gate like any other.
package builtin

import (
	"context"
	"encoding/json"

	"patchbay/backend/core"
)

// RunCommand is the tool that starts programs; the policy knows it by this name.
const RunCommand = "run_command"

// Runner runs the built-in tools. It is safe for concurrent use.
type Runner struct {
	// Access returns what the tools may get at now.
	Access func(ctx context.Context) (core.BuiltinAccess, error)
	// Private are folders and files of the product that no tool may touch.
	Private []string
}

// call is one call of one tool.
type call struct {
	r      *Runner
	access core.BuiltinAccess
	chunk  core.ChunkFunc
}

type tool struct {
	name, title, about, schema string
	hints                      core.Annotations
	run                        func(ctx context.Context, c *call, args json.RawMessage) (core.ToolResult, error)
}

func flag(b bool) *bool { return &b }

const pathSchema = `{"type":"string","description":"Absolute, or relative to the folder when only one was chosen."}`

// all are the built-in tools in the order in which they are shown.
func all() []tool {
	reads := core.Annotations{ReadOnlyHint: flag(true), OpenWorldHint: flag(false)}
	changes := core.Annotations{ReadOnlyHint: flag(false), DestructiveHint: flag(true), OpenWorldHint: flag(false)}
	return []tool{
		{"read_file", "Read file", "Reads a text file, whole or some lines of it.",
			`{"path":` + pathSchema + `,"from":{"type":"integer","minimum":1,"description":"The first line; 1 when left out."},"lines":{"type":"integer","minimum":1,"description":"How many lines; all when left out."}}|path`, reads, typed(readFile)},
		{"list_files", "List files", "Lists files and folders, or those below that match a pattern such as \"**/*.go\". Without a path it lists the folders that can be reached.",
			`{"path":` + pathSchema + `,"pattern":{"type":"string","description":"A glob; ** stands for any folders. Left out: the entries of the folder itself."}}`, reads, typed(listFiles)},
		{"search_files", "Search files", "Searches text files for a regular expression (RE2) and returns the lines that match.",
			`{"pattern":{"type":"string","minLength":1},"path":` + pathSchema + `,"files":{"type":"string","description":"Only files that match this glob, such as \"**/*.md\"."},"ignoreCase":{"type":"boolean"}}|pattern`, reads, typed(searchFiles)},
		{"write_file", "Write file", "Writes a text file. One that is there is replaced; missing folders are made.",
			`{"path":` + pathSchema + `,"content":{"type":"string"}}|path","content`, changes, typed(writeFile)},
		{"edit_file", "Edit file", "Replaces an exact piece of text in a file and returns the difference.",
			`{"path":` + pathSchema + `,"old":{"type":"string","minLength":1,"description":"The exact text, with its white space. It must stand there once, unless all is true."},"new":{"type":"string"},"all":{"type":"boolean","description":"Replace it everywhere."}}|path","old","new`, changes, typed(editFile)},
		{RunCommand, "Run command", "Runs a program in a chosen folder, without a shell, and returns what it prints. A person is asked each time.",
			`{"command":{"type":"array","items":{"type":"string"},"minItems":1,"description":"The program and its arguments, one text each: [\"git\",\"status\"]."},"folder":` + pathSchema + `,"timeout":{"type":"integer","minimum":1,"maximum":540,"description":"Seconds; 120 when left out."}}|command`,
			core.Annotations{ReadOnlyHint: flag(false), DestructiveHint: flag(true), OpenWorldHint: flag(true)}, typed(runCommand)},
		{"fetch_url", "Fetch URL", "Gets a web address. HTML comes back as Markdown.",
			`{"url":{"type":"string","pattern":"^https?://"},"raw":{"type":"boolean","description":"Leave HTML as it is."}}|url`,
			core.Annotations{ReadOnlyHint: flag(true), OpenWorldHint: flag(true)}, typed(fetchURL)},
	}
}

// Tools returns the built-in tools for the catalog.
func Tools() []core.Tool {
	var out []core.Tool
	for _, t := range all() {
		def := core.Tool{Ref: core.ToolRef{Kind: core.ToolBuiltin, Name: t.name}, Title: t.title, Description: t.about, InputSchema: schemaOf(t.schema), Annotations: t.hints}
		if t.name == RunCommand {
			def.TimeoutMS = 10 * 60_000 // a build may be silent for long; its own limit ends it
		}
		def.Ref.Digest = def.ComputeDigest()
		out = append(out, def)
	}
	return out
}

// Call implements tools.Runner.
func (r *Runner) Call(ctx context.Context, ref core.ToolRef, _ string, args json.RawMessage, chunk core.ChunkFunc) (core.ToolResult, error) {
	access, err := r.Access(ctx)
	if err != nil {
		return core.ToolResult{}, err
	}
	if chunk == nil {
		chunk = func(core.Chunk) {}
	}
	for _, t := range all() {
		if t.name == ref.Name {
			return t.run(ctx, &call{r: r, access: access, chunk: chunk}, args)
		}
	}
	return core.ToolResult{}, core.Errorf(core.CodeNotFound, "There is no built-in tool %q.", ref.Name)
}

// typed reads the arguments, which the gate has held against the schema, into
// what f takes. What f says no to is a result, which a model can act on.
func typed[A any](f func(ctx context.Context, c *call, a A) (core.ToolResult, error)) func(context.Context, *call, json.RawMessage) (core.ToolResult, error) {
	return func(ctx context.Context, c *call, raw json.RawMessage) (core.ToolResult, error) {
		var a A
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &a); err != nil {
				return core.ToolResult{}, core.Errorf(core.CodeInvalid, "The arguments cannot be read: %w", err)
			}
		}
		res, err := f(ctx, c, a)
		switch core.CodeOf(err) {
		case core.CodeNotFound, core.CodeInvalid, core.CodeTooLarge, core.CodeDenied, core.CodeNeedsValue:
			return core.ToolResult{IsError: true, Content: text(err.Error()).Content}, nil
		}
		return res, err
	}
}

func text(s string) core.ToolResult {
	return core.ToolResult{Content: []core.Content{{Type: core.ContentText, Text: s}}}
}
