package custom

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"patchbay/backend/core"
	"patchbay/backend/tools/reach"
)

const maxBody = 10 << 20 // bytes of an answer, unpacked

// fetched is an answer as the prelude's Response reads it.
type fetched struct {
	Status     int         `json:"status"`
	StatusText string      `json:"statusText"`
	URL        string      `json:"url"`
	Redirected bool        `json:"redirected"`
	Headers    [][2]string `json:"headers"`
	Text       *string     `json:"text,omitempty"`
	Base64     []byte      `json:"base64,omitempty"`
}

func (c *call) fetch(q question) (*fetched, error) {
	u, err := url.Parse(q.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, core.Errorf(core.CodeInvalid, "fetch needs a whole http or https address, not %q.", q.URL)
	}
	if _, err := c.mayReach(u.Scheme, u.Host); err != nil {
		return nil, err
	}
	body := io.Reader(bytes.NewReader(q.Base64))
	if len(q.Base64) == 0 {
		body = strings.NewReader(q.Text)
	}
	req, err := http.NewRequestWithContext(c.ctx, strings.ToUpper(q.Method), u.String(), body)
	if err != nil {
		return nil, core.Errorf(core.CodeInvalid, "fetch cannot ask for %s: %w", u.Redacted(), err)
	}
	if req.ContentLength == 0 {
		req.Body = http.NoBody
	}
	for _, h := range q.Headers {
		req.Header.Add(h[0], h[1])
	}
	transport := reach.Transport(c.dial)
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		switch {
		case q.Redirect == "manual":
			return http.ErrUseLastResponse
		case q.Redirect == "error":
			return core.Errorf(core.CodeDenied, "%s redirects, which the script forbids.", u.Host)
		case len(via) >= reach.MaxRedirects:
			return core.Errorf(core.CodeUnavailable, "%s redirects without end.", u.Host)
		}
		_, err := c.mayReach(next.URL.Scheme, next.URL.Host)
		return err
	}}
	res, err := client.Do(req)
	if err != nil {
		var ce *core.Error
		if errors.As(err, &ce) {
			return nil, ce
		}
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		return nil, core.Errorf(core.CodeUnavailable, "%s could not be reached: %w", u.Host, err)
	}
	defer res.Body.Close()
	var read strings.Builder // whose text is not copied once more
	_, err = io.Copy(&read, io.LimitReader(res.Body, maxBody+1))
	text := read.String()
	switch {
	case err != nil:
		return nil, core.Errorf(core.CodeUnavailable, "The answer of %s broke off: %w", u.Host, err)
	case len(text) > maxBody:
		return nil, core.Errorf(core.CodeTooLarge, "The answer of %s is larger than %d MiB. Ask for less.", u.Host, maxBody>>20)
	}
	out := &fetched{Status: res.StatusCode, StatusText: strings.TrimPrefix(res.Status, res.Status[:min(4, len(res.Status))]),
		URL: res.Request.URL.String(), Redirected: res.Request != req, Headers: [][2]string{}}
	for k, vs := range res.Header {
		for _, v := range vs {
			out.Headers = append(out.Headers, [2]string{strings.ToLower(k), v})
		}
	}
	if utf8.ValidString(text) {
		out.Text = &text
	} else {
		out.Base64 = []byte(text)
	}
	return out, nil
}

// dial connects to a host that the tool declares.
func (c *call) dial(ctx context.Context, network, address string) (net.Conn, error) {
	judge := func(address string) (bool, error) { return c.mayReach("http", address) } // with its port, so the scheme makes no difference
	return reach.Dial(judge, c.tool.Name+" must declare that address itself to reach it.")(ctx, network, address)
}

// mayReach says whether the tool declares the host of an address, with or
// without a port, and whether it declares it as one of this machine or a
// private network.
func (c *call) mayReach(scheme, address string) (private bool, err error) {
	if scheme != "http" && scheme != "https" {
		return false, core.Errorf(core.CodeDenied, "fetch reaches http and https only, not %s.", scheme)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		host, port = address, map[string]string{"http": "80", "https": "443"}[scheme]
	}
	host = strings.Trim(strings.ToLower(host), "[]")
	for _, declared := range c.tool.Hosts {
		want, wantPort := strings.ToLower(declared), ""
		if h, p, err := net.SplitHostPort(want); err == nil {
			want, wantPort = h, p
		}
		want = strings.Trim(want, "[]")
		if wantPort != "" && wantPort != port {
			continue
		}
		if below, ok := strings.CutPrefix(want, "*."); ok {
			if strings.HasSuffix(host, "."+below) {
				return false, nil
			}
			continue
		}
		if want == host {
			return reach.PrivateHost(host), nil
		}
	}
	return false, core.Errorf(core.CodeDenied, "%s does not declare the host %s. Add it to its hosts if it shall reach it.", c.tool.Name, address)
}
