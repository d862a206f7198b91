package skew

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Evidence returns what the kernel says of this machine's clock in a sentence, or "" where
// it says nothing. It is beside the bound, which does not depend on it. It speaks of the wall
// clock, but the rate correction applies to CLOCK_MONOTONIC too.
func Evidence() string {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	if err != nil {
		return ""
	}
	return evidence(state, t)
}

// evidence puts adjtimex(2) into words. Maxerror is in microseconds, and Freq in ppm with
// 16 binary places.
func evidence(state int, t unix.Timex) string {
	ppm := float64(t.Freq) / (1 << 16)
	if state == unix.TIME_ERROR || t.Status&unix.STA_UNSYNC != 0 {
		return fmt.Sprintf("The kernel says that nothing synchronises this machine's wall "+
			"clock; it corrects the clock's rate by %+.3f ppm.", ppm)
	}
	return fmt.Sprintf("The kernel says that this machine's wall clock is synchronised, with "+
		"an error of at most %s; it corrects the clock's rate by %+.3f ppm.",
		time.Duration(t.Maxerror)*time.Microsecond, ppm)
}
