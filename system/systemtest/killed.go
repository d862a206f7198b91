package systemtest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
)

// SendAmidKill sends a hundred messages one by one, calls kill, which ends a server, and sends a
// hundred more. The first of these may have an unknown outcome, because it may have been sent on
// the ending connection; the others wait for a server. It returns the acknowledged payloads.
func SendAmidKill(t testing.TB, p system.Producer, kill func()) (acknowledged []string) {
	t.Helper()
	send := func(payload string) error {
		m := NewTestMessage(payload)
		p.Send(&m.Message)
		err := m.Await(t)
		if err == nil {
			acknowledged = append(acknowledged, payload)
		}
		return err
	}
	for i := range 100 {
		if err := send(fmt.Sprint("before-", i)); err != nil {
			t.Fatal(err)
		}
	}
	kill()
	for i := range 100 {
		err := send(fmt.Sprint("during-", i))
		if err != nil && (i > 0 || !errors.Is(err, system.ErrUnknown)) {
			t.Errorf("message %d: %v", i, err)
		}
	}
	return acknowledged
}
