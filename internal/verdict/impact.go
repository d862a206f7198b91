package verdict

import (
	"fmt"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The conditions for recovery from a fault.
const (
	recoverySpanNs  = 1_000_000_000
	recoveredShare  = 0.9 // of the rate before
	recoveredTimes  = 2   // times the latency before
	recoveredMoreNs = 1_000_000
)

// piece is an interval and the latencies of measured messages in it.
type piece struct {
	result.Interval
	latency map[result.Series][]result.Buckets
}

// faultyRun is a run with faults and its figures before the first fault.
type faultyRun struct {
	run        *result.Run
	pieces     []piece // of window and drain
	from, to   int64   // the window, in ns since the run started
	rate       float64 // acknowledged per second, before the first fault
	percentile float64
	latencyNs  int64 // publish latency before the first fault, at that percentile
}

// faultsOf fills in the effects of a run's faults from its intervals and histograms.
func faultsOf(s *result.Saved) {
	r := &s.Run
	r.Impact = nil
	from, to, ok := r.Window()
	pieces := piecesOf(s)
	if len(r.Faults) == 0 || !ok || len(pieces) == 0 {
		return
	}
	p := &faultyRun{run: r, pieces: pieces, from: from, to: to}
	i := &result.Impact{}
	var during, after []piece
	before := p.within(from, r.Faults[0].StartNs)
	clocksNs := r.Summary.Series(result.EndToEnd).ErrorNs
	i.Before = stretchOf(before, clocksNs)
	p.setBaseline(i.Before)
	i.Rule = p.rule()
	for k := range r.Faults {
		p.effect(k)
	}
	for _, piece := range p.pieces[len(before):] {
		if p.disturbed(piece) {
			during = append(during, piece)
		} else {
			after = append(after, piece)
		}
	}
	i.During, i.After = stretchOf(during, clocksNs), stretchOf(after, clocksNs)
	r.Impact = i
	rollingOf(r)
}

// piecesOf returns the intervals of window and drain with their histograms. The histograms' times
// are in milliseconds.
func piecesOf(s *result.Saved) []piece {
	var all []piece
	at := map[int64]int{}
	for _, i := range s.Intervals {
		if i.Phase == result.PhaseMeasure || i.Phase == result.PhaseDrain {
			at[i.StartNs/1e6] = len(all)
			all = append(all, piece{i, map[result.Series][]result.Buckets{}})
		}
	}
	for _, l := range s.Latency {
		if k, ok := at[(l.StartNs+500_000)/1e6]; ok && !l.Warmup {
			all[k].latency[l.Series] = append(all[k].latency[l.Series], l.Histogram)
		}
	}
	return all
}

// within returns the pieces that begin at from or later and end by to.
func (p *faultyRun) within(from, to int64) []piece {
	first := 0
	for first < len(p.pieces) && p.pieces[first].StartNs < from {
		first++
	}
	last := first
	for last < len(p.pieces) && p.pieces[last].EndNs <= to {
		last++
	}
	return p.pieces[first:last]
}

func merged(pieces []piece, series result.Series) *hdr.Histogram {
	var total *hdr.Histogram
	for _, p := range pieces {
		for _, h := range p.latency[series] {
			if total == nil {
				total = result.NewLike(h)
			}
			h.MergeInto(total)
		}
	}
	if total == nil {
		return result.NewHistogram()
	}
	return total
}

// stretchOf sums up a part of the run. clocksNs is the error of the end-to-end latency.
func stretchOf(pieces []piece, clocksNs int64) result.Part {
	var s result.Part
	for _, p := range pieces {
		if p.Phase == result.PhaseMeasure {
			s.LengthNs += p.EndNs - p.StartNs
			s.Acked += p.Acked
			s.Failed += p.Failed
		}
	}
	var loaded []piece // waits that ended after the load belong to no part
	for _, p := range pieces {
		if p.Phase == result.PhaseMeasure {
			loaded = append(loaded, p)
		}
	}
	waited := merged(loaded, result.Waited)
	s.Publish = result.Censored(result.Publish, merged(pieces, result.Publish), waited,
		result.Missing{Refused: s.Failed, Unanswered: waited.TotalCount()}, 0, 0)
	s.EndToEnd = result.Summarize(result.EndToEnd, merged(pieces, result.EndToEnd), 0, 0).
		WithError(clocksNs)
	return s
}

// setBaseline sets the rate and the publish latency before the first fault, at the highest
// percentile that the messages of a second support.
func (p *faultyRun) setBaseline(before result.Part) {
	if before.LengthNs == 0 || before.Acked == 0 {
		return
	}
	p.rate = float64(before.Acked) * 1e9 / float64(before.LengthNs)
	for _, percentile := range []float64{99, 95, 90, 75, 50} {
		ns, ok := before.Publish.At(percentile)
		if ok && (percentile == 50 ||
			result.Supported(percentile, int64(p.rate*recoverySpanNs/1e9+0.5))) {
			p.percentile, p.latencyNs = percentile, ns
			return
		}
	}
}

func (p *faultyRun) bound() int64 { return recoveredTimes*p.latencyNs + recoveredMoreNs }

func (p *faultyRun) rule() string {
	if p.rate == 0 {
		return "nothing was acknowledged before the first fault, so recovery cannot be judged"
	}
	where := ""
	if varies(p.run.Load) {
		where = ", or of what was due where that was less,"
	}
	return fmt.Sprintf(
		"the system has recovered at the start of the first second of load in which at least "+
			"%.0f%% of the rate before the first fault%s was acknowledged and publish %s was at "+
			"most %s, which is %d times its value before the first fault plus %s; percentiles are "+
			"of merged histograms",
		recoveredShare*100, where, result.PercentileName(p.percentile),
		quantity.Duration(p.bound()), recoveredTimes, quantity.Duration(recoveredMoreNs))
}

// effect fills in the effect of fault k, up to the next fault.
func (p *faultyRun) effect(k int) {
	f := &p.run.Faults[k]
	f.Effect = result.Effect{}
	if f.InjectedNs == 0 {
		return
	}
	e := &f.Effect
	until := p.horizon(k)
	complete := max(f.InSyncNs, f.FoundNs) // of a restart, or a permanent change
	if complete > 0 {
		until = min(until, complete) // later events are no effect of this machine's change
	}
	p.gap(e, f.StartNs, until)
	search := f.InjectedNs
	stays := workload.FaultKind(f.Do).Stays()
	if stays {
		search = max(search, complete) // copies move, or clients look, until then
	}
	if e.AckedAgainNs != 0 {
		search = max(search, e.AckedAgainNs)
	}
	if (e.AckedAgainNs != 0 || !e.Seen()) && (!stays || complete > 0) {
		e.RecoveredNs = p.recovered(search, p.horizon(k))
	}
}

// horizon returns the end of the time that fault k may affect: the start of the next fault, or the
// end of the run.
func (p *faultyRun) horizon(k int) int64 {
	if k+1 < len(p.run.Faults) {
		return p.run.Faults[k+1].StartNs
	}
	return 1<<63 - 1
}

// gap finds the longest time without an acknowledgement that ends after a fault began. Time in
// which nothing was offered, such as the drain, is no part of it: a gap that lasts at the end of
// the load was at least as long as until then.
func (p *faultyRun) gap(e *result.Effect, startNs, horizonNs int64) {
	lastNs, inFlight := p.from, int64(0)
	horizonNs = min(horizonNs, p.to)
	for _, i := range p.pieces {
		if i.EndNs > startNs && i.StartNs < horizonNs {
			e.ResolutionNs = max(e.ResolutionNs, i.EndNs-i.StartNs)
		}
		if i.Phase == result.PhaseMeasure {
			inFlight = i.InFlight
		}
		if i.FirstAckNs == 0 || i.FirstAckNs > p.to {
			continue
		}
		if gap := p.silent(lastNs, i.FirstAckNs); i.FirstAckNs > startNs && lastNs < horizonNs &&
			gap > e.UnavailableNs {
			e.UnavailableNs, e.AckedAgainNs = gap, i.FirstAckNs
		}
		lastNs = i.LastAckNs
	}
	if lastNs < horizonNs {
		p.openGap(e, lastNs, inFlight)
	}
	if !e.Seen() {
		e.UnavailableNs, e.AckedAgainNs = e.ResolutionNs, 0
	}
}

// openGap takes the time from the last acknowledgement to the end of the load, at which messages
// were in flight, as the gap if it is the longest. It is seen if it exceeds the resolution, or if
// the messages in flight were answered so late that it must.
func (p *faultyRun) openGap(e *result.Effect, lastNs, inFlight int64) {
	endNs := min(p.to, p.pieces[len(p.pieces)-1].EndNs)
	gap := p.silent(lastNs, endNs)
	if gap <= e.UnavailableNs && e.UnavailableNs > e.ResolutionNs {
		return
	}
	if gap <= e.ResolutionNs && (inFlight == 0 || p.answeredAfter(lastNs) <= e.ResolutionNs) {
		return
	}
	e.UnavailableNs, e.UnavailableBound, e.AckedAgainNs = max(gap, 0), result.AtLeast, 0
}

// answeredAfter returns the time from the last acknowledgement of the load to the first of the
// drain, or to the drain's end.
func (p *faultyRun) answeredAfter(lastNs int64) int64 {
	for _, i := range p.pieces {
		if i.FirstAckNs > lastNs {
			return i.FirstAckNs - lastNs
		}
	}
	return p.pieces[len(p.pieces)-1].EndNs - lastNs
}

// recovered returns the start of the first second, at fromNs or later, that meets the rule of
// recovery; 0 when no second of load meets it.
func (p *faultyRun) recovered(fromNs, horizonNs int64) int64 {
	if p.rate == 0 {
		return 0
	}
	for first := range p.pieces {
		if p.pieces[first].StartNs < fromNs {
			continue
		}
		last, acked := first, int64(0)
		for ; last < len(p.pieces); last++ {
			acked += p.pieces[last].Acked
			if p.pieces[last].EndNs-p.pieces[first].StartNs >= recoverySpanNs {
				break
			}
		}
		if last == len(p.pieces) || p.pieces[last].Phase != result.PhaseMeasure ||
			p.pieces[last].EndNs > horizonNs {
			return 0
		}
		second := p.pieces[first : last+1]
		if acked > 0 && float64(acked) >= p.wanted(second) &&
			merged(second, result.Publish).ValueAtPercentile(p.percentile) <= p.bound() {
			return p.pieces[first].StartNs
		}
	}
	return 0
}

// disturbed reports whether a piece lies between a fault's begin and the
// recovery from it.
func (p *faultyRun) disturbed(i piece) bool {
	for k, f := range p.run.Faults {
		until := f.Effect.RecoveredNs
		if until == 0 {
			until = p.horizon(k)
		}
		if f.InjectedNs != 0 && i.EndNs > f.StartNs && i.StartNs < until {
			return true
		}
	}
	return false
}
