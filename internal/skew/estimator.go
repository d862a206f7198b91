package skew

import (
	"math"
	"slices"
	"time"
)

// What is assumed of the drift, the rate of the coordinator's clock less that of the
// worker's own. Within any stretch of L seconds it changes by at most
// JumpPPM + L*WanderPPMPerSecond. The bound grows by what this allows, and exchanges that
// contradict it are reported as a step.
const (
	// MaxDriftPPM is the greatest drift. The kernel lets a time daemon correct a clock by
	// 500 ppm, which includes the error of the crystal; there are two clocks.
	MaxDriftPPM = 1000
	// JumpPPM is the greatest change at once. Time daemons correct a clock by changing its
	// rate: one that is right to a few milliseconds changes it by a few ppm.
	JumpPPM = 10
	// WanderPPMPerSecond is the greatest change over time. A crystal changes by up to 1 ppm
	// a degree, and a machine that begins to work warms by less than a degree a second.
	WanderPPMPerSecond = 1
)

const (
	million  = 1e6
	maxDrift = MaxDriftPPM / million
	jump     = JumpPPM / million
	wander   = WanderPPMPerSecond / million / float64(time.Second) // per nanosecond
)

// The Estimator keeps the exchanges of windowNs, and maxExchanges at most: ten a second
// fill half of it. Beyond a minute, what the drift may have changed exceeds what an older
// exchange could add.
const (
	windowNs     = int64(time.Minute)
	maxExchanges = 1024
)

// measureNs is how long after a step its size is measured again.
const measureNs = int64(2 * time.Second)

// Unbounded is the bound when nothing is known. Two of them have a sum.
const Unbounded = int64(1)<<62 - 1

// Line is the coordinator's clock less the worker's own, around a moment. The offset at
// AtNs is within BoundNs of OffsetNs, and the drift is within DriftBoundPPM of DriftPPM.
type Line struct {
	AtNs          int64 // on the worker's own clock
	OffsetNs      int64
	BoundNs       int64
	DriftPPM      float64
	DriftBoundPPM float64
}

// offsetAt is the line's offset at a time of the worker's own clock.
func (l Line) offsetAt(ownNs int64) int64 {
	return l.OffsetNs + int64(float64(ownNs-l.AtNs)*(l.DriftPPM/million))
}

// Estimator estimates the Line from exchanges. The zero value knows nothing. It reads no
// clock, and is not safe for concurrent use.
type Estimator struct {
	kept         []Exchange // the oldest first
	newest       Exchange   // the last one accepted, also after a step
	upper, lower side
	midNs        int64 // the sides are relative to it
	accepted     int64
	rejected     int64
	leastTripNs  int64
	steps        []Step
	stepped      int64
	before       Line // of the last step
}

// Add takes an exchange. It returns a step when the exchange contradicts the earlier ones;
// nothing is known then until the next exchange, and the exchanges that follow measure the
// step in State.Steps again. An exchange that cannot be true, or is
// not later than the last, is an error and changes nothing.
func (e *Estimator) Add(x Exchange) (*Step, error) {
	err := x.check()
	if err == nil && e.accepted > 0 &&
		(x.SentNs <= e.newest.SentNs || x.ReturnedNs <= e.newest.ReturnedNs) {
		err = errOld
	}
	if err != nil {
		e.rejected++
		return nil, err
	}
	before, _ := e.At(x.ReturnedNs)
	trip := max(0, x.RoundTripNs())
	if e.accepted == 0 || trip < e.leastTripNs {
		e.leastTripNs = trip
	}
	e.accepted++
	e.keep(x)
	if e.solve() { // as a single exchange always is
		e.measureStep()
		return nil, nil
	}
	// The step may lie between question and answer, so this exchange tells nothing of the
	// time after it.
	e.kept, e.upper, e.lower = e.kept[:0], e.upper[:0], e.lower[:0]
	step := Step{
		NoticedNs: x.AnsweredNs, SizeNs: x.middleNs() - before.OffsetNs,
		BoundNs: before.BoundNs + trip/2,
	}
	if len(e.steps) < maxSteps {
		e.steps = append(e.steps, step)
	}
	e.stepped++
	e.before = before
	return &step, nil
}

