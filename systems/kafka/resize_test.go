package kafka

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// spreadOut is a topic whose partitions go round the brokers, as Kafka places them.
func spreadOut(partitions, copies, brokers int) placement {
	p := placement{}
	for i := range partitions {
		var on []int32
		for k := range copies {
			on = append(on, int32(1+(i+k)%brokers))
		}
		p[partition{"t", int32(i)}] = on
	}
	return p
}

// checkMoves checks that each partition that changes keeps its number of copies, on brokers of
// their own.
func checkMoves(t *rapid.T, before, moves placement) {
	for at, on := range moves {
		sorted := slices.Sorted(slices.Values(on))
		if len(on) != len(before[at]) || len(slices.Compact(sorted)) != len(on) {
			t.Fatalf("%v becomes %v", before[at], on)
		}
	}
}

// A broker that joins gets its share of the copies and of the preferred leaders. One that leaves
// has none, and the others differ by one at most where they did before.
func TestReplicasMove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		brokers := rapid.IntRange(3, 6).Draw(t, "brokers")
		copies := rapid.IntRange(1, brokers).Draw(t, "copies")
		partitions := rapid.IntRange(1, 40).Draw(t, "partitions")
		now := spreadOut(partitions, copies, brokers)
		id := int32(brokers + 1)

		next := now.shareWith(id, brokers+1)
		checkMoves(t, now, next)
		if share := max(1, partitions*copies/(brokers+1)); len(next) != share {
			t.Fatalf("%d of %d copies move to one of %d brokers", len(next), partitions*copies,
				brokers+1)
		}
		leads := 0
		for at, on := range next {
			if !slices.Contains(on, id) {
				t.Fatalf("%v moves to %v", at, on)
			}
			if on[0] == id {
				leads++
			}
		}
		if want := (len(next) + copies - 1) / copies; leads != want {
			t.Fatalf("it leads %d of %d partitions with %d copies", leads, len(next), copies)
		}

		for at, on := range next {
			now[at] = on
		}
		all := []int32{}
		for b := range brokers + 1 {
			all = append(all, int32(b+1))
		}
		back, err := now.without(id, all)
		if err != nil {
			t.Fatal(err)
		}
		checkMoves(t, now, back)
		for at, on := range back {
			now[at] = on
		}
		for at, on := range now {
			if slices.Contains(on, id) {
				t.Fatalf("%v stays on %v", at, on)
			}
		}
	})
}

// A partition with a copy on every broker cannot do without one.
func TestReplicasHaveNowhereToGo(t *testing.T) {
	if _, err := spreadOut(3, 3, 3).without(2, []int32{1, 2, 3}); err == nil {
		t.Error("a broker leaves that every partition needs")
	}
}
