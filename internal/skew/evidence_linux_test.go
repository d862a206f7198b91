package skew

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestEvidence(t *testing.T) {
	synchronised := unix.Timex{Maxerror: 1500, Freq: -12 << 16}
	if got := evidence(unix.TIME_OK, synchronised); !strings.Contains(got, "at most 1.5ms") ||
		!strings.Contains(got, "-12.000 ppm") {
		t.Error(got)
	}
	for _, got := range []string{
		evidence(unix.TIME_ERROR, synchronised),
		evidence(unix.TIME_OK, unix.Timex{Status: unix.STA_UNSYNC}),
	} {
		if !strings.Contains(got, "nothing synchronises") {
			t.Error(got)
		}
	}
	t.Log(Evidence())
}
