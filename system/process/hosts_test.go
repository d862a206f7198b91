package process

import (
	"net"
	"os"
	"strings"
	"testing"
)

func TestHostsNamesThisMachineAndNoOther(t *testing.T) {
	text, err := Hosts()
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text))
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if len(fields) != 3 || !net.ParseIP(fields[0]).IsLoopback() ||
		fields[1] != "localhost" || fields[2] != name {
		t.Errorf("%q", text)
	}
}
