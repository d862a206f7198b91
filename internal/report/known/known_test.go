package known

import (
	"testing"
	"time"
)

func TestTimesAreRough(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0 seconds", 1: "1 second", 59e9: "59 seconds", 60e9: "1 minute",
		5940e9: "99 minutes", 6000e9: "2 hours", 80 * 3600e9: "4 days",
	} {
		if got := roughly(ns); got != want {
			t.Errorf("%v: %s, want %s", time.Duration(ns), got, want)
		}
	}
}
