package reach_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"patchbay/backend/tools/reach"
)

// Would catch: an address that leads home or into a private network by another way of writing it.
func TestPublic(t *testing.T) {
	for _, a := range []string{"127.0.0.1", "0.0.0.0", "10.1.2.3", "169.254.169.254", "100.64.0.1", "192.168.0.1", "224.0.0.1", "255.255.255.255",
		"::", "::1", "::127.0.0.1", "::10.0.0.1", "fe80::1", "fc00::1", "fec0::1", "64:ff9b::7f00:1", "2002:7f00:1::", "ff02::1"} {
		require.False(t, reach.Public(netip.MustParseAddr(a)), a)
	}
	for _, a := range []string{"1.1.1.1", "192.0.1.1", "2606:4700::1111"} {
		require.True(t, reach.Public(netip.MustParseAddr(a)), a)
	}
}
