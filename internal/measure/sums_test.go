package measure

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

// sumsOf judges accounts of lanes that have one partition for each producer.
func sumsOf(sent []SentAccount, arrived []ArrivedAccount) result.SubscriptionLedger {
	var l result.SubscriptionLedger
	Judge(&l, sent, arrived, Evidence{}, func(lane int) LaneName { return LaneName{Producer: lane} })
	return l
}

// What each consumer of a subscription counted adds up.
func TestTheCountsOfConsumersAddUp(t *testing.T) {
	l := sumsOf(nil, []ArrivedAccount{
		{Consumer: 0, Duplicate: 1, Foreign: 2, Corrupt: 3, Misplaced: 4, GivenBack: 5,
			Redelivered: 6, Reordered: 7, Overtaken: 8},
		{Consumer: 1, Duplicate: 10, Foreign: 20, Corrupt: 30, Misplaced: 40, GivenBack: 50,
			Redelivered: 60, Reordered: 70, Overtaken: 80},
	})
	got := [...]int64{l.Duplicate, l.Foreign, l.Corrupt, l.Misplaced, l.GivenBack, l.Redelivered,
		l.Reordered, l.Overtaken}
	if want := [...]int64{11, 22, 33, 44, 55, 66, 77, 88}; got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// The fairness of a subscription is Jain's index of what its consumers handled, and of several
// topics that of the least fair one.
func TestSharingIsThatOfTheLeastFairTopic(t *testing.T) {
	handled := func(counts ...int64) (all []ArrivedAccount) {
		for i, n := range counts {
			all = append(all, ArrivedAccount{Consumer: i, Handled: n})
		}
		return all
	}
	for name, c := range map[string]struct {
		counts      []int64
		none        bool
		least, most int64
		fairness    float64
	}{
		"even":              {counts: []int64{10, 10, 10}, least: 10, most: 10, fairness: 1},
		"uneven":            {counts: []int64{30, 10}, least: 10, most: 30, fairness: 0.8},
		"half of them idle": {counts: []int64{0, 7, 7, 0}, most: 7, fairness: 0.5},
		"a single consumer": {counts: []int64{10}, none: true},
		"nothing came":      {counts: []int64{0, 0}, none: true},
	} {
		s := sumsOf(nil, handled(c.counts...)).Sharing
		if c.none != (s == nil) {
			t.Errorf("%s: %+v", name, s)
		}
		if s != nil && (s.Consumers != len(c.counts) || s.Least != c.least || s.Most != c.most ||
			s.Fairness != c.fairness) {
			t.Errorf("%s: %+v", name, s)
		}
	}
	var l result.SubscriptionLedger
	for _, counts := range [][]int64{{10, 10}, {30, 10}, {9, 10}} {
		Judge(&l, nil, handled(counts...), Evidence{}, nil)
	}
	if l.Sharing == nil || l.Sharing.Fairness != 0.8 {
		t.Errorf("of three topics: %+v", l.Sharing)
	}
}

// Messages of a transaction are read as a whole, in part or not at all, also where they came to
// several consumers; a message that the system refused must not be read.
func TestTransactionsAreReadAsAWhole(t *testing.T) {
	var made Transactions
	for number, messages := range []int{3, 3, 1, 2, 0, 2} {
		for range messages {
			made.Enlist(uint32(number + 1))
		}
	}
	made.Aborted(4)
	for _, none := range []uint32{0, 7} { // of no transaction, and of one that has no message
		made.Enlist(0)
		made.Aborted(none)
	}
	one, other := NewSeen(2), NewSeen(2)
	for _, number := range []uint32{0, 1, 1, 2, 3} {
		one.Received(1, number)
	}
	for _, number := range []uint32{1, 6, 6} {
		other.Received(1, number)
	}
	sent, came := NewSent(1), NewArrived(2)
	for seq := range int64(4) {
		sent.Refused(0, 100+seq)
	}
	sent.Acked(0, 99, 0, 0)
	for _, seq := range []int64{99, 101, 103, 104} {
		came.Received(1, seq, Arrival{})
	}
	account := came.Account()
	account.Transactions = one.Account()
	l := sumsOf([]SentAccount{{Producer: 1, Lanes: sent.Lanes(false),
		Transactions: made.Account()}},
		[]ArrivedAccount{account, {Consumer: 1, Transactions: other.Account()}, {Consumer: 2}})
	if l.Transactions != 6 || l.AbortedTransactions != 1 || l.PartialTransactions != 1 ||
		l.WholeTransactions != 2 || l.RefusedReceived != 2 || l.Unacked != 3 {
		t.Errorf("%+v", l)
	}
	if got := NewSeen(3).Account(); got != nil {
		t.Errorf("counts of transactions without one: %v", got)
	}
}

// Something is missing until each acknowledged message has come to one of the consumers, whatever
// its producer and wherever its number is.
func TestMissingUntilTheLastMessageHasCome(t *testing.T) {
	const last = 2*PageBits + 70
	one, other := NewSent(2), NewSent(2)
	first, second := NewArrived(4), NewArrived(4)
	one.Acked(0, 5, 0, 0)
	other.Acked(1, 3, 0, 0)
	other.Acked(1, last, 0, 0)
	missing := func() bool {
		return Missing([]SentAccount{{Lanes: one.Lanes(false)}, {Producer: 1,
			Lanes: other.Lanes(false)}}, []ArrivedAccount{first.Account(), second.Account()})
	}
	for i, arrive := range []func(){
		func() {},
		func() { first.Received(0, 5, Arrival{}) },
		func() { second.Received(3, 3, Arrival{}) },
		func() { first.Received(3, last-1, Arrival{}) }, // not acknowledged
		func() { first.Received(2, last, Arrival{}) },   // of another lane
	} {
		if arrive(); !missing() {
			t.Errorf("after step %d nothing is missing", i)
		}
	}
	if first.Received(3, last, Arrival{}); missing() {
		t.Error("something is missing when everything has come")
	}
}

// Numbers are found in a set and in a union of sets, also beyond a page and after a full one.
func TestNumbersAreFound(t *testing.T) {
	var one, other Numbers
	for n := range int64(2 * PageBits) { // two full pages
		one.Add(n)
	}
	one.Add(5*PageBits + 1)
	other.Add(3 * PageBits)
	other.Add(7)
	both := one.Set().Union(other.Set()).Has()
	has := one.Set().Has()
	for n, want := range map[int64][2]bool{
		0: {true, true}, 7: {true, true}, 2*PageBits - 1: {true, true}, 2 * PageBits: {},
		3 * PageBits: {false, true}, 3*PageBits + 1: {}, 5*PageBits + 1: {true, true},
		5*PageBits + 2: {}, 9 * PageBits: {},
	} {
		if got := [2]bool{has(n), both(n)}; got != want {
			t.Errorf("%d: %v, want %v", n, got, want)
		}
	}
}

// The histograms of several workers add up by series and phase, with what was out of range.
func TestHistogramsOfWorkersAddUp(t *testing.T) {
	worker := func(times int) []Histogram {
		r := NewRecorder(result.Publish, result.Send)
		r.Lock()
		for range times {
			r.Add(0, Measured, 1000)
			r.Add(0, Measured, -1)
			r.Add(0, Warmup, 2*result.HistogramMaxNs)
			r.Add(1, Measured, 3000)
		}
		r.Unlock()
		all, _ := r.Collect(NewLive(result.Publish, result.Send))
		return all
	}
	merged := MergeHistograms(worker(2), nil, worker(3))
	if len(merged) != 3 {
		t.Fatalf("%d histograms: %+v", len(merged), merged)
	}
	cells := NewCells(result.Publish, result.Send)
	cells.Add(merged)
	for _, c := range []struct {
		series                   result.Series
		phase                    Phase
		count, negative, clamped int64
	}{
		{result.Publish, Measured, 10, 5, 0},
		{result.Publish, Warmup, 5, 0, 5},
		{result.Send, Measured, 5, 0, 0},
		{result.Send, Warmup, 0, 0, 0},
	} {
		got := cells.Of(c.series, c.phase)
		if n := got.Histogram.TotalCount(); n != c.count || got.Negative != c.negative ||
			got.Clamped != c.clamped {
			t.Errorf("%s, phase %d: %d latencies, %d negative, %d clamped: want %d, %d, %d",
				c.series, c.phase, n, got.Negative, got.Clamped, c.count, c.negative, c.clamped)
		}
	}
	cells.Reset()
	got := cells.Of(result.Publish, Measured)
	if got.Histogram.TotalCount() != 0 || got.Negative != 0 {
		t.Errorf("after a reset: %d latencies, %d negative", got.Histogram.TotalCount(),
			got.Negative)
	}
	if late := cells.Of(result.Publish, Warmup); late.Clamped != 0 {
		t.Errorf("after a reset: %d clamped", late.Clamped)
	}
}

// The mean number in flight is that of the measured window alone.
func TestTheMeanInFlightIsOfTheWindow(t *testing.T) {
	w := NewWatcher(nil, nil, 1, func(ns int64) Phase {
		if ns >= 100 && ns < 200 {
			return Measured
		}
		return Warmup
	})
	if got := w.MeanInFlight(); got != 0 {
		t.Errorf("%v without a look", got)
	}
	w.note(80, 90, 1000, 1000) // before the window
	w.note(90, 100, 1000, 10)  // into it
	w.note(100, 140, 10, 30)
	w.note(140, 150, 30, 50)
	w.note(150, 210, 50, 1000) // out of it
	if got := w.MeanInFlight(); got != 24 {
		t.Errorf("%v in flight on average, want 24", got)
	}
}
