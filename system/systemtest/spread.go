package systemtest

import (
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
)

// Dealt is the rule for messages without a key that a system must declare with some settings.
type Dealt struct {
	Given       []string // settings, name and value in turn
	Stay        time.Duration
	StayBytes   int64
	How, Source string // a part of each
}

// Spread compares a system's declared rule for messages without a key with a table.
func Spread(t *testing.T, s system.System, all []Dealt) {
	t.Helper()
	rule := s.Describe().Spread
	if rule == nil {
		t.Fatal("the system does not say how its own client deals messages without a key")
	}
	for _, want := range all {
		got := rule(Settings(t, s, want.Given...))
		if got.Stay != want.Stay || got.StayBytes != want.StayBytes {
			t.Errorf("with %q it stays for %s or %d bytes, want %s or %d",
				want.Given, got.Stay, got.StayBytes, want.Stay, want.StayBytes)
		}
		if !strings.Contains(got.How, want.How) || !strings.Contains(got.Source, want.Source) {
			t.Errorf("with %q it says %q, from %q; want %q, from %q",
				want.Given, got.How, got.Source, want.How, want.Source)
		}
	}
}
