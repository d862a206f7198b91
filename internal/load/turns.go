package load

import (
	"cmp"
	"slices"

	"github.com/plimsoll-bench/plimsoll/workload"
)

// rounds deals messages to classes that have topics of their own. Each round of so many messages
// has the same ones of each class, spread over the round; the producers of a class send its
// messages in turn. So which producer sends a message remains a pure function of its number.
type rounds struct {
	length int64
	at     [][]int64 // by class: the places of its messages in a round, rising
}

// roundsOf returns the rounds of a workload; nil: all producers take turns.
func roundsOf(w *workload.Workload) *rounds {
	if !w.OwnTopics() {
		return nil
	}
	type slot struct {
		class int
		where float64 // in the round, from 0 to 1
	}
	var slots []slot
	each := w.Round()
	for class, n := range each {
		for i := range n {
			slots = append(slots, slot{class, (float64(i) + 0.5) / float64(n)})
		}
	}
	slices.SortStableFunc(slots, func(a, b slot) int { return cmp.Compare(a.where, b.where) })
	r := &rounds{length: int64(len(slots)), at: make([][]int64, len(each))}
	for place, s := range slots {
		r.at[s.class] = append(r.at[s.class], int64(place))
	}
	return r
}

// seq returns the number among all messages of a message that has a number in its class.
func (r *rounds) seq(class int, number int64) int64 {
	at := r.at[class]
	n := int64(len(at))
	return number/n*r.length + at[number%n]
}

// everyProducer returns a number of messages among which each producer has one, wherever they
// begin.
func everyProducer(w *workload.Workload) (messages int64) {
	r := roundsOf(w)
	if r == nil {
		return int64(w.Topics * w.Producers)
	}
	for k := range w.TopicKinds() {
		producers, each := int64(k.Topics*w.Producers), int64(len(r.at[k.Class]))
		messages = max(messages, (producers+each-1)/each*r.length)
	}
	return messages
}

// turns walks the messages of a pacer's producers in the order of their sequence numbers. Without
// rounds, message i is producer i mod all's.
type turns struct {
	p       *pacer
	cursor  *Cursor // one for all producers: Poisson gaps are drawn once
	at      int
	rows    []row // of each class, with rounds
	seq     int64 // of the last message
	drawnNs int64 // due time of the last message; -1: none was drawn
}

// row walks the messages of a pacer's producers of one class.
type row struct {
	class     int
	producers []*producer // their places rise
	at        int
	ordinal   int64 // of the next message at its producer
	seq       int64 // of the next message
}

func newTurns(p *pacer) *turns {
	t := &turns{p: p, cursor: p.schedule.Cursor(p.first, p.step), drawnNs: -1}
	if p.rounds == nil {
		return t
	}
	t.cursor = p.schedule.Cursor(0, 1)
	for class := range p.rounds.at {
		r := row{class: class}
		for _, one := range p.producers {
			if one.class == class+1 {
				r.producers = append(r.producers, one)
			}
		}
		if len(r.producers) > 0 {
			r.seq = r.next(p.rounds)
			t.rows = append(t.rows, r)
		}
	}
	return t
}

// next returns the sequence number of the row's next message.
func (r *row) next(of *rounds) int64 {
	return of.seq(r.class, r.producers[r.at].number(r.ordinal))
}

// next returns the next message: its number at its producer, its due time and that producer. The
// producers' indices rise, so their turns are the order of sequence numbers.
func (t *turns) next() (ordinal, dueNs int64, to *producer, ok bool) {
	if s := t.p.replaced.Load(); s != t.p.schedule {
		if t.drawnNs >= s.sinceNs {
			t.p.failed(errCutLate)
		}
		t.p.schedule = s
		t.cursor.follow(s)
	}
	if t.rows != nil {
		return t.ofRows()
	}
	t.seq, dueNs, ok = t.cursor.Next()
	t.drawnNs = dueNs
	to = t.p.producers[t.at]
	if t.at++; t.at == len(t.p.producers) {
		t.at = 0
		t.cursor.skip(t.p.all - int64(len(t.p.producers))*t.p.step)
	}
	return t.seq / t.p.all, dueNs, to, ok
}

// ofRows returns the earliest message of all rows.
func (t *turns) ofRows() (ordinal, dueNs int64, to *producer, ok bool) {
	first := &t.rows[0]
	for i := range t.rows[1:] {
		if one := &t.rows[i+1]; one.seq < first.seq {
			first = one
		}
	}
	t.cursor.seq = first.seq
	t.seq, dueNs, ok = t.cursor.Next()
	t.drawnNs = dueNs
	ordinal, to = first.ordinal, first.producers[first.at]
	if first.at++; first.at == len(first.producers) {
		first.at = 0
		first.ordinal++
	}
	first.seq = first.next(t.p.rounds)
	return ordinal, dueNs, to, ok
}
