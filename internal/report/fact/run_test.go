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

func TestOneCoreIsACore(t *testing.T) {
	for cores, want := range map[int]string{1: "EPYC, 1 core", 8: "EPYC, 8 cores"} {
		if got := Processors("EPYC", cores); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
