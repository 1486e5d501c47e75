package core

// Severity says how much a finding matters.
type Severity string

const (
	SeverityInfo    Severity = "info"
	SeverityWarning Severity = "warning" // it may work, and a person should have seen it
	SeverityDanger  Severity = "danger"  // it cannot work, or it could do harm
)

// Mend names the one action that settles a finding, for a button.
type Mend string

const (
	MendNone       Mend = ""
	MendMoveSecret Mend = "move_secret" // into the secret store
	MendFillIn     Mend = "fill_in"     // a value is missing
	MendInstall    Mend = "install"     // a runtime is missing
	MendEdit       Mend = "edit"        // the configuration itself
	MendConfirm    Mend = "confirm"     // nothing runs before a person agreed
	MendRename     Mend = "rename"      // or overwrite, or skip
	MendSignIn     Mend = "sign_in"
	MendConnect    Mend = "connect"
)

// Finding is one thing that a look at a server's configuration brought up.
type Finding struct {
	Code     string   `json:"code"` // stable: "secret_in_clear"
	Severity Severity `json:"severity"`
	// Field is the place, as "github.env.TOKEN", "fs.args.2", "fs.command"; the
	// server's name alone when all of it is meant.
	Field   string `json:"field"`
	Message string `json:"message"` // one sentence for a person
	Mend    Mend   `json:"mend,omitempty"`
}
