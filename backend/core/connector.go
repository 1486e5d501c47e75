package core

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// ConnectorAuthType says where a connector's secret goes.
type ConnectorAuthType string

const (
	AuthBearer ConnectorAuthType = "bearer" // Authorization: Bearer …
	AuthBasic  ConnectorAuthType = "basic"  // Authorization: Basic …, with User
	AuthHeader ConnectorAuthType = "header" // the header Name
	AuthQuery  ConnectorAuthType = "query"  // the query parameter Name
	AuthCookie ConnectorAuthType = "cookie" // the cookie Name
)

// ConnectorAuth is how a connector signs in.
type ConnectorAuth struct {
	Type ConnectorAuthType `json:"type"`
	// Secret refers to a secret: "${secret:NAME}". The value itself never stands here.
	Secret string `json:"secret"`
	Name   string `json:"name,omitempty"` // of the header or the query parameter
	User   string `json:"user,omitempty"` // of basic
}

// SecretName returns the name of the secret that a refers to; "" when Secret is no reference.
func (a ConnectorAuth) SecretName() string {
	name, ok := strings.CutPrefix(a.Secret, "${secret:")
	name, closed := strings.CutSuffix(name, "}")
	if !ok || !closed || strings.ContainsAny(name, "{}$") {
		return ""
	}
	return name
}

// Connector declares one HTTP request. In URL, Headers, Query, Cookies and Body,
// "{{name}}" stands for the argument of that name.
type Connector struct {
	Method string `json:"method"` // in capitals
	// URL is absolute. Its scheme and host are fixed: no argument may stand there.
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"`
	// Query is appended to the URL. A parameter whose argument is not given is left
	// out; a list becomes one parameter for each value. A name that ends in "[*]" may
	// take an object, which becomes one parameter for each field: "filter[*]" sends filter[name]=x.
	Query map[string]string `json:"query,omitempty"`
	// Cookies are sent with the request. One whose argument is not given is left out.
	Cookies map[string]string `json:"cookies,omitempty"`
	// Body is any JSON value. A text that is one placeholder and nothing else
	// becomes the argument itself, with its type. nil sends none.
	Body json.RawMessage `json:"body,omitempty"`
	// BodyAs is how the body is sent: "" or "json", "form" or "multipart" (both an
	// object of the fields) or "text".
	BodyAs string `json:"bodyAs,omitempty"`
	// Files names the fields of a multipart body that are files: a text, or an
	// object with name, mediaType and either text or base64.
	Files []string       `json:"files,omitempty"`
	Auth  *ConnectorAuth `json:"auth,omitempty"` // nil signs in nowhere
	// Pick is the path of what is kept of a JSON answer, as GJSON spells it
	// ("items.0.name", "items.#.name"); "" keeps all.
	Pick string `json:"pick,omitempty"`
	// AllowPrivate lets the host lead to this machine or a private network also
	// where the URL does not name such an address itself. It is for this host only,
	// and for none that it redirects to.
	AllowPrivate bool `json:"allowPrivate,omitempty"`
}

// Methods are those that a connector may use.
func Methods() []string {
	return []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
}

// Origin returns the part of the URL before its path, as it is written.
func (c Connector) Origin() string {
	scheme, rest, ok := strings.Cut(c.URL, "://")
	if !ok {
		return ""
	}
	if i := strings.IndexAny(rest, "/?#\\"); i >= 0 {
		rest = rest[:i]
	}
	return scheme + "://" + rest
}

