package load

import (
	"fmt"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// AccountBytes bounds the encoded account of a worker that counted so many messages.
func (p *Plan) AccountBytes(c *Counters, limit int64) int64 {
	const (
		fixed       = 64 << 10
		oneError    = TextMost + 64 // and a change of the number of consumers, with its error
		oneAccount  = 2 << 10       // of a client: names, sightings, counts
		oneLane     = 64            // of names and numbers
		onePage     = measure.PageBits/8 + 16
		oneMoment   = 48
		transaction = 32
	)
	w := &p.Workload
	// The sample may be older than the account.
	const ahead = 1 << 20
	var begun, received int64
	for phase := range c.Handed {
		begun += c.Handed[phase]
		received += c.Received[phase]
	}
	most := float64(p.messagesMost())
	n := min(most, float64(2*begun+ahead))
	arrivals := min(most*float64(w.AllSubscriptions()), float64(2*(received+c.Read)+ahead))
	producers := float64(w.Topics) * float64(w.Producers)
	lanes := float64(w.LanesBefore(w.Topics))
	consumers := float64(w.Topics) * float64(w.AllSubscriptions()) * float64(w.Consumers)
	// A lane that a consumer knows has a message, and the pages up to its last one.
	seen := min(lanes*float64(w.AllSubscriptions())*float64(w.Consumers), arrivals)
	pages := most/measure.PageBits*float64(w.AllSubscriptions())*float64(w.Consumers) + seen
	bytes := fixed + oneAccount*(producers+consumers) +
		oneError*(min(maxMerged, maxErrors*producers)+float64(len(w.Scaling)+1)) +
		lanes*(oneLane+2*onePage) + 2*onePage*n/measure.PageBits +
		seen*oneLane + min(pages, arrivals)*onePage +
		float64(TimedMessages(w))*oneMoment
	if w.Delivery == workload.ExactlyOnce {
		bytes += transaction * (n + arrivals)
	}
	return int64(min(bytes, float64(limit)))
}

// CheckAccount refuses an account from another process that does not fit the plan: its lanes,
// producers and consumers are used as indexes, and its sets become bitmaps.
func (p *Plan) CheckAccount(a *Account) error {
	w := &p.Workload
	clients := float64(w.Topics) * float64(w.Producers)
	if !(a.MeanInFlight >= 0 && a.MeanInFlight <= clients*float64(w.MaxInFlight)) {
		return fmt.Errorf("an account has an impossible mean of %v messages in flight",
			a.MeanInFlight)
	}
	if a.MemoryBytes < 0 || a.MemoryBytes > sumMost || len(a.Missing) > 0 {
		return fmt.Errorf("an account has %d bytes and lacks %d workers: impossible",
			a.MemoryBytes, len(a.Missing))
	}
	if err := checkErrors(a.Errors); err != nil {
		return err
	}
	if err := p.checkScaling(a); err != nil {
		return err
	}
	if err := p.checkSent(a.Sent); err != nil {
		return err
	}
	return p.checkArrived(a.Arrived)
}

func checkErrors(all []result.Error) error {
	if len(all) > maxMerged {
		return fmt.Errorf("an account has %d kinds of errors, and at most %d are kept", len(all),
			maxMerged)
	}
	for _, e := range all {
		if e.Count < 0 || e.Count > sumMost {
			return fmt.Errorf("an account has an impossible number of errors of a kind: %d",
				e.Count)
		}
		if err := checkText("an error", e.Message); err != nil {
			return err
		}
	}
	return nil
}

func (p *Plan) checkScaling(a *Account) error {
	if len(a.Scaling) > len(p.Workload.Scaling)+1 {
		return fmt.Errorf("an account has %d changes of the number of consumers, and the plan %d",
			len(a.Scaling), len(p.Workload.Scaling))
	}
	for _, s := range a.Scaling {
		for _, n := range []int64{s.AtNs, int64(s.Consumers), s.TookNs, s.MedianGapNs,
			s.LongestGapNs, s.Copies} {
			if n < 0 || n > sumMost {
				return fmt.Errorf("an account has a change with an impossible figure: %d", n)
			}
		}
		if err := checkText("the error of a change", s.Failure); err != nil {
			return err
		}
	}
	return nil
}

func (p *Plan) checkSent(all []measure.SentAccount) error {
	w := &p.Workload
	seen := make(map[[2]int]bool, min(len(all), w.Topics*w.Producers))
	most := p.messagesMost()
	times := TimedMessages(w)
	var sent int64
	for i := range all {
		s := &all[i]
		at := [2]int{s.Topic, s.Producer}
		if !within(s.Topic, w.Topics) || !within(s.Producer, w.Producers) ||
			len(s.Lanes) != w.KindOf(s.Topic).Most || seen[at] {
			return fmt.Errorf("an account has producer %d of topic %d with %d lanes, which the "+
				"plan does not have", s.Producer, s.Topic, len(s.Lanes))
		}
		seen[at] = true
		for j := range s.Lanes {
			l := &s.Lanes[j]
			sent += max(l.Acked.End(), l.Refused.End())
			times -= len(l.Times)
			if sent > most || l.MeasuredFrom < 0 || l.Handed < 0 || l.Handed > most ||
				times < 0 {
				return fmt.Errorf("an account has messages beyond the %d of the plan", most)
			}
			if err := checkMoments(l.Times); err != nil {
				return err
			}
		}
		for _, t := range s.Transactions {
			if t.Messages < 0 {
				return fmt.Errorf("an account has a transaction of %d messages", t.Messages)
			}
		}
	}
	return nil
}

// timeMost bounds a time on the clock.
const timeMost = int64(100 * 365 * 24 * time.Hour)

func checkMoments(all []measure.Moment) error {
	const most = timeMost
	for _, m := range all {
		if max(m.DueNs, m.AckNs) > most || min(m.DueNs, m.AckNs) < -most {
			return fmt.Errorf("an account has a message due at %d ns", m.DueNs)
		}
	}
	return nil
}

func (p *Plan) checkArrived(all []measure.ArrivedAccount) error {
	w := &p.Workload
	seen := make(map[[3]int]bool)
	for i := range all {
		c := &all[i]
		at := [3]int{c.Topic, c.Subscription, c.Consumer}
		if !within(c.Topic, w.Topics) || !within(c.Subscription, w.AllSubscriptions()) ||
			!within(c.Consumer, w.Consumers) || len(c.Transactions) > w.Producers || seen[at] {
			return fmt.Errorf("an account has consumer %d of subscription %d of topic %d, which "+
				"the plan does not have", c.Consumer, c.Subscription, c.Topic)
		}
		seen[at] = true
		for _, n := range []int64{c.Duplicate, c.Reordered, c.Overtaken, c.Foreign, c.Corrupt,
			c.Misplaced, c.GivenBack, c.Redelivered, c.Handled} {
			if n < 0 || n > sumMost {
				return fmt.Errorf("an account has a consumer with a count of %d", n)
			}
		}
		for _, of := range c.Transactions {
			for _, n := range of {
				if n < 0 {
					return fmt.Errorf("an account has a transaction of %d messages", n)
				}
			}
		}
		if err := p.checkLanes(c); err != nil {
			return err
		}
	}
	return nil
}

// checkLanes checks what a consumer received.
func (p *Plan) checkLanes(c *measure.ArrivedAccount) error {
	lanes := p.Workload.Producers * p.Workload.KindOf(c.Topic).Most
	before, most := -1, p.messagesMost()
	var received int64
	for _, l := range c.Lanes {
		if l.Lane <= before || l.Lane >= lanes {
			return fmt.Errorf("an account has lane %d after %d, and the plan has %d", l.Lane,
				before, lanes)
		}
		before = l.Lane
		if l.LastNs > timeMost || l.LastNs < -timeMost {
			return fmt.Errorf("an account has a message that arrived at %d ns", l.LastNs)
		}
		if received += l.Seen.End(); received > most {
			return fmt.Errorf("an account has messages beyond the %d of the plan", most)
		}
	}
	for _, some := range [][]measure.Sighting{c.Copies, c.Late} {
		for _, seen := range some {
			if !within(seen.Lane, lanes) || seen.Seq < 0 {
				return fmt.Errorf("an account has message %d of lane %d, and the plan has %d "+
					"lanes", seen.Seq, seen.Lane, lanes)
			}
		}
	}
	return nil
}
