package bench

import (
	"fmt"
	"math"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

// settleSpan is the number of consecutive intervals that are judged.
const settleSpan = 20

// The levels of settled figures. A move as great as the one seen must be likely by chance: in a
// slow fall at most 1 in 10 ends the warm-up too early, and 19 in 20 steady systems settle within
// 45 s.
var (
	settledRate = level{halves: 0.02, alpha: 0.6, span: math.Inf(1)}
	settledTail = level{halves: 0.20, alpha: 0.6, span: math.Inf(1)}
)

// settleRule states the rule in a sentence.
var settleRule = fmt.Sprintf(
	"over %d intervals of a second neither throughput nor publish p99 (or the highest percentile "+
		"that a second's messages support) moves more than chance does in %.0f%% of steady "+
		"systems, and the medians of their halves lie within %.0f%% and %.0f%% of one another",
	settleSpan, settledRate.alpha*100, settledRate.halves*100, settledTail.halves*100)

// settling watches the warm-up of a run that may end it early.
type settling struct {
	idle
	run     *run
	last    []seen // the last intervals, the oldest first
	decided bool
}

func newSettling(r *run) *settling {
	r.run.Settling = &result.Settling{MostNs: int64(r.job.Workload.Warmup), Rule: settleRule}
	return &settling{run: r}
}

// seen holds the relevant figures of an interval.
type seen struct {
	rate    float64 // acknowledged messages per second
	publish result.Latency
}

// add adds an interval.
func (s *settling) add(i result.Interval) {
	length := i.EndNs - i.StartNs
	publish := result.Summary{Latency: i.Latency}.Series(result.Publish)
	if len(publish.Percentiles) == 0 || length < int64(intervalLength)*3/4 {
		s.last = nil
		return
	}
	s.last = append(s.last[max(0, len(s.last)-settleSpan+1):],
		seen{float64(i.Acked) * 1e9 / float64(length), publish})
}

// settled reports whether the figures neither rise nor fall any more.
func (s *settling) settled() bool {
	if len(s.last) < settleSpan {
		return false
	}
	rates := make([]float64, len(s.last))
	for i, seen := range s.last {
		rates[i] = seen.rate
	}
	return settledRate.holds(rates) && settledTail.holds(s.tails())
}

// tails returns the publish p99 of the intervals, or the highest percentile that the messages of
// every interval support.
func (s *settling) tails() []float64 {
	for _, p := range []float64{99, 95, 90, 75} {
		if tails, ok := s.at(p); ok {
			return tails
		}
	}
	tails, _ := s.at(50)
	return tails
}

// at returns one percentile of every interval; ok is false if one lacks it.
func (s *settling) at(percentile float64) (out []float64, ok bool) {
	for _, seen := range s.last {
		ns, known := seen.publish.At(percentile)
		if !known {
			return nil, false
		}
		out = append(out, float64(ns))
	}
	return out, true
}

// interval ends the warm-up early when the figures have settled.
func (s *settling) interval(e ended) error {
	if e.phase == result.PhaseWarmup {
		s.add(e.interval)
	}
	if !e.going || s.decided || !s.settled() {
		return nil
	}
	s.decided = true
	r := s.run
	now, load := r.job.Clock.Now(), &r.run.Load
	startNs := r.course.Window().StartNs
	r.run.Settling.Settled, r.run.Settling.AfterNs = true, now-startNs
	if w, ok := r.course.Settle(now); ok {
		if err := r.cut(w); err != nil {
			return err
		}
		load.WarmupSeconds = time.Duration(w.MeasureNs - startNs).Seconds()
	}
	sentence := fmt.Sprintf("the figures have settled: "+
		"the measured window begins %gs after the load", load.WarmupSeconds)
	return r.writer.Event(result.Event{AtNs: now - r.beganNs, Kind: "note", Sentence: sentence})
}
