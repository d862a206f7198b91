package verdict

import "slices"

const (
	// pulseShare is the least swing of the number of waiting messages that is a pulse, as a
	// share of the messages offered in the window: growth by that share would matter.
	pulseShare = 1 - achievedBound
	// pulseTurn is the least rise or fall that is a turning point, as a share of the swing.
	// With too few pulses for statistics the troughs must rise by as much.
	pulseTurn = 0.25
	// fewestPulses is the least number of pulses in a window whose troughs show growth: two
	// whole periods.
	fewestPulses = 3
	// troughShare is the error with which readings find a trough, as a share of the swing.
	troughShare = 0.05
	// greatSwing is the least multiple of pulseShare at which the swing of too few pulses
	// leaves growth undecided, although no growth is shown.
	greatSwing = 4
	// plainGrowth is the least growth over a window, as a multiple of the swing, that is
	// certain without pulses to compare. A single pulse that the window cuts off makes at
	// most twice its swing look like growth.
	plainGrowth = 2.5
)

// pulse describes the swings of the number of waiting messages. A system that pauses now
// and then, as for a garbage collection or a compaction, lets messages pile up and then
// catches up. A line through a few such pulses shows little; the troughs between them show
// whether messages pile up for good.
type pulse struct {
	swing  float64 // the range of the number around its trend
	pulses int
	growth float64 // from trough to trough, per second
	grows  bool
	short  bool // too few pulses to decide
}

// pulseOf finds the pulses of a series whose trend is t. rate is the units offered per
// second, bound the growth per second that matters. is is false when no pulse is large
// enough to matter.
func pulseOf(xs, ys []float64, t growth, rate, bound float64) (p pulse, is bool) {
	off := make([]float64, len(ys))
	for i := range ys {
		off[i] = ys[i] - t.slope*xs[i]
	}
	p.swing = slices.Max(off) - slices.Min(off)
	length, half := xs[len(xs)-1]-xs[0], len(ys)/2
	if p.swing <= pulseShare*rate*length {
		return p, false
	}
	least, later := slices.Min(ys[:half+1]), slices.Min(ys[half:])
	rise := later - least
	p.growth = 2 * rise / length
	may := max(bound*length/2, troughShare*p.swing)
	at, troughs, peaks := turnsOf(xs, ys, pulseTurn*p.swing)
	if len(at) > 0 && at[0] == xs[0] {
		// The window may begin within a rise.
		at, troughs, peaks = at[1:], troughs[1:], peaks[min(1, len(peaks)):]
	}
	p.pulses = len(troughs)
	least = max(may, pulseTurn*p.swing)
	switch {
	case rise <= may:
	case t.low > bound:
		p.grows, p.short = true, p.pulses < fewestPulses && 2*rise <= plainGrowth*p.swing
	case p.pulses < fewestPulses:
		p.short = p.swing > greatSwing*pulseShare*rate*length
		p.grows = p.short
	default:
		// By chance, troughs alone rise more often than troughs and peaks together.
		part := float64(len(peaks)-1) / float64(len(troughs)-1)
		_, higher := rises(at[:len(peaks)], peaks, bound, least*part)
		p.growth, p.grows = rises(at, troughs, bound, least)
		p.grows = p.grows && higher
	}
	return p, true
}

// rises reports how fast values rise per second, and whether by more than bound with 95%
// confidence. Too few values for that rise when each is above the one before, and the last
// is above the first by more than least.
func rises(at, values []float64, bound, least float64) (growth float64, is bool) {
	if g, ok := growthOf(at, values); ok {
		return g.slope, g.low > bound
	}
	last := len(values) - 1
	rise := values[last] - values[0]
	return rise / (at[last] - at[0]), rise > least && slices.IsSorted(values)
}

// turnsOf finds the turning points of a series: the troughs before each rise by more than
// turn and their xs, and the peaks after it. A last peak without a fall is left out.
func turnsOf(xs, ys []float64, turn float64) (at, troughs, peaks []float64) {
	low, rising := 0, false
	for i, y := range ys {
		last := len(peaks) - 1
		switch {
		case rising && y > peaks[last]:
			peaks[last] = y
		case rising && y < peaks[last]-turn:
			low, rising = i, false
		case !rising && y < ys[low]:
			low = i
		case !rising && y > ys[low]+turn:
			at, troughs, peaks = append(at, xs[low]), append(troughs, ys[low]), append(peaks, y)
			rising = true
		}
	}
	if rising {
		peaks = peaks[:len(peaks)-1]
	}
	return at, troughs, peaks
}
