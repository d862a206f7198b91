package clock

import "time"

// Aside spreads work that no message waits for over time, such as reading counters. Done in one
// go, it would take a core for milliseconds from the goroutines that send and receive, and every
// message due meanwhile would be late. The zero value is ready; it is for one goroutine.
type Aside struct {
	beganNs int64
	rested  int
}

const (
	// asideNs is how long such work may run without a rest.
	asideNs = 200_000
	// asideRest is ten times as long, so that the work takes less than a tenth of a core.
	asideRest = 2 * time.Millisecond
	// mostRests bounds the rests of one piece of work, whose steps take long on a full machine.
	mostRests = 20
)

// Step rests between two steps of the work if it has run for long enough since the last rest. Work
// counts from the first call.
func (a *Aside) Step() {
	now := Now()
	if a.beganNs == 0 {
		a.beganNs = now
	}
	if now-a.beganNs >= asideNs && a.rested < mostRests {
		time.Sleep(asideRest)
		a.beganNs, a.rested = Now(), a.rested+1
	}
}
