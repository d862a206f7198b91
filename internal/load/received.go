package load

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// This file refuses samples from another process that cannot be true. What they say is added to
// what others say, used as an index and printed.

const (
	// TextMost bounds each text of a worker, in bytes.
	TextMost = 4 << 10
	// sumMost bounds counts without a bound of their own, so that sums of many workers fit.
	sumMost = int64(1) << 54
	// clockSlack is how far a time may lie from the coordinator's when a sample arrives.
	clockSlack = 2 * time.Minute
	// runSlack is added to the length of a run: connecting, proofs, faults that heal.
	runSlack = time.Hour
)

// BoundText shortens a text to TextMost bytes.
func BoundText(s string) string {
	const more = "…"
	if len(s) <= TextMost {
		return s
	}
	end := TextMost - len(more)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + more
}

// checkText refuses a text that is too long.
func checkText(of, s string) error {
	if len(s) > TextMost {
		return fmt.Errorf("%s has %d bytes, which is more than %d", of, len(s), TextMost)
	}
	return nil
}

// CheckEvent refuses an event from another process that no worker sends.
func CheckEvent(e *Event) error {
	if e.Kind != Failure {
		return fmt.Errorf("an event is of the kind %q, which a worker does not send",
			BoundText(string(e.Kind)))
	}
	return checkText("the sentence of an event", e.Sentence)
}

// CheckReadiness refuses proofs from another process that do not fit the plan.
func (p *Plan) CheckReadiness(r *Readiness) error {
	w := &p.Workload
	const connections = 1 << 32 // far more than a machine can have
	if r.Connections < 0 || r.Connections > connections {
		return fmt.Errorf("%d connections are impossible", r.Connections)
	}
	if r.Messages < 0 || r.Messages > sumMost || len(r.Received) > w.AllSubscriptions() {
		return fmt.Errorf("%d messages cannot prove the partitions of %d subscriptions",
			r.Messages, len(r.Received))
	}
	for _, set := range r.Received {
		if n := int64(w.AllPartitions()); set.End() > n {
			return fmt.Errorf("a partition beyond the %d of the plan is proved", n)
		}
	}
	return nil
}

// CheckSample refuses a sample from another process that does not fit the plan or that takes back
// what the one before said. nowNs is the present time of the clock that the sample should be on.
func (p *Plan) CheckSample(s, before *Sample, nowNs int64) error {
	w := &p.Workload
	if len(s.Counters.ReceivedWithin) != w.Subscriptions ||
		len(s.Counters.FreshAt) != w.AllSubscriptions() {
		return fmt.Errorf("a sample has counts of %d and %d subscriptions, and the plan has %d",
			len(s.Counters.ReceivedWithin), len(s.Counters.FreshAt), w.Subscriptions)
	}
	if s.Clock != before.Clock {
		return fmt.Errorf("a sample is on the clock %q, not %q", BoundText(string(s.Clock)),
			before.Clock)
	}
	if err := p.checkCounts(&s.Counters, &before.Counters); err != nil {
		return err
	}
	if err := p.checkTimes(s, nowNs); err != nil {
		return err
	}
	if err := checkText("an error", s.Counters.Unopened); err != nil {
		return err
	}
	if s.OwnLag.P99Ns < 0 || s.OwnLag.Count < 0 || s.OwnLag.Count > sumMost {
		return fmt.Errorf("an own lag of %d ns of %d messages is impossible", s.OwnLag.P99Ns,
			s.OwnLag.Count)
	}
	if err := checkHistograms(s.Histograms); err != nil {
		return err
	}
	return checkProcesses(s.Processes, before.Processes)
}

// tally is a counter of a sample: it never falls, and has a bound.
type tally struct {
	name string
	n    int64
	most int64
}

// tallies returns the counters in a fixed order.
func (p *Plan) tallies(c *Counters) []tally {
	most := p.messagesMost()
	w := &p.Workload
	blocked := int64(min(float64(sumMost)*32,
		float64(w.Topics)*float64(w.Producers)*float64(p.longest())))
	all := []tally{
		{"acknowledged bytes", c.AckedBytes, sumMost}, {"fresh messages", c.Fresh, sumMost},
		{"replayed messages", c.Replayed, sumMost}, {"messages given back", c.GivenBack, sumMost},
		{"redelivered messages", c.Redelivered, sumMost},
		{"messages acknowledged within the window", c.AckedWithin, most},
		{"bytes within the window", c.BytesWithin, sumMost},
		{"nanoseconds blocked", c.BlockedNs, blocked}, {"messages read later", c.Read, sumMost},
		{"added partitions in use", c.Used, p.Added()},
		{"added partitions found", c.Found, p.Added() * int64(w.Subscriptions)},
	}
	for phase := range c.Handed {
		all = append(all, tally{"messages handed over", c.Handed[phase], most},
			tally{"acknowledged messages", c.Acked[phase], most},
			tally{"failed messages", c.Failed[phase], most},
			tally{"unsent messages", c.Unsent[phase], most},
			tally{"calls", c.Calls[phase], most},
			tally{"received messages", c.Received[phase], sumMost})
	}
	for _, some := range [][]int64{c.ReceivedWithin, c.FreshAt} {
		for _, n := range some {
			all = append(all, tally{"messages received by a subscription", n, sumMost})
		}
	}
	return all
}

