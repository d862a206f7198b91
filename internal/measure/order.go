package measure

import "sync/atomic"

// Order is the highest sequence number that any consumer of a subscription has received
// of each lane. Any goroutine may use it; no lock is taken. Lanes are made in blocks
// when something comes on one of them.
type Order struct {
	blocks []atomic.Pointer[orderBlock]
}

// orderBlock has the highest sequence number of each lane, plus 1.
type orderBlock [blockLanes]atomic.Int64

// OrderBytes is the memory of one lane's order.
const OrderBytes = 8

// NewOrder returns the order of the given number of lanes, with nothing received yet.
func NewOrder(lanes int) *Order {
	return &Order{blocks: make([]atomic.Pointer[orderBlock], (lanes+blockLanes-1)/blockLanes)}
}

// Late notes that the message arrived, and reports whether a message with the same or
// a higher number of its lane had arrived before.
func (o *Order) Late(lane int, seq int64) bool {
	at := &o.blocks[lane/blockLanes]
	block := at.Load()
	if block == nil {
		at.CompareAndSwap(nil, new(orderBlock))
		block = at.Load()
	}
	highest := &block[lane%blockLanes]
	for {
		was := highest.Load()
		if seq < was {
			return true
		}
		if highest.CompareAndSwap(was, seq+1) {
			return false
		}
	}
}
