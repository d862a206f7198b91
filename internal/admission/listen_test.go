package admission

import (
	"strings"
	"testing"
)

// An address that cannot be listened on is refused in one sentence with the remedy.
func TestAddressesThatCannotBeListenedOn(t *testing.T) {
	taken, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for address, says := range map[string]string{
		"8080":                   "write it like 127.0.0.1:8080",
		"127.0.0.1:99999":        "its port must be from 0 to 65535",
		"127.0.0.1:http":         "its port must be from 0 to 65535",
		"192.0.2.1:0":            "is not an address of this machine",
		taken.Addr().String():    "is in use: take another port",
		"no such host.invalid:0": "is not an address of this machine",
	} {
		l, err := Listen(address)
		if err == nil {
			_ = l.Close()
		}
		if err == nil || !strings.Contains(err.Error(), says) ||
			strings.Contains(err.Error(), "listen tcp") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
