package entry

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/tailscale/hujson"

	"patchbay/backend/config/internal/jsonc"
	"patchbay/backend/core"
)

// Setting is an optional field of a server that only we know, under one key.
type Setting struct {
	Key  string
	Want string // what it must be, for a sentence
	// Value points into the server.
	Value any
}

// allowLoaders is a person's own consent, which no text from elsewhere brings along.
const allowLoaders = "allowLoaders"

// Settings lists the settings of spec, which they share.
func Settings(spec *core.ServerSpec) []Setting {
	const millis = "a whole number of milliseconds, at most a day"
	return []Setting{
		{"timeout", millis, &spec.TimeoutMS},
		{"maxTotalTimeout", millis, &spec.MaxTotalTimeoutMS},
		{"toolTimeouts", "an object of tool names and milliseconds", &spec.ToolTimeouts},
		{"connectTimeout", millis, &spec.ConnectTimeoutMS},
		{"start", `"on_demand" or "manual"`, &spec.Start},
		{"idleStop", millis, &spec.IdleStopMS},
		{"toolListTtl", millis, &spec.ToolListTTLMS},
		{"disabledTools", "a list of tool names", &spec.DisabledTools},
		{allowLoaders, "a list of places such as \"env.NODE_OPTIONS\"", &spec.AllowLoaders},
		{"roots", "a list of folders", &spec.Roots},
		{"auth", "an object with grant, clientId, clientSecret, privateKey, issuer, redirectUrl, scopes, assertion, identityProvider and dpop", &spec.Auth},
	}
}

// Zero reports whether the setting is not made.
func (s Setting) Zero() bool {
	v := reflect.ValueOf(s.Value).Elem()
	switch v.Kind() {
	case reflect.Map, reflect.Slice:
		return v.Len() == 0
	}
	return v.IsZero()
}

// Same reports whether both settings say the same.
func (s Setting) Same(other Setting) bool {
	return s.Zero() && other.Zero() || reflect.DeepEqual(s.Value, other.Value)
}

// read takes the setting from its value in a document.
func (s Setting) read(v *hujson.Value) bool {
	fresh := reflect.New(reflect.TypeOf(s.Value).Elem())
	if n, ok := s.Value.(*int64); ok {
		ms, ok := Millis(v)
		*n = ms
		return ok
	}
	dec := json.NewDecoder(bytes.NewReader(jsonc.Standard(v)))
	dec.DisallowUnknownFields()
	if dec.Decode(fresh.Interface()) != nil {
		return false
	}
	switch t := fresh.Interface().(type) {
	case *core.StartMode:
		if *t == "auto" || *t == "app" {
			*t = core.StartWithApp
		}
		if *t != core.StartWithApp && *t != core.StartOnDemand && *t != core.StartManual {
			return false
		}
	case *map[string]int64:
		for _, ms := range *t {
			if ms < 0 || ms > maxMillis {
				return false
			}
		}
	case **core.ServerAuth:
		switch (*t).Grant {
		case core.GrantPerson, core.GrantClientCredentials, core.GrantWorkload, core.GrantEnterprise:
		default:
			return false
		}
	}
	reflect.ValueOf(s.Value).Elem().Set(fresh.Elem())
	return true
}

// settings reads what only we know. Another program may use such a key for
// something else, so a foreign entry is not refused for it.
func (d *Decoder) settings(o *hujson.Object, spec *core.ServerSpec) {
	for _, s := range Settings(spec) {
		m := jsonc.Member(o, s.Key)
		if m != nil && d.Foreign && s.Key == allowLoaders {
			d.warn("allowLoaders was left out: you have to agree to such variables yourself.")
			continue
		}
		if m == nil || m.Value.Kind() == 'n' || s.read(m) {
			continue
		}
		if d.Foreign && s.Key != "timeout" {
			d.warn("the key %q holds something else than it does here and was left out.", s.Key)
			continue
		}
		d.fail(WrongType, m, d.path+"/"+s.Key, "%s must be %s, not %s.", s.Key, s.Want, core.Clip(strings.TrimSpace(string(m.Pack())), 40))
	}
	if d.Foreign && spec.TimeoutMS > 0 && spec.TimeoutMS < 1000 {
		d.warn("timeout %d is read as seconds.", spec.TimeoutMS)
		spec.TimeoutMS *= 1000
	}
}
