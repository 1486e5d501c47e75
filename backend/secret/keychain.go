package secret

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/zalando/go-keyring"
)

// SystemKeychain returns the keychain of the system, nil where there is surely none.
func SystemKeychain() Keychain {
	if runtime.GOOS != "darwin" && runtime.GOOS != "windows" && !hasSessionBus() {
		return nil
	}
	return systemKeychain{}
}

// hasSessionBus reports whether a D-Bus session is running. Without one the
// keychain's library would start a daemon of its own and leave it behind.
func hasSessionBus() bool {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		dir = fmt.Sprintf("/run/user/%d", os.Getuid())
	}
	st, err := os.Stat(filepath.Join(dir, "bus"))
	return err == nil && st.Mode()&os.ModeSocket != 0
}

type systemKeychain struct{}

func (systemKeychain) Get(service, account string) (string, error) {
	v, err := keyring.Get(service, account)
	if errors.Is(err, keyring.ErrNotFound) {
		return "", ErrNoKey
	}
	return v, err
}

func (systemKeychain) Set(service, account, value string) error {
	return keyring.Set(service, account, value)
}
