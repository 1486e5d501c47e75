// Command client is Patchbay's MCP client without a window, for the official
// conformance suite: it plays one scenario against the server whose address is
// its argument, with the engine of the product and a scripted person. It exits
// with 0 if the scenario went as a client should have it, else with 1.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"patchbay/backend/core"
	"patchbay/backend/mcp"
)

const (
	limit  = 25 * time.Second // the suite gives up after 30 s
	server = "conformance"
	// document need not exist: no authorization server of the suite reads it.
	document = "https://conformance-test.local/client-metadata.json"
)

func main() {
	log.SetFlags(log.Lmicroseconds)
	if len(os.Args) != 2 {
		log.Fatal("usage: client <server-url>")
	}
	if err := run(os.Args[1], os.Getenv("MCP_CONFORMANCE_SCENARIO"), os.Getenv("MCP_CONFORMANCE_CONTEXT")); err != nil {
		log.Fatal(err)
	}
}

// scenario is what the suite tells a client beside the address.
type scenario struct {
	Name         string `json:"name"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	Issuer       string `json:"issuer"`
	PrivateKey   string `json:"private_key_pem"`
	WorkloadJWT  string `json:"valid_jwt"`
	IDPClientID  string `json:"idp_client_id"`
	IDPToken     string `json:"idp_id_token"`
	IDPTokenURL  string `json:"idp_token_endpoint"`
	ToolCalls    []struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"toolCalls"`
}

// player is one run: the engine, and what it is to do.
type player struct {
	*mcp.Manager
	scenario
	ctx context.Context
}

func run(address, name, data string) error {
	sc := scenario{}
	if data != "" {
		if err := json.Unmarshal([]byte(data), &sc); err != nil {
			return fmt.Errorf("MCP_CONFORMANCE_CONTEXT: %w", err)
		}
	}
	sc.Name = name
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	m := mcp.New(mcp.Options{
		Asker: person{}, Shell: "none", Auth: func(string) mcp.AuthConfig { return mcp.AuthConfig{MetadataURL: document} },
		// Many clients run at once on one machine: a probe that is cut short would
		// be taken for an older server.
		Limits: mcp.Limits{Probe: 15 * time.Second, Stream: 15 * time.Second},
	})
	defer func() {
		end, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		timeline, err := m.Activity(server, 0)
		if err != nil {
			log.Print(err)
		}
		for _, a := range timeline {
			log.Printf("%s %s: %s", a.At, a.Kind, a.Text)
		}
		if err := m.Close(end); err != nil {
			log.Print(err)
		}
	}()
	p := &player{m, sc, ctx}
	m.Apply([]core.ServerSpec{{Name: server, Transport: core.TransportHTTP, URL: address, Auth: sc.auth()}})
	if err := p.connected(); err != nil {
		return err
	}
	return p.play()
}

// auth is how to sign in, as the scenario has it.
func (sc scenario) auth() *core.ServerAuth {
	a := &core.ServerAuth{ClientID: sc.ClientID, ClientSecret: sc.ClientSecret, Issuer: sc.Issuer}
	switch sc.Name {
	case "auth/client-credentials-basic":
		a.Grant = core.GrantClientCredentials
	case "auth/client-credentials-jwt":
		a.Grant, a.PrivateKey = core.GrantClientCredentials, sc.PrivateKey
	case "auth/wif-jwt-bearer":
		a.Grant, a.Assertion = core.GrantWorkload, sc.WorkloadJWT
	case "auth/enterprise-managed-authorization":
		a.Grant, a.Assertion = core.GrantEnterprise, sc.IDPToken
		a.IdentityProvider = &core.IdentityProvider{TokenURL: sc.IDPTokenURL, ClientID: sc.IDPClientID}
	case "auth/dpop", "auth/dpop-nonce":
		a.DPoP = true
	}
	return a
}

// connected waits until the server is, signing in where that is wanted: again
// when the token is not accepted, but not for ever.
func (p *player) connected() error {
	for signIns := 0; ; {
		if err := p.WaitSettled(p.ctx); err != nil {
			return err
		}
		st := p.Status()[0]
		switch {
		case st.State == core.StateConnected:
			return nil
		case st.State == core.StateNeedsSignIn && signIns < 3:
			if err := p.SignIn(p.ctx, server); err != nil {
				return err
			}
			signIns++
		default:
			return fmt.Errorf("%s: %s %s", st.State, st.Message, st.Detail)
		}
	}
}

