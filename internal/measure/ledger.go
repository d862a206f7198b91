package measure

import "slices"

// maxRanges bounds the evidence kept of what was lost, doubled or reordered; the
// counts are whole.
const maxRanges = 20

// Sent has one producer's acknowledged messages, by lane. It has one owner at a time, which does
// the locking.
type Sent struct {
	lanes []bitmap
	// refused are the messages that the system refused, by lane; nil: none.
	refused []bitmap
	pool    pagePool
	times   [][]Moment // by lane and sequence number; nil: not kept
	keep    int        // most moments of a lane
}

// KeepTimes makes the account keep the times at which messages were due and acknowledged, for at
// most perLane messages of each lane, as evidence about lost messages.
func (s *Sent) KeepTimes(perLane int) {
	if perLane <= 0 {
		return
	}
	s.times, s.keep = make([][]Moment, len(s.lanes)), perLane
	for i := range s.times {
		s.times[i] = make([]Moment, 0, perLane)
	}
}

// NewSent returns the account of a producer with that many lanes.
func NewSent(lanes int) *Sent { return &Sent{lanes: make([]bitmap, lanes)} }

// Acked notes that the message was acknowledged. The times are of the clock.
func (s *Sent) Acked(lane int, seq, dueNs, ackNs int64) {
	s.lanes[lane].add(seq, &s.pool)
	if seq < int64(s.keep) {
		if n := len(s.times[lane]); seq >= int64(n) {
			s.times[lane] = s.times[lane][:seq+1]
		}
		s.times[lane][seq] = Moment{dueNs, ackNs}
	}
}

// Refused notes that the system refused the message.
func (s *Sent) Refused(lane int, seq int64) {
	if s.refused == nil {
		s.refused = make([]bitmap, len(s.lanes))
	}
	s.refused[lane].add(seq, &s.pool)
}

// Lanes returns the account as plain data. With times, it hands over when messages were
// due and acknowledged, and nothing may be recorded any more.
func (s *Sent) Lanes(times bool) []SentLane {
	all := make([]SentLane, len(s.lanes))
	for i := range all {
		all[i].Acked = s.lanes[i].set()
		if s.refused != nil {
			all[i].Refused = s.refused[i].set()
		}
		if times && s.times != nil {
			all[i].Times = s.times[i]
		}
	}
	return all
}

// Arrived has the messages that one consumer received, by lane. It has one owner at a time, which
// does the locking. Lanes without a message cost almost nothing, because each of many consumers
// sees only a few lanes.
type Arrived struct {
	blocks    []*laneBlock // nil: nothing came on any of its lanes
	pool      pagePool
	duplicate int64
	reordered int64
	overtaken int64
	copies    []Sighting // the first few
	late      []Sighting // the first few
}

// note keeps one of the first sightings.
func note(all []Sighting, lane int, seq int64) []Sighting {
	if len(all) < maxRanges {
		all = append(all, Sighting{lane, seq})
	}
	return all
}

// blockLanes is how many lanes one block holds.
const blockLanes = 64

// BlockBytes is the memory of a block of lanes, and LanesOfBlock their number.
const (
	BlockBytes   = blockLanes * arrivedLaneBytes
	LanesOfBlock = blockLanes

	arrivedLaneBytes = 40
)

type laneBlock [blockLanes]arrivedLane

type arrivedLane struct {
	seen    bitmap
	highest int64 // largest sequence number so far, plus 1
	lastNs  int64 // time of the last arrival, copies included
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
	AtNs      int64 // on the clock
}

// Received notes that the message arrived, and reports whether it is its first arrival at the
// subscription. A first arrival is reordered when a later message of its lane had arrived before at
// the same consumer, and overtaken when a later message had arrived before at another consumer.
func (a *Arrived) Received(lane int, seq int64, how Arrival) (first bool) {
	block := a.blocks[lane/blockLanes]
	if block == nil {
		block = new(laneBlock)
		a.blocks[lane/blockLanes] = block
	}
	l := &block[lane%blockLanes]
	l.lastNs = how.AtNs
	if !l.seen.add(seq, &a.pool) {
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
	return a.lane(lane).has(seq)
}

// nothing is the empty set, for a lane without a block.
var nothing = &bitmap{}

// lane returns the set of messages received on a lane. Callers must not change it.
func (a *Arrived) lane(lane int) *bitmap {
	if block := a.blocks[lane/blockLanes]; block != nil {
		return &block[lane%blockLanes].seen
	}
	return nothing
}

// Account returns the account as plain data. The caller must add the consumer's name and its other
// counts.
func (a *Arrived) Account() ArrivedAccount {
	account := ArrivedAccount{
		Duplicate: a.duplicate, Reordered: a.reordered, Overtaken: a.overtaken,
		Copies: slices.Clone(a.copies), Late: slices.Clone(a.late),
	}
	for i, block := range a.blocks {
		if block == nil {
			continue
		}
		for k := range block {
			if l := &block[k]; len(l.seen.pages) > 0 {
				account.Lanes = append(account.Lanes,
					ArrivedLane{Lane: i*blockLanes + k, Seen: l.seen.set(), LastNs: l.lastNs})
			}
		}
	}
	return account
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
