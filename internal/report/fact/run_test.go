package fact

import (
	"fmt"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

func TestNamesAreDistinct(t *testing.T) {
	a, b := &result.Saved{}, &result.Saved{}
	a.Run.Name, b.Run.Name = "nats", "nats"
	if got := fmt.Sprint(Names([]*result.Saved{a, b})); got != "[nats #1 nats #2]" {
		t.Error(got)
	}
}
