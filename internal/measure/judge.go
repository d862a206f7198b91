package measure

import "github.com/plimsoll-bench/plimsoll/result"

// LaneName names the topic, partition and producer of a lane.
type LaneName struct {
	Topic     string
	Partition int
	Producer  int
}

// is reports whether a range belongs to the lane.
func (n LaneName) is(r *result.Range) bool {
	return r.Topic == n.Topic && r.Partition == n.Partition && r.Producer == n.Producer
}

// Judge compares what the producers of a topic had acknowledged with what the consumers of
// one subscription received, and adds it to the ledger. A lane is the producer's index times
// the partitions, plus the partition. A message that has not arrived is lost as far as the
// evidence shows that, otherwise it is unread. Judge returns how many distinct messages arrived
// that were due in the measured window.
func Judge(
	into *result.SubscriptionLedger, sent []SentAccount, arrived []ArrivedAccount, e Evidence,
	name func(lane int) LaneName,
) (measured int64) {
	consumers, auditors := readersOf(arrived), readersOf(e.Audit)
	for i := range sent {
		for partition := range sent[i].Lanes {
			lane := sent[i].Producer*len(sent[i].Lanes) + partition
			l := lanePassage{name: name(lane), sent: &sent[i].Lanes[partition],
				seen: seenOn(consumers, lane), evidence: e.of(partition, seenOn(auditors, lane))}
			measured += l.judge(into)
		}
	}
	for i := range arrived {
		a := &arrived[i]
		into.Duplicate += a.Duplicate
		into.Foreign += a.Foreign
		into.Corrupt += a.Corrupt
		into.Misplaced += a.Misplaced
		into.GivenBack += a.GivenBack
		into.Redelivered += a.Redelivered
		into.DuplicateRanges = named(into.DuplicateRanges, a.Copies, name)
	}
	judgeOrder(into, arrived, name)
	if s := sharing(arrived); s != nil && (into.Sharing == nil ||
		s.Fairness < into.Sharing.Fairness) {
		into.Sharing = s
	}
	judgeTransactions(into, sent, arrived)
	return measured
}

// sharing returns how evenly messages came to consumers; nil: there is one, or none came.
func sharing(arrived []ArrivedAccount) *result.Sharing {
	if len(arrived) < 2 {
		return nil
	}
	s := &result.Sharing{Consumers: len(arrived), Least: arrived[0].Handled}
	var sum, squares float64
	for i := range arrived {
		n := arrived[i].Handled
		s.Least, s.Most = min(s.Least, n), max(s.Most, n)
		if n == 0 {
			s.Idle++
		}
		sum += float64(n)
		squares += float64(n) * float64(n)
	}
	if sum == 0 {
		return nil
	}
	s.Fairness = sum * sum / (float64(s.Consumers) * squares)
	return s
}

// reader walks the lanes of one consumer, which rise.
type reader struct{ lanes []ArrivedLane }

func readersOf(arrived []ArrivedAccount) []reader {
	all := make([]reader, len(arrived))
	for i := range arrived {
		all[i].lanes = arrived[i].Lanes
	}
	return all
}

// seenOn returns what each of the consumers received on a lane. Lanes must not go back.
func seenOn(consumers []reader, lane int) (seen []ArrivedLane) {
	for i := range consumers {
		r := &consumers[i]
		for len(r.lanes) > 0 && r.lanes[0].Lane < lane {
			r.lanes = r.lanes[1:]
		}
		if len(r.lanes) > 0 && r.lanes[0].Lane == lane {
			seen = append(seen, r.lanes[0])
		}
	}
	return seen
}

// lanePassage is the passage of one lane's messages to a subscription.
type lanePassage struct {
	name     LaneName
	sent     *SentLane
	seen     []ArrivedLane // by the consumers of the subscription
	evidence laneEvidence
}

