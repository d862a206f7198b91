package measure

import (
	"github.com/plimsoll-bench/plimsoll/result"
)

// maxRanges bounds the evidence kept of what was lost, doubled or reordered; the
// counts are whole.
const maxRanges = 20

// Sent is what one producer had acknowledged, by lane. It has one owner at a
// time, who locks.
type Sent struct {
	lanes []bitmap
	// refused are the messages that the system refused, by lane; nil: none.
	refused []bitmap
	pool    pagePool
	times   [][]moment // by lane and sequence number; nil: not kept
	keep    int        // most moments of a lane
}

// moment is when a message was due and acknowledged.
type moment struct{ dueNs, ackNs int64 }

// MomentBytes is the memory of what KeepTimes keeps of a message.
const MomentBytes = 16

// KeepTimes has the account keep when each message was due and acknowledged,
// of at most so many of a lane: evidence for what gets lost.
func (s *Sent) KeepTimes(perLane int) {
	if perLane <= 0 {
		return
	}
	s.times, s.keep = make([][]moment, len(s.lanes)), perLane
	for i := range s.times {
		s.times[i] = make([]moment, 0, perLane)
	}
}

// NewSent returns the account of a producer with that many lanes.
func NewSent(lanes int) *Sent { return &Sent{lanes: make([]bitmap, lanes)} }

// Acked notes that the message was acknowledged. The times are of the clock.
func (s *Sent) Acked(lane int, seq, dueNs, ackNs int64) {
	s.lanes[lane].set(seq, &s.pool)
	if seq < int64(s.keep) {
		if n := len(s.times[lane]); seq >= int64(n) {
			s.times[lane] = s.times[lane][:seq+1]
		}
		s.times[lane][seq] = moment{dueNs, ackNs}
	}
}

// Refused notes that the system refused the message.
func (s *Sent) Refused(lane int, seq int64) {
	if s.refused == nil {
		s.refused = make([]bitmap, len(s.lanes))
	}
	s.refused[lane].set(seq, &s.pool)
}

// when is the times of a message; nil: not kept.
func (s *Sent) when(lane int, seq int64) *moment {
	if seq >= int64(s.keep) {
		return nil
	}
	return &s.times[lane][seq]
}

// Arrived is what one consumer received, by lane. It has one owner at a time,
// who locks. Lanes that nothing came on cost next to nothing, since a consumer of
// a crowd sees few of them.
type Arrived struct {
	blocks    []*laneBlock // nil: nothing came on any of its lanes
	pool      pagePool
	duplicate int64
	reordered int64
	overtaken int64
	copies    []sighting // the first few
	late      []sighting // the first few
}

// sighting is one message of a lane.
type sighting struct {
	lane int
	seq  int64
}

// note keeps one of the first sightings.
func note(all []sighting, lane int, seq int64) []sighting {
	if len(all) < maxRanges {
		all = append(all, sighting{lane, seq})
	}
	return all
}

// blockLanes is how many lanes one block holds.
const blockLanes = 64

// BlockBytes is the memory of a block of lanes, and LanesOfBlock their number.
const (
	BlockBytes   = blockLanes * arrivedLaneBytes
	LanesOfBlock = blockLanes

	arrivedLaneBytes = 32
)

type laneBlock [blockLanes]arrivedLane

type arrivedLane struct {
	seen    bitmap
	highest int64 // largest sequence number so far, plus 1
}

// NewArrived returns the account of a consumer that may see that many lanes.
func NewArrived(lanes int) *Arrived {
	return &Arrived{blocks: make([]*laneBlock, (lanes+blockLanes-1)/blockLanes)}
}

// Arrival says what a received message is.
type Arrival struct {
	// Late: a message with a higher number of its lane had arrived at some consumer of
	// the subscription before.
	Late bool
	// Elsewhere: another consumer of the subscription had received it before.
	Elsewhere bool
}

// Received notes that the message arrived, and reports whether it is its first
// arrival at the subscription. Reordered is a first arrival after a later message of
// its lane had arrived at the same consumer; overtaken after one had at another.
func (a *Arrived) Received(lane int, seq int64, how Arrival) (first bool) {
	block := a.blocks[lane/blockLanes]
	if block == nil {
		block = new(laneBlock)
		a.blocks[lane/blockLanes] = block
	}
	l := &block[lane%blockLanes]
	if !l.seen.set(seq, &a.pool) {
		a.duplicate++
		a.copies = note(a.copies, lane, seq)
		return false
	}
	if how.Elsewhere {
		return false // counted when the accounts of all consumers are put together
	}
	switch {
	case seq < l.highest:
		a.reordered++
		a.late = note(a.late, lane, seq)
	case how.Late:
		a.overtaken++
	}
	l.highest = max(l.highest, seq+1)
	return true
}

// Has reports whether the message has arrived at this consumer.
func (a *Arrived) Has(lane int, seq int64) bool {
	return a.lane(lane).word(seq/64)&(1<<(seq%64)) != 0
}

// nothing is what came on a lane whose block is not there.
var nothing = &bitmap{}

// lane is what came on a lane. It is not to be written to.
func (a *Arrived) lane(lane int) *bitmap {
	if block := a.blocks[lane/blockLanes]; block != nil {
		return &block[lane%blockLanes].seen
	}
	return nothing
}

// withBlock appends those to which something came in the block of a lane.
func withBlock(into, arrived []*Arrived, lane int) []*Arrived {
	for _, a := range arrived {
		if a.blocks[lane/blockLanes] != nil {
			into = append(into, a)
		}
	}
	return into
}