// Check says what is wrong with c: an [Error] with the code invalid and the
// field in Path, or nil.
func (c Connector) Check() error {
	bad := func(path, format string, args ...any) error {
		e := Errorf(CodeInvalid, format, args...)
		e.Path = path
		return e
	}
	if !slices.Contains(Methods(), c.Method) {
		return bad("method", "%q is no method that a connector can use. Use one of %s.", c.Method, strings.Join(Methods(), ", "))
	}
	origin := c.Origin()
	if strings.Contains(origin, "{{") {
		return bad("url", "The host of the URL is fixed: %q may hold no argument. Put arguments behind the first slash.", origin)
	}
	u, err := url.Parse(origin)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return bad("url", "The URL must be absolute and begin with https:// or http://, not %q.", HideUser(c.URL))
	case u.User != nil:
		return bad("url", "The URL may hold no user and no password. Use the authentication for that, so that they stay in the secret store.")
	case strings.ContainsRune(c.URL, '#'):
		return bad("url", "The URL may hold no fragment (#…): it is never sent.")
	case strings.ContainsAny(c.URL, "\\ \r\n\t"):
		return bad("url", "The URL may hold no spaces and no backslashes.")
	}
	for k, v := range c.Headers {
		switch name := strings.ToLower(k); {
		case !token(k):
			return bad("headers", "%q is no name of a header.", k)
		case name == "host" || name == "content-length" || name == "transfer-encoding" || name == "connection":
			return bad("headers", "The header %s is set by the connection itself. Take it out.", k)
		case strings.ContainsAny(v, "\r\n\x00"):
			return bad("headers", "The header %s holds a line break, which no header can.", k)
		}
	}
	for k, v := range c.Cookies {
		switch {
		case !token(k):
			return bad("cookies", "%q is no name of a cookie.", k)
		case strings.ContainsAny(v, "\r\n\x00;"):
			return bad("cookies", "The cookie %s holds a semicolon or a line break, which no cookie can.", k)
		}
	}
	switch c.BodyAs {
	case "", "json", "text":
	case "form", "multipart":
		if len(c.Body) > 0 && c.Body[0] != '{' {
			return bad("body", "A form must be an object of its fields.")
		}
	default:
		return bad("bodyAs", "The body is sent as json, form, multipart or text, not as %q.", c.BodyAs)
	}
	if len(c.Files) > 0 && c.BodyAs != "multipart" {
		return bad("files", "Files are sent in a multipart body. Set bodyAs to multipart, or take files out.")
	}
	if len(c.Body) > 0 && (c.Method == "GET" || c.Method == "HEAD") {
		return bad("body", "A %s request has no body. Use the query, or another method.", c.Method)
	}
	a := c.Auth
	if a == nil {
		return nil
	}
	switch a.Type {
	case AuthBearer, AuthBasic:
	case AuthHeader, AuthQuery, AuthCookie:
		if a.Name == "" || a.Type != AuthQuery && !token(a.Name) {
			return bad("auth", "The authentication needs the name of its header, query parameter or cookie.")
		}
	default:
		return bad("auth", "%q is no way to sign in. Use bearer, basic, header, query or cookie.", a.Type)
	}
	if a.SecretName() == "" {
		return bad("auth", "The secret must be a reference such as ${secret:NAME}. The value itself belongs into the secret store.")
	}
	return nil
}

// Annotations are what the method says of the tool (RFC 9110, section 9.2).
func (c Connector) Annotations() Annotations {
	yes, reads := true, c.Method == "GET" || c.Method == "HEAD" || c.Method == "OPTIONS"
	a := Annotations{ReadOnlyHint: &reads, OpenWorldHint: &yes}
	if c.Method == "DELETE" {
		a.DestructiveHint = &yes
	}
	return a
}

// HideUser takes the user and the password out of an address that is to be shown.
func HideUser(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	host, path, _ := strings.Cut(rest, "/")
	if i := strings.LastIndexByte(host, '@'); ok && i >= 0 {
		return scheme + "://…@" + host[i+1:] + "/" + path
	}
	return address
}

// token reports whether s is a token (RFC 9110, section 5.6.2).
func token(s string) bool {
	for _, r := range s {
		if r > 126 || r < 33 || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) {
			return false
		}
	}
	return s != ""
}

// ConnectorProposal is one operation of an API document as a tool could be made of it.
type ConnectorProposal struct {
	Operation string `json:"operation"` // its id in the document, or method_path
	Path      string `json:"path"`      // as the document spells it
	// Tool is ready to be saved, unless Problem says otherwise. A secret that it
	// refers to may not exist yet.
	Tool     CustomTool `json:"tool"`
	Warnings []string   `json:"warnings"` // what of the operation is left out
	Problem  string     `json:"problem,omitempty"`
}