// judge accounts for the lane, and returns how many messages arrived on it that were due in the
// measured window.
func (p *lanePassage) judge(into *result.SubscriptionLedger) int64 {
	acked, received := p.sent.Acked.bitmap(), &bitmap{}
	var pool pagePool
	lastNs := int64(0)
	for i := range p.seen {
		lastNs = Later(lastNs, p.seen[i].LastNs)
		if i == 0 {
			received = p.seen[i].Seen.bitmap()
			continue
		}
		into.Duplicate += received.union(p.seen[i].Seen.bitmap(), &pool, func(seq int64) {
			into.DuplicateRanges = extend(into.DuplicateRanges, p.name, seq)
		})
	}
	into.Acked += acked.count()
	into.Received += received.count()
	received.minus(acked, func(int64) { into.Unacked++ })
	into.RefusedReceived += received.common(p.sent.Refused.bitmap())
	isLost := p.evidence.decide(received, lastNs)
	acked.minus(received, func(seq int64) {
		if !isLost(seq) {
			into.Unread++
			return
		}
		into.Lost++
		if seq < p.sent.MeasuredFrom {
			into.LostWarmup++
		}
		var when *Moment // nil: not kept
		if seq < int64(len(p.sent.Times)) {
			when = &p.sent.Times[seq]
		}
		noteLost(into, p.name, seq, when)
	})
	return received.countFrom(p.sent.MeasuredFrom)
}

// Missing reports whether something that was acknowledged has not arrived. Lanes are as
// for Judge.
func Missing(sent []SentAccount, arrived []ArrivedAccount) bool {
	consumers := readersOf(arrived)
	for i := range sent {
		for partition := range sent[i].Lanes {
			lane := sent[i].Producer*len(sent[i].Lanes) + partition
			acked := sent[i].Lanes[partition].Acked.bitmap()
			var seen []*bitmap
			for _, l := range seenOn(consumers, lane) {
				seen = append(seen, l.Seen.bitmap())
			}
			if acked.lacks(seen) {
				return true
			}
		}
	}
	return false
}

// Heard reports whether something has arrived from each of the topic's partitions to which a
// message was acknowledged.
func Heard(sent []SentAccount, arrived []ArrivedAccount, partitions int) bool {
	heard := make([]bool, partitions)
	for i := range arrived {
		for _, l := range arrived[i].Lanes {
			heard[l.Lane%partitions] = true
		}
	}
	for i := range sent {
		for partition := range sent[i].Lanes {
			if !heard[partition] && sent[i].Lanes[partition].Acked.bitmap().highest() >= 0 {
				return false
			}
		}
	}
	return true
}

// lacks reports whether the set has a number that is in none of the others.
func (b *bitmap) lacks(others []*bitmap) bool {
	for i := int64(0); i < b.length()/64; i++ {
		rest := b.word(i)
		for _, other := range others {
			rest &^= other.word(i)
		}
		if rest != 0 {
			return true
		}
	}
	return false
}

// named adds sightings to ranges.
func named(into []result.Range, all []Sighting, name func(lane int) LaneName) []result.Range {
	for _, s := range all {
		into = extend(into, name(s.Lane), s.Seq)
	}
	return into
}

// extend lengthens the last range, or opens another while there is room.
func extend(all []result.Range, n LaneName, seq int64) []result.Range {
	if k := len(all); k > 0 {
		last := &all[k-1]
		if n.is(last) && last.Last == seq-1 {
			last.Last = seq
			return all
		}
	}
	if len(all) < maxRanges {
		all = append(all, result.Range{
			Topic: n.Topic, Partition: n.Partition, Producer: n.Producer, First: seq, Last: seq,
		})
	}
	return all
}

// noteLost adds a message to the lost ranges, and when it was to its range.
func noteLost(into *result.SubscriptionLedger, n LaneName, seq int64, at *Moment) {
	before := len(into.LostRanges)
	into.LostRanges = extend(into.LostRanges, n, seq)
	last := &into.LostRanges[len(into.LostRanges)-1]
	switch w := last.When; {
	case last.Last != seq || !n.is(last): // no room
	case at == nil:
		last.When = nil // of a part says little
	case len(into.LostRanges) > before:
		last.When = &result.Span{
			FirstDueNs: at.DueNs, LastDueNs: at.DueNs, FirstAckNs: at.AckNs, LastAckNs: at.AckNs,
		}
	case w != nil:
		w.FirstDueNs, w.LastDueNs = min(w.FirstDueNs, at.DueNs), max(w.LastDueNs, at.DueNs)
		w.FirstAckNs, w.LastAckNs = min(w.FirstAckNs, at.AckNs), max(w.LastAckNs, at.AckNs)
	}
}
