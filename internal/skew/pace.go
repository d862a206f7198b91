package skew

import "time"

// How long to wait between two exchanges. Each costs the coordinator some 50 us of CPU time, and it
// has many workers.
const (
	EagerPace = 100 * time.Millisecond
	CalmPace  = time.Second
)

// A clock is calm when its bound is at most calmBound times half of the least round trip, which no
// bound can be below, and after eagerExchanges: the first round trips are not yet the least.
const (
	calmBound      = 2
	eagerExchanges = 50
)

// Pace returns how long to wait for the next exchange: EagerPace until the bound is nearly as good
// as it can become, then CalmPace. When delays make the bound grow, the wait becomes shorter by as
// much as the bound is too great, down to EagerPace.
func (c *Clock) Pace() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	line, _, known := c.distance()
	e := &c.estimator
	if !known || e.accepted < eagerExchanges {
		return EagerPace
	}
	calm := float64(calmBound*e.leastTripNs/2) / float64(line.BoundNs)
	pace := time.Duration(float64(CalmPace) * calm * calm)
	return min(CalmPace, max(EagerPace, pace))
}
