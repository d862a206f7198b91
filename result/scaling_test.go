package result

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Subscriptions that leave together come back one by one, and leave again.
func TestAbsences(t *testing.T) {
	steps := []ScaleStep{
		{Consumers: 2}, {AtNs: 10}, // all leave
		{AtNs: 20, Consumers: 2, Subscription: 1, Return: &Return{CaughtUpNs: 5}},
		{AtNs: 30, Consumers: 2, Subscription: 2, Return: &Return{CaughtUpNs: 10}},
		{AtNs: 60, Subscription: 2},
		{AtNs: 70, Consumers: 1, Subscription: 2, Return: &Return{}}, // does not catch up
	}
	want := []Absence{
		{State: BeforeAbsence, EndNs: 10}, {State: Away, StartNs: 10, EndNs: 30},
		{State: CatchingUp, StartNs: 30, EndNs: 40}, {State: Back, StartNs: 40, EndNs: 60},
		{State: Away, StartNs: 60, EndNs: 70}, {State: CatchingUp, StartNs: 70, EndNs: 100},
	}
	if diff := cmp.Diff(want, Absences(steps, 2, 100)); diff != "" {
		t.Error(diff)
	}
	if got := Absences(steps[:1], 2, 100); got != nil {
		t.Errorf("nobody left: %+v", got)
	}
}
