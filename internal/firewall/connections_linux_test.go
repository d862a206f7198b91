package firewall

import (
	"encoding/binary"
	"testing"
)

func TestConnectionsAsTheKernelWritesThem(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the lines are those of a machine with the other byte order")
	}
	for line, want := range map[string]connection{
		"   1: 0100007F:1F90 02010A7F:A3C4 01 00000000:00000000 00:00000000 00000000" +
			"     0        0 4242 1 0": {
			local: at("127.0.0.1:8080"), remote: at("127.10.1.2:41924")},
		"  12: 0000000000000000FFFF00000100007F:0050 0000000000000000FFFF00000200007F:0051" +
			" 01 0:0 0:0 0 0 0 4242 1": {
			local: at("127.0.0.1:80"), remote: at("127.0.0.2:81")},
	} {
		c, inode, err := readConnection(line)
		if err != nil || c != want || inode != "4242" {
			t.Errorf("%s: %v, %s, %v", line, c, inode, err)
		}
	}
	for _, invalid := range []string{
		"", "1: x:y 0:0 01 a b c d e 4242", "1: 01:0050 01:0050 01 a b c d e 4242",
	} {
		if _, _, err := readConnection(invalid); err == nil {
			t.Errorf("%q was taken for a connection", invalid)
		}
	}
}
