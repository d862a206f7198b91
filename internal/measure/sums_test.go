package measure

import (
	"math"
	"runtime/metrics"
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
		idle        int
		fairness    float64
	}{
		"even":              {counts: []int64{10, 10, 10}, least: 10, most: 10, fairness: 1},
		"uneven":            {counts: []int64{30, 10}, least: 10, most: 30, fairness: 0.8},
		"half of them idle": {counts: []int64{0, 7, 7, 0}, most: 7, idle: 2, fairness: 0.5},
		"a single consumer": {counts: []int64{10}, none: true},
		"nothing came":      {counts: []int64{0, 0}, none: true},
	} {
		s := sumsOf(nil, handled(c.counts...)).Sharing
		if c.none != (s == nil) {
			t.Errorf("%s: %+v", name, s)
		}
		if s != nil && (s.Consumers != len(c.counts) || s.Least != c.least || s.Most != c.most ||
			s.Idle != c.idle ||
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
	for number, messages := range []int{3, 3, 1, 2, 0, 4, 1, 2} {
		for range messages {
			made.Enlist(uint32(number + 1))
		}
	}
	made.Aborted(6)                       // the last one
	for _, none := range []uint32{0, 9} { // of no transaction, and of one that has no message
		made.Enlist(0)
		made.Aborted(none)
	}
	one, other := NewSeen(2), NewSeen(2)
	for _, number := range []uint32{0, 1, 1, 2, 3, 6, 7} {
		one.Received(1, number)
	}
	for _, number := range []uint32{1, 4, 4} {
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
	if l.Transactions != 8 || l.AbortedTransactions != 1 || l.PartialTransactions != 2 ||
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

// Of each arrival at a consumer it is known whether it is the subscription's first of the message,
// on whichever of many lanes.
func TestFirstArrivalsOnManyLanes(t *testing.T) {
	const lanes = 3 * blockLanes
	a := NewArrived(lanes)
	for lane := range lanes {
		if !a.Received(lane, int64(lane), Arrival{}) {
			t.Errorf("lane %d: the first arrival is a copy", lane)
		}
		if a.Received(lane, int64(lane), Arrival{Late: true}) {
			t.Errorf("lane %d: the second arrival is the first", lane)
		}
		if a.Received(lane, 1000, Arrival{Elsewhere: true}) {
			t.Errorf("lane %d: what came elsewhere before is the first", lane)
		}
	}
	for lane := range lanes {
		if !a.Has(lane, int64(lane)) || a.Has(lane, int64(lane)+1) {
			t.Errorf("lane %d has messages of another", lane)
		}
	}
	account := a.Account()
	if len(account.Lanes) != lanes || account.Duplicate != lanes || account.Reordered != 0 {
		t.Errorf("%d lanes, %d copies, %d reordered", len(account.Lanes), account.Duplicate,
			account.Reordered)
	}
	if len(account.Copies) != maxRanges || account.Copies[19] != (Sighting{19, 19}) {
		t.Errorf("evidence of copies: %v", account.Copies)
	}
	if n := a.Bytes(); n < 3*BlockBytes+lanes*2*pageBytes/2 || NewArrived(lanes).Bytes() >= n/100 {
		t.Errorf("%d bytes, and %d of nothing", n, NewArrived(lanes).Bytes())
	}
}

// Copies that came to several consumers are named by their numbers, also high ones, and only what
// is due in the window counts as its.
func TestCopiesAtOtherConsumersAreNamed(t *testing.T) {
	const high = PageBits + 130
	sent, one, other := NewSent(1), NewArrived(1), NewArrived(1)
	for _, seq := range []int64{3, 100, high} {
		sent.Acked(0, seq, 0, 0)
		one.Received(0, seq, Arrival{})
	}
	for _, seq := range []int64{3, high, high + 1} {
		other.Received(0, seq, Arrival{})
	}
	lanes := sent.Lanes(false)
	for from, want := range map[int64]int64{0: 4, 3: 4, 4: 3, 100: 3, 101: 2, high: 2, high + 1: 1,
		high + 2: 0} {
		lanes[0].MeasuredFrom = from
		var l result.SubscriptionLedger
		got := Judge(&l, []SentAccount{{Lanes: lanes}}, []ArrivedAccount{one.Account(),
			other.Account()}, Evidence{}, func(int) LaneName { return LaneName{} })
		if got != want {
			t.Errorf("%d came of those from %d on, want %d", got, from, want)
		}
		if l.Duplicate != 2 || len(l.DuplicateRanges) != 2 || l.DuplicateRanges[0].First != 3 ||
			l.DuplicateRanges[1].First != high {
			t.Errorf("%d copies: %+v", l.Duplicate, l.DuplicateRanges)
		}
	}
	if n := sent.Bytes(); n < 2*pageBytes || n > 3*pageBytes {
		t.Errorf("acknowledged messages on two pages take %d bytes", n)
	}
}

// A partition is heard of when something has come from it, and must be only when a message to it
// was acknowledged.
func TestPartitionsThatWereHeardOf(t *testing.T) {
	one, other := NewSent(3), NewSent(3)
	one.Acked(1, 0, 0, 0)
	other.Acked(2, 5, 0, 0)
	sent := []SentAccount{{Lanes: one.Lanes(false)}, {Producer: 1, Lanes: other.Lanes(false)}}
	came := NewArrived(6)
	heard := func() bool { return Heard(sent, []ArrivedAccount{came.Account()}, 3) }
	if heard() {
		t.Error("nothing has come, and all partitions were heard of")
	}
	if came.Received(3+2, 5, Arrival{}); heard() {
		t.Error("nothing has come from partition 1, and it was heard of")
	}
	if came.Received(3+1, 9, Arrival{}); !heard() { // of another producer
		t.Error("partition 1 was not heard of")
	}
}

// The end of a set is behind its greatest number, in full pages and in others.
func TestTheEndOfASet(t *testing.T) {
	for _, c := range []struct {
		first, last int64
		more        []int64
		want        int64
	}{
		{0, -1, nil, 0}, {0, -1, []int64{0}, 1}, {0, -1, []int64{63}, 64},
		{0, -1, []int64{5, 700}, 701},
		{0, PageBits - 1, nil, PageBits}, {0, 2*PageBits - 1, nil, 2 * PageBits},
		{0, 2*PageBits - 1, []int64{3 * PageBits}, 3*PageBits + 1},
		{3 * PageBits, 5*PageBits - 1, []int64{7}, 5 * PageBits},
	} {
		var n Numbers
		for i := c.first; i <= c.last; i++ {
			n.Add(i)
		}
		for _, i := range c.more {
			n.Add(i)
		}
		set := n.Set()
		if got := set.End(); got != c.want || set.bitmap().highest() != c.want-1 {
			t.Errorf("%d to %d and %v end at %d, the highest is %d: want %d", c.first, c.last, c.more,
				got, set.bitmap().highest(), c.want)
		}
	}
}

// What the process spends is counted from the reading before: the CPU time, and the longest pause of
// those since then.
func TestSelfCountsFromTheReadingBefore(t *testing.T) {
	s := NewSelf()
	before := cpuSeconds()
	for x := 1.0; cpuSeconds() < before+0.03; {
		x = math.Sqrt(x + 1)
	}
	first, second := s.Read(), s.Read()
	if first.CPUSeconds < 0.03 || second.CPUSeconds > first.CPUSeconds || second.CPUSeconds < 0 {
		t.Errorf("30 ms were spent: %v s, then %v s", first.CPUSeconds, second.CPUSeconds)
	}
	if first.RSSBytes < first.HeapBytes || first.HeapBytes <= 0 || first.Goroutines <= 0 {
		t.Errorf("%+v", first)
	}
	h := &metrics.Float64Histogram{Counts: []uint64{0, 5, 0, 2},
		Buckets: []float64{0, 0.001, 0.002, 0.004, math.Inf(1)}}
	s = &Self{}
	for _, c := range []struct {
		bucket int
		want   int64
	}{
		{1, 4e6}, // at first, every pause counts: in the endless bucket, its lower end
		{1, 2e6}, // then those since
		{2, 4e6}, // the upper end of a bucket
		{0, 1e6}, // a short one, after longer ones
		{-1, 0},  // none
	} {
		if c.bucket >= 0 {
			h.Counts[c.bucket]++
		}
		if got := s.longestPause(h); got != c.want {
			t.Errorf("after a pause in bucket %d: %d ns, want %d", c.bucket, got, c.want)
		}
	}
}

// Ranges of evidence do not go from one lane into another.
func TestRangesAreOfOneLane(t *testing.T) {
	names := []LaneName{{"a", 0, 0}, {"a", 0, 1}, {"a", 1, 1}, {"b", 1, 1}}
	var all []Sighting
	for lane := range names {
		all = append(all, Sighting{lane, int64(2 * lane)}, Sighting{lane, int64(2*lane + 1)})
	}
	got := named(nil, all, func(lane int) LaneName { return names[lane] })
	if len(got) != len(names) {
		t.Fatalf("%+v", got)
	}
	for i, r := range got {
		if !names[i].is(&r) || r.First != int64(2*i) || r.Last != int64(2*i+1) {
			t.Errorf("lane %d: %+v", i, r)
		}
	}
}
