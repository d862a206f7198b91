package measure

import "github.com/plimsoll-bench/plimsoll/result"

// Transactions is what became of the transactions of one producer, which numbers them
// from 1. It has one owner at a time, who locks. Number 0 stands for no transaction
// and is ignored.
type Transactions struct {
	all []transaction
}

type transaction struct {
	messages int32
	aborted  bool
}

// Enlist adds a message to a transaction.
func (t *Transactions) Enlist(number uint32) {
	if number == 0 {
		return
	}
	for int(number) > len(t.all) {
		t.all = append(t.all, transaction{})
	}
	t.all[number-1].messages++
}

// Aborted notes that a message of a transaction was refused.
func (t *Transactions) Aborted(number uint32) {
	if n := int(number); n > 0 && n <= len(t.all) {
		t.all[n-1].aborted = true
	}
}

// Seen counts by transaction the messages that one consumer received first, for each
// producer of its topic.
type Seen struct {
	producers [][]int32
}

// NewSeen returns an empty count for so many producers.
func NewSeen(producers int) *Seen { return &Seen{producers: make([][]int32, producers)} }

// Received counts a message of a producer's transaction; 0: it is of none.
func (s *Seen) Received(producer int, number uint32) {
	if number == 0 {
		return
	}
	of := s.producers[producer]
	for int(number) > len(of) {
		of = append(of, 0)
	}
	of[number-1]++
	s.producers[producer] = of
}

// AccountTransactions compares the transactions of a topic's producers with what the
// consumers of one subscription received, and adds the result to the ledger.
func AccountTransactions(into *result.SubscriptionLedger, sent []*Transactions, seen []*Seen) {
	for producer, t := range sent {
		for i := range t.all {
			received := int32(0)
			for _, s := range seen {
				if of := s.producers[producer]; i < len(of) {
					received += of[i]
				}
			}
			into.Transactions++
			if t.all[i].aborted {
				into.AbortedTransactions++
			}
			switch sent := t.all[i].messages; {
			case received > 0 && received < sent:
				into.PartialTransactions++
			case received == sent && sent > 1:
				into.WholeTransactions++
			}
		}
	}
}
