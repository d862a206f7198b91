package clock

import "time"

// Aside spreads work that no message waits for over time, such as reading counters. Done in one
// go, it would take a core for milliseconds from the goroutines that send and receive, and every
// message due meanwhile would be late. The zero value is ready; it is for one goroutine.
type Aside struct{ beganNs int64 }

const (
	// asideNs is how long such work may run without a rest.
	asideNs = 200_000
	// asideRest is ten times as long, so that the work takes less than a tenth of a core.
	asideRest = 2 * time.Millisecond
)

// Step rests between two steps of the work if it has run for long enough since the last rest.
func (a *Aside) Step() {
	now := Now()
	if a.beganNs == 0 {
		a.beganNs = now
	}
	if now-a.beganNs >= asideNs {
		time.Sleep(asideRest)
		a.beganNs = Now()
	}
}
