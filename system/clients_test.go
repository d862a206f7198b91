package system_test

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

var described = system.Description{
	Settings: system.MustSettings(`
version text 1 1|2
    of the servers
linger duration 5ms 0s..1m
    how long a producer waits
poll duration 5ms 0s..1m
    how long a consumer waits
`),
	Clients: map[workload.Clients]system.Aim{
		workload.ClientsThroughput: {Sets: system.MustSet("linger=20ms", "poll=15ms")},
	},
	Waits: []system.Wait{{Series: result.Publish, Setting: "linger",
		Words: "the client waits up to %s for more messages"}},
}

// The target's own settings win over the aim's, and these over the defaults, also in another
// version of the servers.
func TestAimOfTheClientsIsALayerOfDefaults(t *testing.T) {
	own := []target.Setting{{Name: "poll", Value: "1ms"}}
	s, err := described.Resolve(workload.ClientsThroughput, own)
	if err != nil {
		t.Fatal(err)
	}
	later, err := s.Versioned("2")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []system.Settings{s, later} {
		if s.Text("linger") != "20ms" || s.Text("poll") != "1ms" || s.Given("linger") {
			t.Errorf("linger %s, poll %s", s.Text("linger"), s.Text("poll"))
		}
	}
	set, kept := s.Aimed()
	if len(set) != 1 || set[0].Value != "20ms" || len(kept) != 1 || kept[0].Value != "1ms" {
		t.Errorf("set %v, kept %v", set, kept)
	}
	s, err = described.Resolve("", own)
	if err != nil || s.Text("linger") != "5ms" || s.Text("poll") != "1ms" {
		t.Errorf("without an aim: linger %s, poll %s: %v", s.Text("linger"), s.Text("poll"), err)
	}
}

// A wait is named with its longest time, and not at all where it is 0.
func TestWaitsFollowFromSettings(t *testing.T) {
	for value, want := range map[string]string{
		"3ms": "the client waits up to 3ms for more messages (linger)", "0s": "",
	} {
		s, err := described.Resolve("", []target.Setting{{Name: "linger", Value: value}})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, w := range described.WaitsOf(system.Check{Settings: s, Durability: workload.SyncSync}) {
			got += w.Sentence
		}
		if got != want {
			t.Errorf("linger %s: %q, want %q", value, got, want)
		}
	}
}
