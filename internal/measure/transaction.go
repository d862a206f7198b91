package measure

import (
	"slices"

	"github.com/plimsoll-bench/plimsoll/result"
)

// Transactions is the outcome of the transactions of one producer, which numbers them from 1. It
// has one owner at a time, which does the locking. Number 0 stands for no transaction and is
// ignored.
type Transactions struct {
	all []Transaction
}

// Account returns them as plain data.
func (t *Transactions) Account() []Transaction { return slices.Clone(t.all) }

// Enlist adds a message to a transaction.
func (t *Transactions) Enlist(number uint32) {
	if number == 0 {
		return
	}
	for int(number) > len(t.all) {
		t.all = append(t.all, Transaction{})
	}
	t.all[number-1].Messages++
}

// Aborted notes that a message of a transaction was refused.
func (t *Transactions) Aborted(number uint32) {
	if n := int(number); n > 0 && n <= len(t.all) {
		t.all[n-1].Aborted = true
	}
}

// Seen counts by transaction the messages that one consumer received first, for each
// producer of its topic.
type Seen struct {
	producers [][]int32
}

// NewSeen returns an empty count for the given number of producers.
func NewSeen(producers int) *Seen { return &Seen{producers: make([][]int32, producers)} }

// Account returns the counts as plain data; nil: there were no transactions.
func (s *Seen) Account() [][]int32 {
	some := false
	all := make([][]int32, len(s.producers))
	for i, of := range s.producers {
		all[i] = slices.Clone(of)
		some = some || len(of) > 0
	}
	if !some {
		return nil
	}
	return all
}

// Received counts a message of a producer's transaction; 0: the message belongs to no transaction.
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

// judgeTransactions compares the transactions of a topic's producers with what the
// consumers of one subscription received, and adds the result to the ledger.
func judgeTransactions(
	into *result.SubscriptionLedger, sent []SentAccount, arrived []ArrivedAccount,
) {
	for _, s := range sent {
		for i, t := range s.Transactions {
			received := int32(0)
			for _, a := range arrived {
				if s.Producer >= len(a.Transactions) {
					continue
				}
				if of := a.Transactions[s.Producer]; i < len(of) {
					received += of[i]
				}
			}
			into.Transactions++
			if t.Aborted {
				into.AbortedTransactions++
			}
			switch {
			case received > 0 && received < t.Messages:
				into.PartialTransactions++
			case received == t.Messages && t.Messages > 1:
				into.WholeTransactions++
			}
		}
	}
}
