package verdict

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/result"
)

const (
	// driftLeast is the shortest window that is judged for trends. In a shorter window, growth
	// that ends by itself, such as a cache's, cannot be distinguished from a leak.
	driftLeast = int64(30 * time.Minute)
	// driftAlpha is the probability that a run without a relevant trend is said to have one in any
	// figure.
	driftAlpha = 0.05
	// The least change over the window that matters, as a share of the level: of a rate, of a
	// latency, and of figures that fill up: memory, disk, counts. Those matter too if a day at the
	// same pace adds dayShare.
	rateDrift    = 0.02
	latencyDrift = 0.10
	fillDrift    = 0.03
	dayShare     = 0.10
	// swingDrift is the same as a share of the usual swing within a block: blocks cut a sawtooth
	// at different places, which changes their medians.
	swingDrift = 0.10
	// Growth in the second half of the window, as a share of that over the whole: less than
	// stoppedShare has stopped, less than goingShare has slowed down. Within the second half, less
	// than lastingShare in its second half has slowed down.
	stoppedShare = 0.25
	// earlyShare is the part of the window in which a cache fills.
	earlyShare   = 0.25
	goingShare   = 0.5
	lastingShare = 2. / 3
	// fallenShare is the fall after a peak, as a share of a figure's range, that shows a sawtooth.
	fallenShare = 0.5
	// withMessages and mostWithMessages bound the growth by byte sent, or by message sent, that
	// messages explain. Small messages explain up to mostOverhead bytes each. The memory of a
	// process must grow by withMessagesInMemory: it may leak a little by each message.
	withMessages         = 0.1
	withMessagesInMemory = 0.5
	mostWithMessages     = 10
	mostOverhead         = 1024
	// clockShare is the tolerance for a figure that grows by a second each second, and so is a
	// time since an event.
	clockShare = 0.1
)

// driftOf finds the trends of a run with a long window.
func driftOf(s *result.Saved) {
	r := &s.Run
	r.Trends = nil
	w, long := longWindow(s.Intervals)
	if r.Imported != nil || r.Backlog != nil || !long {
		return
	}
	r.Trends = &result.Trends{}
	switch {
	case len(r.Faults) > 0:
		r.Trends.Why = "faults were injected"
		return
	case varies(r.Load):
		r.Trends.Why = "the offered rate changed on purpose"
		return
	}
	b := blocksOf(s, w)
	r.Trends.LeftOutNs = b.leftOutNs()
	all := figuresOf(s, b)
	r.Trends.Blocks, r.Trends.BlockNs = b.seen(), b.lengthNs
	if r.Trends.Blocks < fewestBlocks {
		r.Trends.Why = "the machine slept, or plimsoll stood still, for too much of it"
		return
	}
	ps := make([]float64, len(all))
	for i, f := range all {
		ps[i] = f.p()
	}
	moved := stats.Holm(ps, driftAlpha)
	sent := sentOf(r)
	for i, f := range all {
		r.Trends.Figures = append(r.Trends.Figures, f.trend(moved[i], sent))
	}
	filesFollowData(r.Trends.Figures)
}

// sent is the load of an hour.
type sent struct{ messages, bytes float64 }

func sentOf(r *result.Run) sent {
	messages := r.Summary.Work() * 3600
	return sent{messages: messages, bytes: messages * float64(r.Load.MessageBytes)}
}

// figure is a figure by block.
type figure struct {
	name, unit    string
	hours, values []float64 // of equal length; hours since the window began
	bound         float64   // the least slope that matters, per hour
	fills         bool      // growth fills something up: memory, a disk
	process       bool      // the memory of a process
	room          float64   // the room that growth can fill; 0: unknown
	own           bool
}

// p is the p-value of the hypothesis of no relevant change, neither over the window nor over its
// second half, in which a cache no longer fills. It is doubled for the two tests.
func (f *figure) p() float64 {
	return min(1, 2*min(f.part(0, 1).Beyond(f.bound), f.part(0.5, 1).Beyond(f.bound)))
}

// part returns the drift between two shares of the window.
func (f *figure) part(from, to float64) stats.Drift {
	n := float64(len(f.values))
	a, b := int(from*n), int(to*n)
	return stats.DriftOf(f.hours[a:b], f.values[a:b])
}

