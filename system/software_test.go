package system_test

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
)

func TestMissing(t *testing.T) {
	for want, m := range map[string]system.Missing{
		"this machine lacks redis-server: install the package redis-server (Debian, Ubuntu), or " +
			"give the target the endpoints of running servers": {
			Software: "redis-server", Packages: []string{"redis-server"}},
		"this machine lacks Java and Maven: install the packages default-jre-headless and maven " +
			"(Debian, Ubuntu), or give the target the endpoints of running servers": {
			Software: "Java and Maven", Packages: []string{"default-jre-headless", "maven"}},
		"this machine lacks nsqd: install it, or give the target the endpoints of running servers": {
			Software: "nsqd"},
	} {
		if got := m.Error(); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}
