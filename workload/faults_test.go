package workload

import (
	"strings"
	"testing"
	"time"
)

// A rolling restart in words has the version of a workload's to_version.
func TestARollingRestartHasAVersion(t *testing.T) {
	const words = "rolling-restart all at 5s for 1m to 4.3.1"
	f, _, err := ParseFault(words)
	if err != nil || f.ToVersion != "4.3.1" || f.At != 5*time.Second || f.String() != words {
		t.Errorf("%+v, %s: %v", f, f, err)
	}
	w, err := Parse("w", []byte(
		"duration: 2m\nfaults: [{do: rolling-restart, at: 5s, for: 1m, to_version: 4.3.1}]"))
	if err != nil || len(w.Faults) != 1 || w.Faults[0] != f {
		t.Fatalf("%+v: %v", w, err)
	}
	again, err := Parse("again", []byte(w.YAML()))
	if err != nil || len(again.Faults) != 1 || again.Faults[0] != f {
		t.Errorf("%s: %v", w.YAML(), err)
	}
}

func TestVersionsAreRefused(t *testing.T) {
	for words, want := range map[string]string{
		"rolling-restart at 5s to":          `nothing after "to"`,
		"rolling-restart at 5s to 1.0 to 2": `to is given twice`,
	} {
		if _, _, err := ParseFault(words); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", words, err)
		}
	}
	for fault, want := range map[string]string{
		"{do: kill, at: 5s, to_version: 1.0.0}":                  "rolling-restart only: remove it",
		"{do: rolling-restart, at: 5s, to_version: '1.0; drop'}": `holds ';'`,
		"{do: rolling-restart, at: 5s, for: 5s, to_version: 4.3.1}, " +
			"{do: scale-out, at: 20s, for: 5s}": "have an upgrade and scale-out",
	} {
		_, err := Parse("w", []byte("duration: 1m\nfaults: ["+fault+"]"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", fault, err)
		}
	}
}

// The servers that faults need beside the target's: one for each that joins, and one for each that
// leaves and has not joined.
func TestExtraServers(t *testing.T) {
	for faults, want := range map[string][2]int{
		"[]":                                            {0, 0},
		"[{do: kill, at: 1s, for: 1s}]":                 {0, 0},
		"[{do: scale-out, at: 1s, for: 1s}]":            {1, 1},
		"[{do: scale-in, at: 1s, for: 1s}]":             {1, 0},
		"[{do: scale-out, at: 1s, every: 5s, for: 1s}]": {2, 2},
		"[{do: scale-out, at: 1s, for: 1s}, {do: scale-in, at: 4s, for: 1s}]": {1, 1},
		"[{do: scale-in, at: 1s, for: 1s}, {do: scale-out, at: 4s, for: 1s}]": {2, 1},
		"[{do: scale-in, at: 4s, for: 1s}, {do: scale-out, at: 1s, for: 1s}]": {1, 1},
		"[{do: scale-in, at: 1s, every: 3s, for: 1s}]":                        {3, 0},
	} {
		w, err := Parse("w", []byte("duration: 10s\nfaults: "+faults))
		if err != nil {
			t.Errorf("%s: %v", faults, err)
			continue
		}
		if all, later := w.Extra(); all != want[0] || later != want[1] {
			t.Errorf("%s: %d servers, %d later, want %v", faults, all, later, want)
		}
	}
}