// Bytes is the memory of the account.
func (a *Arrived) Bytes() int64 {
	n := int64(len(a.blocks)) * pagePointerBytes
	for _, block := range a.blocks {
		if block == nil {
			continue
		}
		n += BlockBytes
		for i := range block {
			n += block[i].seen.bytes()
		}
	}
	return n
}

// Bytes is the memory of the account.
func (s *Sent) Bytes() int64 {
	var n int64
	for i := range s.lanes {
		n += s.lanes[i].bytes()
	}
	return n
}

// LaneName says whose messages a lane holds.
type LaneName struct {
	Topic     string
	Partition int
	Producer  int
}

// Account compares what the producers of a topic had acknowledged with what
// the consumers of one subscription received, and adds it to the ledger. The
// lanes of sent, one producer after another, are the lanes of each arrived. It returns
// how many distinct messages arrived of those that from says, by lane, to be the first
// to count. Nobody may record any more. It consumes arrived.
func Account(
	into *result.SubscriptionLedger, sent []*Sent, arrived []*Arrived,
	from func(lane int) int64, name func(lane int) LaneName,
) (counted int64) {
	lane := 0
	var some []*Arrived // those that received on a lane of this block
	for _, s := range sent {
		for i := range s.lanes {
			if lane%blockLanes == 0 {
				some = withBlock(some[:0], arrived, lane)
			}
			counted += accountLane(into, s, i, some, lane, from(lane), name)
			lane++
		}
	}
	for _, a := range arrived {
		into.Duplicate += a.duplicate
		into.Reordered += a.reordered
		into.Overtaken += a.overtaken
		into.DuplicateRanges = named(into.DuplicateRanges, a.copies, name)
		into.ReorderedRanges = named(into.ReorderedRanges, a.late, name)
	}
	return counted
}

// accountLane accounts for one lane, and returns how many messages arrived on it from
// a sequence number on.
func accountLane(
	into *result.SubscriptionLedger, sent *Sent, own int, arrived []*Arrived, lane int,
	from int64, name func(int) LaneName,
) int64 {
	acked := &sent.lanes[own]
	var received bitmap
	if len(arrived) > 0 {
		received = *arrived[0].lane(lane)
		for _, a := range arrived[1:] {
			into.Duplicate += received.union(a.lane(lane), &arrived[0].pool, func(seq int64) {
				into.DuplicateRanges = extend(into.DuplicateRanges, name(lane), seq)
			})
		}
	}
	into.Acked += acked.count()
	into.Received += received.count()
	received.minus(acked, func(int64) { into.Unacked++ })
	if sent.refused != nil {
		into.RefusedReceived += received.common(&sent.refused[own])
	}
	acked.minus(&received, func(seq int64) {
		into.Lost++
		noteLost(into, name(lane), seq, sent.when(own, seq))
	})
	return received.countFrom(from)
}

// Missing reports whether something that was acknowledged has not arrived. Lanes
// are as for Account; nobody may record meanwhile.
func Missing(sent []*Sent, arrived []*Arrived) bool {
	lane := 0
	var some []*Arrived
	for _, s := range sent {
		for own := range s.lanes {
			if lane%blockLanes == 0 {
				some = withBlock(some[:0], arrived, lane)
			}
			acked := &s.lanes[own]
			for i := int64(0); i < acked.length()/64; i++ {
				rest := acked.word(i)
				for _, a := range some {
					rest &^= a.lane(lane).word(i)
				}
				if rest != 0 {
					return true
				}
			}
			lane++
		}
	}
	return false
}

// named adds sightings to ranges.
func named(into []result.Range, all []sighting, name func(lane int) LaneName) []result.Range {
	for _, s := range all {
		into = extend(into, name(s.lane), s.seq)
	}
	return into
}

// extend lengthens the last range, or opens another while there is room.
func extend(all []result.Range, n LaneName, seq int64) []result.Range {
	if k := len(all); k > 0 {
		last := &all[k-1]
		if last.Topic == n.Topic && last.Partition == n.Partition && last.Producer == n.Producer && last.Last == seq-1 {
			last.Last = seq
			return all
		}
	}
	if len(all) < maxRanges {
		all = append(all, result.Range{Topic: n.Topic, Partition: n.Partition, Producer: n.Producer, First: seq, Last: seq})
	}
	return all
}

// noteLost adds a message to the lost ranges, and when it was to its range.
func noteLost(into *result.SubscriptionLedger, n LaneName, seq int64, at *moment) {
	before := len(into.LostRanges)
	into.LostRanges = extend(into.LostRanges, n, seq)
	last := &into.LostRanges[len(into.LostRanges)-1]
	switch w := last.When; {
	case last.Last != seq || last.Topic != n.Topic || last.Partition != n.Partition || last.Producer != n.Producer: // no room
	case at == nil:
		last.When = nil // of a part says little
	case len(into.LostRanges) > before:
		last.When = &result.Span{FirstDueNs: at.dueNs, LastDueNs: at.dueNs, FirstAckNs: at.ackNs, LastAckNs: at.ackNs}
	case w != nil:
		w.FirstDueNs, w.LastDueNs = min(w.FirstDueNs, at.dueNs), max(w.LastDueNs, at.dueNs)
		w.FirstAckNs, w.LastAckNs = min(w.FirstAckNs, at.ackNs), max(w.LastAckNs, at.ackNs)
	}
}
