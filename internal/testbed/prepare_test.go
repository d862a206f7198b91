package testbed

import "testing"

func TestGroupsOfAUserNamespace(t *testing.T) {
	for _, c := range []struct {
		name, table string
		want        bool
	}{
		{"none", "         0          0 4294967295\n", true},
		{"rootless", "         0       1000          1\n         1     100000      65536\n", false},
		{"mapped", "0 1000 1\n2000000000 500000 200000000\n", true},
		{"not all", "2000200192 500000 1000\n", false},
		{"empty", "", false},
		{"unreadable", "a b c\n", false},
	} {
		if got := mapsGroups(c.table); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
