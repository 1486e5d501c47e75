// Package connector runs custom tools that are declared without code: one HTTP
// request, made of templates and arguments.
package connector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
	"golang.org/x/net/html/charset"

	"patchbay/backend/core"
	"patchbay/backend/tools/reach"
)

const (
	maxAnswer = 10 << 20 // bytes, unpacked
	maxFault  = 4 << 10  // bytes of an answer that says no
)

// Connector makes the requests of tools. It is safe for concurrent use.
type Connector struct {
	// Secret returns a secret by its name, and false where there is none. nil: there are none.
	Secret func(ctx context.Context, name string) (string, bool, error)
}

// Call makes one request. An answer outside 200–299 is a result with IsError. No
// secret is in a result or an error. The caller bounds the time by ctx.
func (x *Connector) Call(ctx context.Context, t core.CustomTool, args json.RawMessage) (core.ToolResult, error) {
	c := t.HTTP
	req, err := Build(ctx, *c, args)
	if err != nil {
		return core.ToolResult{}, err
	}
	hide, err := x.sign(req, t)
	if err != nil {
		return core.ToolResult{}, err
	}
	transport := reach.Transport(reach.Dial(judge(*c, req.URL), "Allow private addresses in "+t.Name+" if it shall reach it."))
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: func(next *http.Request, via []*http.Request) error { return redirect(req.URL, next, via) }}
	res, err := client.Do(req)
	if err != nil {
		return core.ToolResult{}, failed(ctx, req.URL, err, hide)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return core.ToolResult{}, core.Errorf(core.CodeUnavailable, "The answer of %s broke off: %w", req.URL.Host, err)
	case len(raw) > maxAnswer:
		return core.ToolResult{}, core.Errorf(core.CodeTooLarge, "The answer of %s is larger than %d MiB. Ask for less.", req.URL.Host, maxAnswer>>20)
	}
	return answer(*c, res, raw, hide)
}

// sign adds what c signs in with. hide takes it out of what is shown.
func (x *Connector) sign(req *http.Request, t core.CustomTool) (hide func(string) string, err error) {
	a := t.HTTP.Auth
	if a == nil {
		return asItIs, nil
	}
	name := a.SecretName()
	var v string
	ok := false
	if x.Secret != nil {
		if v, ok, err = x.Secret(req.Context(), name); err != nil {
			return nil, err
		}
	}
	if !ok {
		return nil, core.Errorf(core.CodeNeedsValue, "There is no secret %q yet. Add it in the settings of %s, then run it again.", name, t.Name)
	}
	if strings.ContainsAny(v, "\r\n\x00") {
		return nil, core.Errorf(core.CodeInvalid, "The secret %q holds a line break, so it cannot be sent. Save it again without.", name)
	}
	switch a.Type {
	case core.AuthBearer:
		req.Header.Set("Authorization", "Bearer "+v)
	case core.AuthBasic:
		req.SetBasicAuth(a.User, v)
	case core.AuthHeader:
		req.Header.Set(a.Name, v)
	case core.AuthQuery:
		pair := percent(a.Name) + "=" + percent(v)
		if req.URL.RawQuery != "" {
			pair = "&" + pair
		}
		req.URL.RawQuery += pair
	case core.AuthCookie:
		addCookie(req, a.Name, percent(v))
	}
	return core.Masker(v), nil
}

// judge lets only the connector's own host lead to a private address, and only
// where the person said so.
func judge(c core.Connector, own *url.URL) reach.Judge {
	return func(address string) (bool, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return false, err
		}
		return strings.EqualFold(host, own.Hostname()) && (c.AllowPrivate || reach.PrivateHost(host)), nil
	}
}

// redirect follows as far as that gives nothing away: to another origin goes
// neither a body nor a header of the connector.
func redirect(first *url.URL, next *http.Request, via []*http.Request) error {
	if len(via) >= reach.MaxRedirects {
		return core.Errorf(core.CodeUnavailable, "%s redirects without end.", first.Host)
	}
	if next.URL.Scheme == first.Scheme && strings.EqualFold(next.URL.Host, first.Host) {
		return nil
	}
	if next.URL.Scheme != "http" && next.URL.Scheme != "https" {
		return core.Errorf(core.CodeDenied, "%s redirects to %s, which is neither http nor https.", first.Host, next.URL.Scheme)
	}
	if next.Method != http.MethodGet && next.Method != http.MethodHead {
		return core.Errorf(core.CodeDenied, "%s redirects to %s, another host, and the request would take its body there. Put that host into the URL if this is right.", first.Host, next.URL.Host)
	}
	agent, accept := next.Header.Get("User-Agent"), next.Header.Get("Accept")
	clear(next.Header) // also Referer, which holds the query
	next.Header.Set("User-Agent", agent)
	next.Header.Set("Accept", accept)
	return nil
}

