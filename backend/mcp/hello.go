package mcp

import (
	"errors"
	"fmt"
	"net/http"
	"patchbay/backend/core"
	"regexp"
	"strings"
)

var (
	unknownVersion = regexp.MustCompile(`unsupported protocol version: "(.*)"`)
	badField       = regexp.MustCompile(`cannot unmarshal .* into Go struct field (\S+) of type`)
	goType         = regexp.MustCompile(`mcp\.[A-Za-z]+?(?:\.|(mcp\.))`)
)

// explainHello makes a sentence of the SDK's reason not to take an answer to the
// handshake.
func explainHello(server string, err error) string {
	text := err.Error()
	if m := unknownVersion.FindStringSubmatch(text); m != nil && m[1] == "" {
		return server + " does not say which revision of MCP it speaks. Tell the author of the server."
	} else if m != nil {
		return fmt.Sprintf("%s speaks MCP %s, which Patchbay does not know. Look for another version of the server.", server, core.Clip(m[1], 100))
	}
	if m := badField.FindStringSubmatch(text); m != nil {
		field := m[1]
		for goType.MatchString(field) {
			field = goType.ReplaceAllString(field, "$1")
		}
		return fmt.Sprintf("%s answered the handshake with a value of %s that MCP does not know. Tell the author of the server.", server, field)
	}
	return fmt.Sprintf("The handshake with %s failed: %s", server, sentence(text))
}

// sdkPrefix is what the SDK and net/http put before a cause, one layer each.
var sdkPrefix = regexp.MustCompile(`^(?:calling "[^"]*": |sending "[^"]*": |rejected by transport: |failed to write: |connection closed: |client is closing: |missing endpoint: |[A-Z][a-z]+ "[^"]*": |net/http: |HTTP/1\.x transport connection broken: )`)

// noMessage is said of an answer of which nothing else is known.
const noMessage = "its answer is not a message of JSON-RPC"

// plain makes of the SDK's account of a failure what a person needs of it.
func plain(err error) string {
	text := err.Error()
	for sdkPrefix.MatchString(text) {
		text = sdkPrefix.ReplaceAllString(text, "")
	}
	kind, isKind := strings.CutPrefix(text, "unsupported content type ")
	switch {
	case isKind && kind == `""`:
		return "it answered with something that has no content type, instead of JSON"
	case isKind && strings.Contains(kind, "html"):
		return "it answered with a web page instead of JSON"
	case isKind:
		return "it answered with " + strings.Trim(kind, `"`) + " instead of JSON"
	case strings.HasPrefix(text, "failed to decode"):
		return noMessage
	case strings.HasPrefix(text, "first event is "):
		return "its stream does not begin by saying where to send messages (an event named endpoint)"
	case strings.HasPrefix(text, `parse "`):
		return "it names no usable address to send messages to"
	case strings.HasPrefix(text, "failed to read body: "):
		return "its answer cannot be read: " + strings.TrimPrefix(text, "failed to read body: ")
	case text == "request terminated without response":
		return "its stream ended without the answer"
	case strings.HasPrefix(text, "tls: first record does not look like"), strings.HasPrefix(text, "http: server gave HTTP response to HTTPS client"):
		return "it does not speak TLS. Perhaps its address begins with http://"
	case strings.HasPrefix(text, "malformed HTTP"):
		return "what answers there does not speak HTTP"
	}
	return text
}

// reason says in a sentence's end why a request was not answered.
func reason(err error) string {
	var he *httpError
	switch {
	case errors.Is(err, errLost):
		return "the connection was lost"
	case errors.As(err, &he) && he.status >= 400:
		return fmt.Sprintf("it answered HTTP %d (%s)", he.status, http.StatusText(he.status))
	}
	return plain(err)
}
