package driver

import (
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestCopies(t *testing.T) {
	for _, c := range []struct {
		given   string // the setting's value; empty: its default, 3
		level   workload.Level
		servers int
		want    int
		says    string // the error of too few servers
	}{
		{"", workload.SyncAsync, 3, 3, ""},
		{"", workload.SyncAsync, 5, 3, ""},
		{"5", workload.SyncSync, 5, 5, ""},
		{"", workload.SyncAsync, 1, 3, "1 server, and durability level 2 needs 3 copies of each " +
			"message (copies): add servers, or ask for --durability 3 or 4"},
		{"5", workload.SyncSync, 3, 5, "level 1 needs 5 copies"},
		{"", workload.AsyncSync, 1, 1, ""},
		{"", workload.AsyncAsync, 2, 2, ""},
		{"", workload.AsyncAsync, 9, 3, ""},
		{"1", workload.AsyncAsync, 9, 1, ""},
		{"3", workload.AsyncAsync, 1, 3, "1 server, and copies asks for 3 copies of each " +
			"message: add servers, or write copies: 1"},
	} {
		copies := copiesGiven(t, c.given, c.level)
		if got := copies.On(c.servers); got != c.want {
			t.Errorf("%+v: %d copies", c, got)
		}
		err := copies.Enough(c.servers, quantity.Plural(c.servers, "server", "servers"))
		if c.says == "" && err != nil ||
			c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for given, level := range map[string]workload.Level{
		"1": workload.SyncAsync, "2": workload.SyncSync,
	} {
		copies := copiesGiven(t, given, level)
		if bad := copies.Check(); len(bad) != 1 ||
			!strings.Contains(bad.Error(), "needs 3 copies or more") {
			t.Errorf("%s copies at level %d: %v", given, level, bad)
		}
		if bad := slices.Concat(copies.CheckNodes(1), copies.CheckPrimary(9)); len(bad) > 0 {
			t.Errorf("%s copies at level %d are refused twice: %v", given, level, bad)
		}
	}
}

func copiesGiven(t *testing.T, value string, level workload.Level) Copies {
	t.Helper()
	var given []target.Setting
	if value != "" {
		given = []target.Setting{{Name: "copies", Value: value}}
	}
	s, err := system.Resolve(system.MustSettings("copies count 3 1..9\n    copies\n"), given)
	if err != nil {
		t.Fatal(err)
	}
	return Copies{Settings: s, Setting: "copies", Level: level}
}
