package measure

import "github.com/plimsoll-bench/plimsoll/result"

// judgeOrder adds what is known of the order in which messages came. Each worker watched its own
// consumers. So order is known of a lane that came to one worker. Of a lane that came to several:
//
//   - A message that was late at its worker, and came to no other, was late. It is counted.
//   - A message that was late at its worker, and came to another, may have come there before. It
//     is a copy then. It is counted as one of both.
//   - Whether a message overtook one at another worker is not known. The messages of the lane are
//     counted.
func judgeOrder(
	into *result.SubscriptionLedger, arrived []ArrivedAccount, name func(lane int) LaneName,
) {
	shared := between(into, arrived)
	for i := range arrived {
		a := &arrived[i]
		reordered, overtaken, late := a.order(shared)
		into.Reordered += reordered
		into.Overtaken += overtaken
		into.ReorderedOrCopies += a.Reordered - reordered
		into.ReorderedRanges = named(into.ReorderedRanges, late, name)
	}
}

// between counts the messages of lanes that came to several workers. It returns, of each such lane,
// the messages that did; nil: there is no such lane.
func between(into *result.SubscriptionLedger, arrived []ArrivedAccount) (shared map[int]*bitmap) {
	if !divided(arrived) {
		return nil
	}
	seen := make(map[int]map[int][]Set) // of a lane, by worker
	for i := range arrived {
		for _, l := range arrived[i].Lanes {
			if seen[l.Lane] == nil {
				seen[l.Lane] = make(map[int][]Set)
			}
			of := seen[l.Lane]
			of[arrived[i].Worker] = append(of[arrived[i].Worker], l.Seen)
		}
	}
	for lane, workers := range seen {
		if len(workers) < 2 {
			continue
		}
		if shared == nil {
			shared = make(map[int]*bitmap)
		}
		all, several := severalOf(workers)
		into.BetweenWorkers += all.count()
		shared[lane] = several
	}
	return shared
}

// divided reports whether the accounts are of several workers.
func divided(arrived []ArrivedAccount) bool {
	for i := range arrived {
		if arrived[i].Worker != arrived[0].Worker {
			return true
		}
	}
	return false
}

// severalOf returns the messages of a lane that came to any worker, and to more than one.
func severalOf(workers map[int][]Set) (all, several *bitmap) {
	all, several = &bitmap{}, &bitmap{}
	var pool pagePool
	for _, sets := range workers {
		one := sets[0].bitmap()
		for _, set := range sets[1:] {
			one.union(set.bitmap(), &pool, func(int64) {})
		}
		all.union(one, &pool, func(seq int64) { several.add(seq, &pool) })
	}
	return all, several
}

// order returns how many messages certainly came late to the consumer: after a later one at the
// same consumer, and at another one of the worker. shared has the messages that came to other
// workers too, by lane. Only the first few late ones are known by their numbers. Of the others, as
// many may be copies as the consumer shares.
func (a *ArrivedAccount) order(shared map[int]*bitmap) (
	reordered, overtaken int64, late []Sighting,
) {
	if len(shared) == 0 {
		return a.Reordered, a.Overtaken, a.Late
	}
	var common int64
	for _, l := range a.Lanes {
		if several := shared[l.Lane]; several != nil {
			common += l.Seen.bitmap().common(several)
		}
	}
	for _, s := range a.Late {
		if several := shared[s.Lane]; several == nil || !several.has(s.Seq) {
			late = append(late, s)
		}
	}
	reordered = min(a.Reordered, max(a.Reordered-common, int64(len(late))))
	return reordered, max(a.Overtaken-common, 0), late
}
