package verdict

import "slices"

const (
	// pulseShare is the swing of what waits, as a share of all that was offered in
	// the window, from which on it is a pulse: growth of that share would matter.
	pulseShare = 1 - achievedBound
	// pulseTurn is how far what waits must rise or fall to have turned, as a share
	// of its swing; so must the least between too few pulses for statistics.
	pulseTurn = 0.25
	// fewestPulses is how many pulses a window must hold before what is left
	// between them can be told from growth: two whole periods.
	fewestPulses = 3
	// troughShare is how exactly readings find the least that waits between two
	// pulses, as a share of the swing.
	troughShare = 0.05
	// greatSwing is how many times as great as one that matters a swing is that too
	// few pulses put in question, although no growth is shown.
	greatSwing = 4
	// plainGrowth is how many times the swing the growth over a window must be to
	// be told without pulses to compare. A pulse that the window begins before and
	// ends after makes a growth of twice its swing at most.
	plainGrowth = 2.5
)

// pulse is how what waits swings: what stands still for a moment now and then, as
// in a garbage collection or a compaction, piles up and comes down again. A line
// through a few of such pulses says little; whether it comes down as far as
// before says all.
type pulse struct {
	swing  float64 // the range of what waits around its trend
	pulses int
	growth float64 // from trough to trough, a second
	grows  bool
	short  bool // too few pulses to tell
}

// pulseOf finds the pulses of a series that has a trend. is is false when it has none
// that matter to growth of more than bound, of rate units a second.
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
		// Chance makes troughs that rise more often than it makes peaks rise with them.
		part := float64(len(peaks)-1) / float64(len(troughs)-1)
		_, higher := rises(at[:len(peaks)], peaks, bound, least*part)
		p.growth, p.grows = rises(at, troughs, bound, least)
		p.grows = p.grows && higher
	}
	return p, true
}

// rises reports how fast values rise, and whether by more than bound a second:
// shown at 95%, or, of too few for that, each, and all by more than least.
func rises(at, values []float64, bound, least float64) (growth float64, is bool) {
	if g, ok := growthOf(at, values); ok {
		return g.slope, g.low > bound
	}
	last := len(values) - 1
	rise := values[last] - values[0]
	return rise / (at[last] - at[0]), rise > least && slices.IsSorted(values)
}

// turnsOf are the least values that came before each rise by more than turn, and
// the greatest ones that came after it; the last of those only if it came down.
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
