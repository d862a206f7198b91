package systemtest

import (
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Redelivered is the redelivery that a system must declare under some settings.
type Redelivered struct {
	Delivery workload.Delivery
	Given    []string // settings, name and value in turn
	Never    bool
	After    time.Duration
	Why      string // a part of the reason
}

// Redelivery compares a system's declared redelivery with a table, whose lines contain parts of
// the reasons.
func Redelivery(t *testing.T, s system.System, all []Redelivered) {
	t.Helper()
	redelivery := s.Describe().Redelivery
	if redelivery == nil {
		t.Fatal("the system does not say when it delivers a message again")
	}
	for _, want := range all {
		got := redelivery(Settings(t, s, want.Given...), want.Delivery)
		if got.Never != want.Never || got.After != want.After {
			t.Errorf("%s with %q: never %t, after %s; want never %t, after %s",
				want.Delivery, want.Given, got.Never, got.After, want.Never, want.After)
		}
		if want.Why == "" || !strings.Contains(got.Why, want.Why) {
			t.Errorf("%s with %q: the reason is %q; want %q in it",
				want.Delivery, want.Given, got.Why, want.Why)
		}
	}
}