// failed says why there was no answer. The cause may hold the address, and with it the secret.
func failed(ctx context.Context, u *url.URL, err error, hide func(string) string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var ce *core.Error
	if errors.As(err, &ce) {
		return &core.Error{Code: ce.Code, Message: hide(ce.Message)}
	}
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	return core.Errorf(core.CodeUnavailable, "%s could not be reached: %s.", u.Host, hide(err.Error()))
}

// answer makes a result of what came back.
func answer(c core.Connector, res *http.Response, raw []byte, hide func(string) string) (core.ToolResult, error) {
	media, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err != nil {
		media = ""
	}
	text, isText := decodeText(raw, res.Header.Get("Content-Type"), media)
	text = hide(text)
	if !isText {
		raw = []byte(hide(string(raw)))
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		said := fmt.Sprintf("%s %s answered %s.", c.Method, hide(res.Request.URL.Host+res.Request.URL.EscapedPath()), res.Status)
		if isText && text != "" {
			said += "\n" + core.Clip(text, maxFault)
		}
		return core.ToolResult{IsError: true, Content: []core.Content{{Type: core.ContentText, Text: said}}}, nil
	}
	switch {
	case isText && json.Valid([]byte(text)): // gjson.Valid has no limit of depth, and its stack would end the process
		return picked(c, text)
	case c.Pick != "":
		return core.ToolResult{IsError: true, Content: []core.Content{{Type: core.ContentText,
			Text: fmt.Sprintf("%s was to be picked from the answer, but that is no JSON (%s).\n%s", c.Pick, media, core.Clip(text, maxFault))}}}, nil
	case isText && text == "":
		return core.ToolResult{Content: []core.Content{{Type: core.ContentText, Text: res.Status}}}, nil
	case isText:
		return core.ToolResult{Content: []core.Content{{Type: core.ContentText, Text: text}}}, nil
	case strings.HasPrefix(media, "image/"):
		return core.ToolResult{Content: []core.Content{{Type: core.ContentImage, MIMEType: media, Data: raw}}}, nil
	case strings.HasPrefix(media, "audio/"):
		return core.ToolResult{Content: []core.Content{{Type: core.ContentAudio, MIMEType: media, Data: raw}}}, nil
	}
	return core.ToolResult{Content: []core.Content{{Type: core.ContentResource, MIMEType: media, Data: raw, URI: c.Origin()}}}, nil
}

// picked keeps what the connector picks of a JSON answer.
func picked(c core.Connector, text string) (core.ToolResult, error) {
	if c.Pick != "" {
		r := gjson.Get(text, c.Pick)
		if !r.Exists() {
			return core.ToolResult{IsError: true, Content: []core.Content{{Type: core.ContentText,
				Text: fmt.Sprintf("The answer holds nothing at %s. It begins:\n%s", c.Pick, core.Clip(text, maxFault))}}}, nil
		}
		text = r.Raw
		if text == "" { // a count, such as items.#
			text = r.String()
		}
		if r.Type == gjson.String {
			return core.ToolResult{Content: []core.Content{{Type: core.ContentText, Text: r.String()}}, StructuredContent: json.RawMessage(text)}, nil
		}
	}
	res := core.ToolResult{Content: []core.Content{{Type: core.ContentText, Text: text}}}
	if json.Valid([]byte(text)) { // some modifiers of GJSON make what is no JSON
		res.StructuredContent = json.RawMessage(text)
	}
	return res, nil
}

// decodeText returns raw as a text in UTF-8, and false for what is none.
func decodeText(raw []byte, contentType, media string) (string, bool) {
	if utf8.Valid(raw) && !strings.HasPrefix(media, "image/") || media == "image/svg+xml" {
		return strings.ToValidUTF8(string(raw), "\uFFFD"), true
	}
	if !strings.HasPrefix(media, "text/") && !strings.HasSuffix(media, "json") && !strings.HasSuffix(media, "xml") {
		return "", false
	}
	r, err := charset.NewReader(strings.NewReader(string(raw)), contentType)
	if err != nil {
		return "", false
	}
	out, err := io.ReadAll(r)
	return string(out), err == nil
}