// measureStep measures the last step with what is known by now, if that is more precise.
func (e *Estimator) measureStep() {
	if e.stepped == 0 || e.stepped > maxSteps ||
		e.newest.ReturnedNs-e.before.AtNs > measureNs {
		return
	}
	after, _ := e.At(e.newest.ReturnedNs)
	later := float64(after.AtNs - e.before.AtNs)
	drifted := later * (e.before.DriftBoundPPM + changePPM(later)) / million
	step := &e.steps[e.stepped-1]
	if bound := e.before.BoundNs + after.BoundNs + int64(drifted); bound < step.BoundNs {
		step.SizeNs = after.OffsetNs - e.before.offsetAt(after.AtNs)
		step.BoundNs = bound
	}
}

// keep adds the exchange, and drops those that are too old or too many.
func (e *Estimator) keep(x Exchange) {
	drop := max(0, len(e.kept)+1-maxExchanges)
	for drop < len(e.kept) && x.ReturnedNs-e.kept[drop].ReturnedNs > windowNs {
		drop++
	}
	e.kept = append(slices.Delete(e.kept, 0, drop), x)
	e.newest = x
}

// solve computes the sides anew. It reports false when no line agrees with all exchanges.
func (e *Estimator) solve() bool {
	e.midNs = e.newest.middleNs()
	e.upper, e.lower = e.upper[:0], e.lower[:0]
	for _, x := range slices.Backward(e.kept) {
		e.upper = e.upper.with(point{
			age: float64(e.newest.ReturnedNs - x.SentNs),
			ns:  float64(x.mostNs()-e.midNs) + clockReadingNs,
		})
		e.lower = e.lower.with(point{
			age: float64(e.newest.ReturnedNs - x.ReturnedNs),
			ns:  float64(e.midNs-x.leastNs()) + clockReadingNs,
		})
	}
	_, fits := greatestDrift(e.upper, e.lower, 0)
	return fits
}

// At returns the line at a time of the worker's own clock, also beyond the last exchange.
// It returns false when nothing is known.
func (e *Estimator) At(ownNs int64) (Line, bool) {
	if len(e.kept) == 0 || ownNs < -farthestNs || ownNs > farthestNs {
		return Line{}, false
	}
	later := float64(max(0, ownNs-e.newest.ReturnedNs))
	earlier := float64(max(0, e.newest.ReturnedNs-ownNs))
	greatest, _ := greatestDrift(e.upper, e.lower, later)
	least, _ := greatestDrift(e.lower, e.upper, later)
	least = -least
	most, _ := e.upper.least(greatest, later)
	fewest, _ := e.lower.least(-least, later)
	fewest = -fewest
	drift := (greatest + least) / 2
	middle := math.Round((most+fewest)/2 - drift*earlier)
	return Line{
		AtNs: ownNs, OffsetNs: e.midNs + int64(middle),
		BoundNs:       wholeNs((most-fewest)/2 + 2*maxDrift*earlier),
		DriftPPM:      drift * million,
		DriftBoundPPM: min(2*MaxDriftPPM, (greatest-least)/2*million+changePPM(earlier)),
	}, true
}

// wholeNs rounds a bound up, and adds the nanosecond by which an offset is rounded.
func wholeNs(bound float64) int64 {
	if bound >= float64(Unbounded) {
		return Unbounded
	}
	return 1 + int64(math.Ceil(bound))
}

// changePPM is by how much the drift may change in a time.
func changePPM(ns float64) float64 {
	if ns == 0 {
		return 0
	}
	return (jump + wander*ns) * million
}