// play does what the scenario is about.
func (p *player) play() error {
	switch p.Name {
	case "tools_call":
		return p.call("add_numbers", `{"a":5,"b":3}`)
	case "elicitation-sep1034-client-defaults":
		return p.call("test_client_elicitation_defaults", `{}`)
	case "sse-retry":
		return p.call("test_reconnection", `{}`)
	case "sep-2322-client-request-state":
		for _, tool := range []string{"test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_unrelated", "test_mrtr_no_result_type"} {
			p.try(tool, `{}`)
		}
	case "http-standard-headers":
		return p.everything()
	case "http-custom-headers":
		for _, c := range p.ToolCalls {
			p.try(c.Name, string(c.Arguments))
		}
	case "http-invalid-tool-headers":
		for _, t := range p.Tools(server) {
			p.try(t.Ref.Name, `{"region":"us-west1"}`)
		}
	case "json-schema-2020-12-preservation":
		for _, t := range p.Tools(server) {
			if t.Ref.Name == "json_schema_2020_12_tool" {
				return p.call("json_schema_echo", `{"schema":`+string(t.InputSchema)+`}`)
			}
		}
		return errors.New("the tool with the schema is not there")
	default:
		if strings.HasPrefix(p.Name, "auth/") {
			return p.call("test-tool", `{}`)
		}
	}
	return nil
}

// everything uses one tool, one resource and one prompt.
func (p *player) everything() error {
	if tools := p.Tools(server); len(tools) > 0 {
		p.try(tools[0].Ref.Name, `{}`)
	}
	var list struct {
		Resources []struct {
			URI string `json:"uri"`
		} `json:"resources"`
		Prompts []struct {
			Name string `json:"name"`
		} `json:"prompts"`
	}
	for _, method := range []string{"resources/list", "prompts/list"} {
		raw, err := p.Request(p.ctx, server, method, nil)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(raw, &list); err != nil {
			return err
		}
	}
	if len(list.Resources) > 0 {
		if err := p.request("resources/read", map[string]string{"uri": list.Resources[0].URI}); err != nil {
			return err
		}
	}
	if len(list.Prompts) > 0 {
		return p.request("prompts/get", map[string]string{"name": list.Prompts[0].Name})
	}
	return nil
}

func (p *player) request(method string, params map[string]string) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	_, err = p.Request(p.ctx, server, method, raw)
	return err
}

// call runs a tool, and again after giving it the permission that it lacked. A
// server that is never content is given up.
func (p *player) call(tool, args string) error {
	for n := 0; ; n++ {
		_, err := p.Call(p.ctx, core.ToolRef{Kind: core.ToolMCP, Server: server, Name: tool}, fmt.Sprintf("%s-%d", tool, n), json.RawMessage(args), nil)
		if core.CodeOf(err) != core.CodeNeedsAuth || n == 2 {
			return err
		}
		log.Printf("%v", err)
		if err := p.SignIn(p.ctx, server); err != nil {
			return err
		}
		if err := p.connected(); err != nil {
			return err
		}
	}
}

// try runs a tool whose failure may be what the scenario wants.
func (p *player) try(tool, args string) {
	if err := p.call(tool, args); err != nil {
		log.Printf("%s: %v", tool, err)
	}
}

// person says yes to everything.
type person struct{}

func (person) Fill(context.Context, mcp.Form) (mcp.FormAnswer, error) {
	return mcp.FormAnswer{Action: mcp.Accept}, nil
}

func (person) Visit(context.Context, mcp.Visit) (mcp.Action, error) { return mcp.Accept, nil }

func (person) Sample(_ context.Context, s mcp.Sample) (mcp.SampleAnswer, error) {
	return mcp.SampleAnswer{Action: mcp.Accept, Text: "An answer.", Model: "scripted"}, nil
}

// OpenBrowser is a browser whose person is signed in already: it gets the page,
// which leads straight back, and goes where it leads.
func (person) OpenBrowser(ctx context.Context, _, address string) error {
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for range 2 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		resp, err := c.Do(req)
		if err != nil {
			return err
		}
		resp.Body.Close()
		if address = resp.Header.Get("Location"); address == "" {
			return nil
		}
	}
	return nil
}
