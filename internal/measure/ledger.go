package measure

import "github.com/plimsoll-bench/plimsoll/result"

// maxLostRanges bounds the evidence kept of what was lost; the count is whole.
const maxLostRanges = 20

// Sent is what one producer had acknowledged, by lane. It has one owner at a
// time, who locks.
type Sent struct {
	lanes []bitmap
	pool  pagePool
}

// NewSent returns the account of a producer with that many lanes.
func NewSent(lanes int) *Sent { return &Sent{lanes: make([]bitmap, lanes)} }

// Acked notes that the message was acknowledged.
func (s *Sent) Acked(lane int, seq int64) { s.lanes[lane].set(seq, &s.pool) }

// Arrived is what one consumer received, by lane. It has one owner at a time,
// who locks. Lanes that nothing came on cost next to nothing, since a consumer of
// a crowd sees few of them.
type Arrived struct {
	blocks    []*laneBlock // nil: nothing came on any of its lanes
	pool      pagePool
	duplicate int64
	reordered int64
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

// Received notes that the message arrived, and reports whether it was new to
// this consumer. Reordered is a first arrival after a later message of its
// lane had arrived at the same consumer.
func (a *Arrived) Received(lane int, seq int64) bool {
	block := a.blocks[lane/blockLanes]
	if block == nil {
		block = new(laneBlock)
		a.blocks[lane/blockLanes] = block
	}
	l := &block[lane%blockLanes]
	if !l.seen.set(seq, &a.pool) {
		a.duplicate++
		return false
	}
	if seq < l.highest {
		a.reordered++
	} else {
		l.highest = seq + 1
	}
	return true
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
// lanes of sent, one producer after another, are the lanes of each arrived.
// Nobody may record any more. It consumes arrived.
func Account(into *result.SubscriptionLedger, sent []*Sent, arrived []*Arrived, name func(lane int) LaneName) {
	lane := 0
	var some []*Arrived // those that received on a lane of this block
	for _, s := range sent {
		for i := range s.lanes {
			if lane%blockLanes == 0 {
				some = some[:0]
				for _, a := range arrived {
					if a.blocks[lane/blockLanes] != nil {
						some = append(some, a)
					}
				}
			}
			accountLane(into, &s.lanes[i], some, lane, name)
			lane++
		}
	}
	for _, a := range arrived {
		into.Duplicate += a.duplicate
		into.Reordered += a.reordered
	}
}

func accountLane(into *result.SubscriptionLedger, acked *bitmap, arrived []*Arrived, lane int, name func(int) LaneName) {
	var received bitmap
	if len(arrived) > 0 {
		received = *arrived[0].lane(lane)
		for _, a := range arrived[1:] {
			into.Duplicate += received.union(a.lane(lane), &arrived[0].pool)
		}
	}
	into.Acked += acked.count()
	into.Received += received.count()
	received.minus(acked, func(int64) { into.Unacked++ })
	acked.minus(&received, func(seq int64) {
		into.Lost++
		noteLost(into, name(lane), seq)
	})
}

// noteLost lengthens the last range, or opens another while there is room.
func noteLost(into *result.SubscriptionLedger, n LaneName, seq int64) {
	if k := len(into.LostRanges); k > 0 {
		last := &into.LostRanges[k-1]
		if last.Topic == n.Topic && last.Partition == n.Partition && last.Producer == n.Producer && last.Last == seq-1 {
			last.Last = seq
			return
		}
	}
	if len(into.LostRanges) < maxLostRanges {
		into.LostRanges = append(into.LostRanges, result.Range{
			Topic: n.Topic, Partition: n.Partition, Producer: n.Producer, First: seq, Last: seq,
		})
	}
}
