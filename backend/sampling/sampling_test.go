package sampling_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"patchbay/backend/core"
	"patchbay/backend/sampling"
)

// scene is a person, a model and a log, each noting what it saw.
type scene struct {
	answers   []answer // of the person, one a question
	questions []core.Question
	asked     []core.Sampling // of the model
	modelErr  error
	beginErr  error
	records   []core.AuditRecord // as they ended
}

type answer struct {
	action  core.QuestionAction
	content string
}

func (s *scene) Ask(_ context.Context, q core.Question) (core.QuestionAction, json.RawMessage, error) {
	a := s.answers[len(s.questions)]
	s.questions = append(s.questions, q)
	return a.action, json.RawMessage(a.content), nil
}

func (s *scene) ID() string   { return "tiny" }
func (s *scene) Name() string { return "tiny of Here" }

func (s *scene) Answer(_ context.Context, in core.Sampling) (string, bool, error) {
	s.asked = append(s.asked, in)
	return "the model's words", true, s.modelErr
}

func (s *scene) Begin(context.Context, core.AuditRecord) (int64, error) { return 7, s.beginErr }

func (s *scene) End(_ context.Context, r core.AuditRecord) error {
	s.records = append(s.records, r)
	return nil
}

func (s *scene) run(t *testing.T) (sampling.Answer, error) {
	t.Helper()
	svc := &sampling.Service{Asker: s, Log: s, Choose: func(context.Context) (sampling.Model, error) { return s, nil }}
	return svc.Sample(t.Context(), "github", "call-1", core.Sampling{SystemPrompt: "be kind", MaxTokens: 100,
		Messages: []core.SamplingMessage{{Role: "user", Text: "one"}, {Role: "user", MIMEType: "image/png", Data: []byte{1}}}})
}

func yes(content string) answer { return answer{core.QuestionAccept, content} }

func TestAPersonSeesAndChangesBoth(t *testing.T) {
	s := &scene{answers: []answer{yes(`{"systemPrompt":"","texts":["two",""],"maxTokens":9}`), yes(`{"answer":"my words"}`)}}
	out, err := s.run(t)
	require.NoError(t, err)
	assert.Equal(t, sampling.Answer{Action: core.QuestionAccept, Text: "my words", Model: "tiny", Cut: true}, out)
	require.Len(t, s.questions, 2)
	assert.Equal(t, core.QuestionSampling, s.questions[0].Kind)
	assert.Equal(t, "one", s.questions[0].Sampling.Messages[0].Text, "the person must see what the server wrote")
	assert.Equal(t, core.QuestionSamplingAnswer, s.questions[1].Kind)
	assert.Equal(t, "the model's words", s.questions[1].Sampling.Answer)
	require.Len(t, s.asked, 1)
	assert.Empty(t, s.asked[0].SystemPrompt)
	assert.EqualValues(t, 9, s.asked[0].MaxTokens)
	assert.Equal(t, "two", s.asked[0].Messages[0].Text)
	assert.Equal(t, []byte{1}, s.asked[0].Messages[1].Data)
	require.Len(t, s.records, 1)
	r := s.records[0]
	assert.Equal(t, core.CallDone, r.Status)
	assert.Equal(t, "call-1", r.ParentID)
	assert.Equal(t, core.PrincipalServer, r.Principal.Kind)
	assert.EqualValues(t, 7, r.Seq)
	assert.Contains(t, r.Arguments, "one")
}

func TestWhatIsNotLetThroughGoesNowhere(t *testing.T) {
	for name, c := range map[string]struct {
		scene   scene
		asked   int
		status  core.CallStatus
		problem string
	}{
		"declined":              {scene{answers: []answer{{action: core.QuestionDecline}}}, 0, core.CallDenied, ""},
		"dismissed":             {scene{answers: []answer{{action: core.QuestionCancel}}}, 0, core.CallDenied, ""},
		"answer declined":       {scene{answers: []answer{yes(""), {action: core.QuestionDecline}}}, 1, core.CallDenied, ""},
		"unreadable change":     {scene{answers: []answer{yes(`[`)}}, 0, core.CallFailed, "cannot be read"},
		"texts do not fit":      {scene{answers: []answer{yes(`{"texts":["a"]}`)}}, 0, core.CallFailed, "1 texts for 2"},
		"model fails":           {scene{answers: []answer{yes("")}, modelErr: errors.New("no model today")}, 1, core.CallFailed, "no model today"},
		"unreadable answer":     {scene{answers: []answer{yes(""), yes(`{"answer":1}`)}}, 1, core.CallFailed, "cannot be read"},
		"log cannot be written": {scene{beginErr: errors.New("disk full")}, 0, "", "audit log"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := c.scene.run(t)
			assert.Empty(t, out.Text)
			assert.NotEqual(t, core.QuestionAccept, out.Action)
			if c.problem != "" {
				require.ErrorContains(t, err, c.problem)
			} else {
				require.NoError(t, err)
			}
			assert.Len(t, c.scene.asked, c.asked)
			if c.status != "" {
				require.Len(t, c.scene.records, 1)
				assert.Equal(t, c.status, c.scene.records[0].Status)
			}
		})
	}
}
