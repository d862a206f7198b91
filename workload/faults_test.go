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
	} {
		_, err := Parse("w", []byte("duration: 1m\nfaults: ["+fault+"]"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", fault, err)
		}
	}
}
