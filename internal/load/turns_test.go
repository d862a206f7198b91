package load

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// drawOwnTopics returns a workload whose classes have topics of their own.
func drawOwnTopics(rt *rapid.T) *workload.Workload {
	some := func(what string, least, most int) int {
		return rapid.IntRange(least, most).Draw(rt, what)
	}
	w := benchWorkload(float64(some("rate", 500, 5000)), 2*time.Second, some("producers", 1, 3))
	w.Partitions, w.Topics = 2, 0
	weights := rapid.SliceOfN(rapid.IntRange(1, 30), 1, 3).Draw(rt, "weights")
	sum := 0
	for _, n := range weights {
		sum += n
	}
	for _, n := range weights {
		c := workload.Class{Share: float64(n) / float64(sum), Least: 64, Most: 64,
			Topics: some("topics", 1, 40)}
		w.Classes = append(w.Classes, c)
		w.Topics += c.Topics
	}
	w.Load.Arrivals = rapid.SampledFrom([]workload.Arrivals{workload.ArrivalsConstant,
		workload.ArrivalsPoisson}).Draw(rt, "arrivals")
	return w
}

// turnsOfShare returns the turns of all pacers of a share.
func turnsOfShare(rt *rapid.T, w *workload.Workload, share Share) (all []*turns) {
	e := New(Plan{Workload: *w, Prefix: "t", Alone: true, Share: share}, clock.Timers(), nil)
	if err := e.Open(rt.Context(), null{}); err != nil {
		rt.Fatal(err)
	}
	n := min(len(e.producers), maxPacers)
	for i := range n {
		p := e.newPacer(e.dealt(i, n), i*len(e.producers)/n)
		all = append(all, newTurns(p))
	}
	return all
}

// Whatever the classes, and however the producers are divided among workers and pacers: each
// message is sent once, when it is due; each round has its share of every class; a class's
// producers send the same number of messages, to within one; and each numbers its own without a
// gap.
func TestRoundsDealEveryMessageOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawOwnTopics(rt)
		_, dues := walk(scheduleOf(w, 0).Cursor(0, 1))
		workers := rapid.IntRange(1, 5).Draw(rt, "workers")
		classes := make([]int, len(dues)) // of each message, plus 1
		sent := map[int][]int64{}         // by topic and producer
		for worker := range workers {
			for _, turns := range turnsOfShare(rt, w, Share{Worker: worker, Workers: workers}) {
				last := int64(-1)
				for {
					ordinal, dueNs, to, ok := turns.next()
					if !ok {
						break
					}
					if turns.seq <= last || dueNs != dues[turns.seq] || classes[turns.seq] != 0 ||
						ordinal != int64(len(sent[to.index])) {
						rt.Fatalf("message %d after %d, due at %d (want %d), number %d of %d",
							turns.seq, last, dueNs, dues[turns.seq], ordinal, len(sent[to.index]))
					}
					last = turns.seq
					classes[turns.seq] = to.class
					sent[to.index] = append(sent[to.index], to.number(ordinal))
				}
			}
		}
		checkDealt(rt, w, classes, sent)
	})
}

// checkDealt checks the class of each message, and the numbers of each producer's in its class.
func checkDealt(rt *rapid.T, w *workload.Workload, classes []int, sent map[int][]int64) {
	if at := slices.Index(classes, 0); at >= 0 {
		rt.Fatalf("nobody sends message %d", at)
	}
	each := w.Round()
	length := 0
	for _, n := range each {
		length += n
	}
	for from := 0; from+length <= len(classes); from += length {
		counts := make([]int, len(each))
		for _, class := range classes[from : from+length] {
			counts[class-1]++
		}
		if !slices.Equal(counts, each) {
			rt.Fatalf("the round from %d has %v of the classes, want %v", from, counts, each)
		}
	}
	for class := range w.Classes {
		var numbers []int64
		least, most := len(classes), 0
		for index := range w.Topics * w.Producers {
			if w.ClassOf(index%w.Topics, index/w.Topics) != class {
				continue
			}
			numbers = append(numbers, sent[index]...)
			least, most = min(least, len(sent[index])), max(most, len(sent[index]))
		}
		slices.Sort(numbers)
		for i, n := range numbers {
			if n != int64(i) {
				rt.Fatalf("class %d lacks message %d", class, i)
			}
		}
		if most-least > 1 {
			rt.Fatalf("producers of class %d send %d to %d messages", class, least, most)
		}
	}
}

// The messages of a class are spread over the round, not sent in a row.
func TestRoundsAreEven(t *testing.T) {
	w := &workload.Workload{Classes: []workload.Class{{Share: 0.2, Topics: 1},
		{Share: 0.5, Topics: 1}, {Share: 0.3, Topics: 1}}}
	r := roundsOf(w)
	if r.length != 10 {
		t.Fatalf("a round of %d", r.length)
	}
	for class, want := range [][]int64{{2, 7}, {0, 3, 4, 6, 9}, {1, 5, 8}} {
		if !slices.Equal(r.at[class], want) {
			t.Errorf("class %d has the places %v, want %v", class, r.at[class], want)
		}
	}
	if got := r.seq(0, 3); got != 17 {
		t.Errorf("the fourth message of the first class is message %d", got)
	}
}

// A producer of a small class draws its next message far ahead: a window that is cut begins behind
// it.
func TestEveryProducerHasAMessage(t *testing.T) {
	w := benchWorkload(100, time.Second, 3)
	w.Topics = 4
	if n := everyProducer(w); n != 12 {
		t.Errorf("%d messages for 12 producers that take turns", n)
	}
	w.Topics, w.Classes = 6, []workload.Class{{Share: 0.01, Topics: 5}, {Share: 0.99, Topics: 1}}
	if n := everyProducer(w); n != 1500 {
		t.Errorf("%d messages until each of 15 producers has one in a hundred", n)
	}
}

// Round-robin keys of a class are all used, whatever part of the messages the class has.
func TestRoundRobinKeysOfAClass(t *testing.T) {
	for _, topics := range []int{0, 1} {
		w := benchWorkload(1000, time.Second, 2)
		w.Topics, w.Partitions = 1+topics, 4
		keys := workload.Keys{Kind: workload.KeysRoundRobin, Count: 10}
		for range 2 {
			w.Classes = append(w.Classes, workload.Class{Share: 0.5, Least: 64, Most: 64,
				Topics: topics, Keys: keys})
		}
		e := New(Plan{Workload: *w, Prefix: "t", Alone: true}, clock.Timers(), nil)
		if err := e.Open(t.Context(), null{}); err != nil {
			t.Fatal(err)
		}
		seen := map[int]map[string]bool{}
		for _, p := range e.producers {
			if seen[p.class] == nil {
				seen[p.class] = map[string]bool{}
			}
			for ordinal := range int64(50) {
				f := p.fresh()
				p.prepare(f, ordinal, clock.Now(), 1)
				seen[p.class][string(f.Key)] = true
			}
		}
		for class, keys := range seen {
			if len(keys) != 10 {
				t.Errorf("%d topics of its own: class %d uses %d keys of 10", topics, class,
					len(keys))
			}
		}
	}
}