func (p *Plan) checkCounts(c, before *Counters) error {
	past := p.tallies(before)
	for i, t := range p.tallies(c) {
		switch {
		case t.n < 0 || t.n > t.most:
			return fmt.Errorf("%d %s are impossible: the plan allows 0 to %d", t.n, t.name, t.most)
		case t.n < past[i].n:
			return fmt.Errorf("%d %s are fewer than the %d before", t.n, t.name, past[i].n)
		}
	}
	if most := p.messagesMost(); c.InFlight < 0 || c.InFlight > most {
		return fmt.Errorf("%d messages in flight are impossible: the plan allows 0 to %d",
			c.InFlight,
			most)
	}
	return nil
}

// checkTimes refuses times that cannot be of this run.
func (p *Plan) checkTimes(s *Sample, nowNs int64) error {
	latest := nowNs + int64(clockSlack)
	earliest := nowNs - int64(p.longest())
	if s.AtNs < nowNs-int64(clockSlack) || s.AtNs > latest {
		return fmt.Errorf("a sample is %s away from now",
			time.Duration(max(-sumMost, min(sumMost, s.AtNs-nowNs))))
	}
	c := &s.Counters
	for _, ns := range []int64{s.FirstAckNs, s.LastAckNs, c.FirstHandedNs, c.FirstReadNs,
		c.LastReceived} {
		if ns != 0 && (ns < earliest || ns > latest) {
			return fmt.Errorf("a sample has the time %d ns, which is not of this run", ns)
		}
	}
	if s.FirstAckNs > s.LastAckNs {
		return fmt.Errorf("the first acknowledgement of an interval is later than the last one")
	}
	return nil
}

// checkHistograms refuses names that no series has, and two histograms of the same name and phase.
func checkHistograms(all measure.Histograms) error {
	foreign := func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' }
	type cell struct {
		series result.Series
		phase  measure.Phase
	}
	seen := make(map[cell]bool)
	for i := range all {
		at := cell{all[i].Series, all[i].Phase}
		if at.series == "" || strings.ContainsFunc(string(at.series), foreign) || seen[at] {
			return fmt.Errorf("a sample has a histogram %q that does not belong to it", at.series)
		}
		seen[at] = true
	}
	return nil
}

func checkProcesses(all, before []Process) error {
	if len(all) > 1 {
		return fmt.Errorf("a sample is of %d processes, and a worker is one", len(all))
	}
	for _, p := range all {
		if err := checkText("the name of a process", p.ID); err != nil {
			return err
		}
		var past Process
		if len(before) > 0 {
			past = before[0]
		}
		const cpuMost = 1e12 // seconds, or cores
		if !(p.CPUSeconds >= past.CPUSeconds && p.CPUSeconds < cpuMost) ||
			!(p.CPULimitCores >= 0 && p.CPULimitCores < cpuMost) {
			return fmt.Errorf("a process used %v s of CPU after %v s, of %v cores: impossible",
				p.CPUSeconds, past.CPUSeconds, p.CPULimitCores)
		}
		for _, t := range []struct{ n, least int64 }{{p.GCCount, past.GCCount}, {p.GCPauseNs, 0},
			{p.RSSBytes, 0}, {p.HeapBytes, 0}, {p.Goroutines, 0}, {p.MemoryLimitBytes, 0},
			{p.ThrottledNs, past.ThrottledNs}} {
			if t.n < t.least || t.n > sumMost*64 {
				return fmt.Errorf("a process has a figure of %d where it had %d", t.n, t.least)
			}
		}
	}
	return nil
}

// longest bounds the time from the start of a run to its end.
func (p *Plan) longest() time.Duration {
	w := &p.Workload
	return w.Warmup + w.Duration + w.Drain + runSlack
}

// messagesMost bounds the number of messages of the plan. The schedule of an open load says it;
// a closed load has no more than any load may have.
func (p *Plan) messagesMost() int64 {
	w := &p.Workload
	if w.Load.Closed != nil {
		return int64(workload.MaxRate * (w.Warmup + w.Duration).Seconds())
	}
	n := w.WarmupMessages() + w.OfferedMessages()
	return n + n/8 + 1000 // random arrivals vary
}

// within reports whether i is an index of n.
func within(i, n int) bool { return i >= 0 && i < n }
