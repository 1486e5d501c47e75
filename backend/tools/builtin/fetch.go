package builtin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"golang.org/x/net/html/charset"

	"patchbay/backend/core"
	"patchbay/backend/tools/reach"
)

const (
	maxFetched = 10 << 20
	maxHTML    = 2 << 20          // bytes that become Markdown, which nothing can stop in the middle
	fetchTime  = 25 * time.Second // below the gate's, so that the sentence is ours
)

type fetchArgs struct {
	URL string
	Raw bool
}

func fetchURL(ctx context.Context, c *call, a fetchArgs) (core.ToolResult, error) {
	u, err := url.Parse(a.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return core.ToolResult{}, core.Errorf(core.CodeInvalid, "%q is no http or https address.", core.HideUser(a.URL))
	}
	ctx, stop := context.WithTimeoutCause(ctx, fetchTime, core.Errorf(core.CodeTimeout, "%s gave no whole answer within %s.", u.Host, fetchTime))
	defer stop()
	judge := func(string) (bool, error) { return c.access.AllowPrivate, nil }
	transport := reach.Transport(reach.Dial(judge, "A person can allow private addresses in Settings, under Tools."))
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if len(via) >= reach.MaxRedirects {
			return core.Errorf(core.CodeUnavailable, "%s redirects without end.", u.Host)
		}
		return nil
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return core.ToolResult{}, core.Errorf(core.CodeInvalid, "%s cannot be asked for: %w", u.Redacted(), err)
	}
	req.Header.Set("Accept", "text/markdown, text/html;q=0.9, text/*;q=0.8, application/json;q=0.8, */*;q=0.5")
	req.Header.Set("User-Agent", "patchbay")
	res, err := client.Do(req)
	if err != nil {
		return core.ToolResult{}, unreachable(ctx, u, err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxFetched+1))
	switch {
	case err != nil:
		return core.ToolResult{}, unreachable(ctx, u, err)
	case len(raw) > maxFetched:
		return core.ToolResult{}, core.Errorf(core.CodeTooLarge, "The answer of %s is larger than %d MiB.", u.Host, maxFetched>>20)
	}
	out, err := readable(res, raw, a.Raw)
	if err != nil {
		return core.ToolResult{}, err
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		if rs := []rune(out); len(rs) > 4000 {
			out = string(rs[:4000]) + "…"
		}
		r := text(fmt.Sprintf("%s answered %s.\n%s", u.Host, res.Status, out))
		r.IsError = true
		return r, nil
	}
	return text(out), nil
}

func unreachable(ctx context.Context, u *url.URL, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var ce *core.Error
	if errors.As(err, &ce) {
		return ce
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return core.Errorf(core.CodeNotFound, "There is no host %s, or it cannot be looked up now.", u.Hostname())
	}
	return core.Errorf(core.CodeUnavailable, "%s could not be reached: %w", u.Host, err)
}

// readable makes a text of an answer; a binary one is an invalid error.
func readable(res *http.Response, raw []byte, asItIs bool) (string, error) {
	contentType := res.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		media = ""
	}
	if media == "" {
		media, _, _ = mime.ParseMediaType(http.DetectContentType(raw)) // what it makes can be parsed
	}
	if !utf8.Valid(raw) {
		r, err := charset.NewReader(strings.NewReader(string(raw)), contentType)
		isText := strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "xml") || strings.HasSuffix(media, "json")
		if err != nil || !isText {
			return "", core.Errorf(core.CodeInvalid, "The answer is no text (%s, %d bytes).", media, len(raw))
		}
		if raw, err = io.ReadAll(r); err != nil {
			return "", core.Errorf(core.CodeInvalid, "The answer cannot be read as text: %w", err)
		}
	}
	body := string(raw)
	if asItIs || media != "text/html" && media != "application/xhtml+xml" {
		return body, nil
	}
	if len(body) > maxHTML {
		return "", core.Errorf(core.CodeTooLarge, "The page has %d KiB, and of at most %d Markdown is made. Ask for it raw.", len(body)>>10, maxHTML>>10)
	}
	md, err := toMarkdown(body, res.Request.URL.Scheme+"://"+res.Request.URL.Host)
	if err != nil {
		return "", core.Errorf(core.CodeInvalid, "The page cannot be read as HTML: %w", err)
	}
	return md, nil
}

// toMarkdown leaves characters as they are that Markdown would take for its own:
// a model reads past them, and escaping them takes the square of their number.
func toMarkdown(page, domain string) (string, error) {
	c := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin()), converter.WithEscapeMode(converter.EscapeModeDisabled))
	return c.ConvertString(page, converter.WithDomain(domain))
}
