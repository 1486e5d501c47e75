package testllm

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func post(t *testing.T, url, body string) (int, string) {
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer func() { assert.NoError(t, res.Body.Close()) }()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(b)
}

// What lenient servers let pass must be refused here, or tests prove nothing.
func TestWrongRequestsAreRefused(t *testing.T) {
	const tool = `{"type":"function","function":{"name":"t","parameters":{"type":"object","properties":{}}}}`
	const call = `{"id":"1","type":"function","function":{"name":"t","arguments":"{}"}}`
	user := `{"role":"user","content":"hi"}`
	open := func(messages, more string) string {
		return `{"model":"test-model","stream":true,"messages":[` + messages + `]` + more + `}`
	}
	srv, h := Start(Script{Rules: []Rule{{Text: "ok"}}})
	defer h.Close()
	for reason, tc := range map[string]struct{ path, body string }{
		"not a JSON object":              {"/v1/chat/completions", `[]`},
		"stream must be true":            {"/v1/chat/completions", `{"model":"test-model","messages":[` + user + `]}`},
		"unknown field":                  {"/v1/chat/completions", open(user, `,"extra":1`)},
		"messages[1] must be an object":  {"/v1/chat/completions", open(user+`,"{\"role\":\"user\"}"`, "")},
		"answers no call":                {"/v1/chat/completions", open(user+`,{"role":"assistant","tool_calls":[`+call+`]},{"role":"tool","tool_call_id":"2","content":"x"}`, "")},
		"have no tool messages":          {"/v1/chat/completions", open(user+`,{"role":"assistant","tool_calls":[`+call+`]},`+user, "")},
		"without a call before it":       {"/v1/chat/completions", open(user+`,{"role":"tool","tool_call_id":"1","content":"x"}`, "")},
		"empty or repeated id":           {"/v1/chat/completions", open(user+`,{"role":"assistant","tool_calls":[`+call+`,`+call+`]}`, "")},
		"must be a string":               {"/v1/chat/completions", open(user+`,{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"t","arguments":{}}}]}`, "")},
		"must come first":                {"/v1/chat/completions", open(user+`,{"role":"system","content":"x"}`, "")},
		"the last message must be":       {"/v1/chat/completions", open(user+`,{"role":"assistant","content":"x"}`, "")},
		"is not allowed or stands twice": {"/v1/chat/completions", open(user, `,"tools":[`+tool+`,`+tool+`]`)},
		"must have type object":          {"/v1/chat/completions", open(user, `,"tools":[{"type":"function","function":{"name":"t","parameters":{"properties":{}}}}]`)},
		"must not have anyOf":            {"/v1/chat/completions", open(user, `,"tools":[{"type":"function","function":{"name":"t","parameters":{"type":"object","properties":{},"anyOf":[]}}}]`)},
		"properties.a must be an object": {"/api/chat", open(user, `,"tools":[{"type":"function","function":{"name":"t","parameters":{"type":"object","properties":{"a":true}}}}]`)},
		"arguments must be an object":    {"/api/chat", open(user+`,{"role":"assistant","content":"","tool_calls":[{"function":{"name":"t","arguments":"{}"}}]}`, "")},
		"stands where that of":           {"/api/chat", open(user+`,{"role":"assistant","content":"","tool_calls":[{"function":{"name":"t","arguments":{}}}]},{"role":"tool","tool_name":"u","content":"x"}`, "")},
		"base64 in a user message":       {"/api/chat", open(`{"role":"user","content":"x","images":["?"]}`, "")},
	} {
		status, body := post(t, h.URL+tc.path, tc.body)
		assert.Equal(t, 400, status, reason)
		assert.Contains(t, body, reason)
		all := srv.Requests()
		assert.Contains(t, all[len(all)-1].Refused, reason)
		assert.Equal(t, tc.body, string(all[len(all)-1].Body), "bodies are kept as they came")
	}
	for _, path := range []string{"/v1/chat/completions", "/api/chat"} {
		status, body := post(t, h.URL+path, open(user, `,"tools":[`+tool+`]`))
		assert.Equal(t, 200, status, body)
	}
}

func TestRulesAreUsedInOrderAndSoOftenAsTheySay(t *testing.T) {
	_, h := Start(Script{Rules: []Rule{{User: "b", Text: "for b"}, {Times: 1, Text: "once"}, {Text: "then"}}})
	defer h.Close()
	for _, tc := range [][2]string{{"a", "once"}, {"a", "then"}, {"b", "for b"}} {
		_, body := post(t, h.URL+"/api/chat", `{"model":"test-model","stream":true,"messages":[{"role":"user","content":"`+tc[0]+`"}]}`)
		assert.Contains(t, body, tc[1])
	}
}

func TestScriptsAreReadStrictly(t *testing.T) {
	s, err := UnmarshalScript([]byte(`{"rules":[{"user":"x","hasToolResult":false,"toolCalls":[{"name":"t","arguments":{"a":1}}]}]}`))
	require.NoError(t, err)
	assert.Equal(t, json.RawMessage(`{"a":1}`), s.Rules[0].ToolCalls[0].Arguments)
	_, err = UnmarshalScript([]byte(`{"rules":[{"usr":"x"}]}`))
	assert.Error(t, err)
}