// trend judges the course of a figure. moved says that a relevant slope is shown.
func (f *figure) trend(moved bool, s sent) result.Trend {
	t := result.Trend{Name: f.name, Unit: f.unit, Level: stats.Median(f.values), Own: f.own,
		Course: result.Steady}
	whole, later := f.part(0, 1), f.part(0.5, 1)
	t.PerHour = whole.Slope
	t.PerHourLow, t.PerHourHigh = whole.Interval()
	switch {
	case !moved && f.filled():
		t.Course = result.LevelledOff
	case !moved && f.mayGrow(whole.Interval()):
		t.Course = result.MayGrow
		if f.part(earlyShare, 1).Slope < goingShare*whole.Slope {
			t.Course = result.LevelledOff
		}
	case moved && t.PerHour < 0:
		t.Course = result.Falls
	case moved:
		t.Course = f.growth(whole, later)
	}
	if t.Course == result.Grows &&
		(slower(f.part(0, 0.5), later) || whole.Beyond(f.bound) > driftAlpha) {
		t.PerHour, t.SecondHalf = later.Slope, true
		t.PerHourLow, t.PerHourHigh = later.Interval()
	}
	if !unexplained(t.Course) {
		return t
	}
	by := 0.0
	switch f.unit {
	case result.UnitBytes:
		by = s.bytes
	case "":
		by = s.messages
	case result.UnitSeconds:
		if math.Abs(t.PerHour/3600-1) < clockShare {
			t.Course = result.WithTime
		}
	}
	if by > 0 {
		t.PerSent = t.PerHour / by
	}
	least := withMessages
	if f.process {
		least = withMessagesInMemory
	}
	few := t.PerSent <= mostWithMessages ||
		f.unit == result.UnitBytes && t.PerHour <= mostOverhead*s.messages
	if t.PerSent >= least && few && t.Course != result.Slows {
		t.Course = result.WithMessages
	}
	if hours := (f.room - t.Level) / t.PerHour; f.room > 0 && hours > 0 && hours < 1e6 {
		t.FullNs = int64(hours * float64(time.Hour))
	}
	return t
}

// unexplained reports whether a course tells of growth that messages or time may explain.
func unexplained(c result.Course) bool {
	return c == result.Grows || c == result.Slows || c == result.MayGrow
}

// mayGrow reports whether a figure that fills something up rose by the interval of its slope, and
// perhaps by as much as matters, although this is not shown for all figures together.
func (f *figure) mayGrow(low, high float64) bool {
	return f.fills && low > 0 && high > f.bound && !f.falls()
}

// growth distinguishes growth that goes on from growth that has ended. Growth shown in the second
// half alone goes on, unless it slows down there.
func (f *figure) growth(whole, later stats.Drift) result.Course {
	goesOn := later.Slope > 0 && later.Beyond(f.bound) <= driftAlpha
	third, last := f.part(0.5, 0.75), f.part(0.75, 1)
	switch {
	case f.falls():
		return result.Saws
	case goesOn && last.Slope < lastingShare*third.Slope && slower(third, last):
		return result.Slows
	case goesOn:
		return result.Grows
	case later.Slope < stoppedShare*whole.Slope:
		return result.LevelledOff
	case later.Slope < goingShare*whole.Slope, slower(f.part(0, 0.5), later):
		return result.Slows
	}
	return result.Grows
}

// slower reports whether the later of two drifts is shown to be less than the earlier.
func slower(earlier, later stats.Drift) bool {
	low, _ := earlier.Interval()
	_, high := later.Interval()
	return high < low
}

// filled reports whether the figure rose at first and then kept its level. It is a description:
// it claims no growth.
func (f *figure) filled() bool {
	later := f.values[len(f.values)/2:]
	rise := stats.Median(later) - f.values[0]
	span := f.bound * (f.hours[len(f.hours)-1] - f.hours[0])
	return rise > span && slices.Max(later)-slices.Min(later) < stoppedShare*rise
}

// falls reports whether the figure has fallen far from a peak.
func (f *figure) falls() bool {
	peak, fall := f.values[0], 0.0
	for _, v := range f.values {
		peak = max(peak, v)
		fall = max(fall, peak-v)
	}
	return fall >= fallenShare*(slices.Max(f.values)-slices.Min(f.values))
}

// filesFollowData marks a node's number of files as growing with the messages if the node's data
// does.
func filesFollowData(all []result.Trend) {
	grows := map[string]bool{}
	for _, t := range all {
		if node, of := strings.CutPrefix(t.Name, result.DataOnDisk); of {
			grows[node] = t.Course == result.WithMessages
		}
	}
	for i := range all {
		node, of := strings.CutPrefix(all[i].Name, result.DataFiles)
		if of && grows[node] && all[i].Course == result.Grows {
			all[i].Course = result.WithMessages
		}
	}
}
