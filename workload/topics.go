package workload

import (
	"fmt"
	"iter"
	"slices"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// TopicKind is topics that are alike, which have consecutive numbers: those of a class that has
// topics of its own, or all.
type TopicKind struct {
	Class         int // -1: all topics are of this kind
	First, Topics int
	Partitions    int     // of each, at first
	Most          int     // partitions of each in the end
	Share         float64 // of all messages
}

// OwnTopics reports whether classes have topics of their own: each, if the workload is valid.
func (w *Workload) OwnTopics() bool {
	return slices.ContainsFunc(w.Classes, func(c Class) bool { return c.Topics != 0 })
}

// TopicKinds returns the kinds of topics, in the order of the topics.
func (w *Workload) TopicKinds() iter.Seq[TopicKind] {
	return func(yield func(TopicKind) bool) {
		if !w.OwnTopics() {
			yield(TopicKind{Class: -1, Topics: w.Topics, Partitions: w.Partitions,
				Most: w.mostPartitions(w.Partitions), Share: 1})
			return
		}
		first := 0
		for i, c := range w.Classes {
			partitions := w.Partitions
			if c.Partitions > 0 {
				partitions = c.Partitions
			}
			k := TopicKind{Class: i, First: first, Topics: c.Topics, Partitions: partitions,
				Most: w.mostPartitions(partitions), Share: c.Share}
			if !yield(k) {
				return
			}
			first += c.Topics
		}
	}
}

// KindOf returns the kind of a topic.
func (w *Workload) KindOf(topic int) (of TopicKind) {
	for k := range w.TopicKinds() {
		if of = k; topic < k.First+k.Topics {
			break
		}
	}
	return of
}

// AllPartitions returns the number of partitions of all topics together, at first.
func (w *Workload) AllPartitions() int { return w.PartitionsBefore(w.Topics) }

// PartitionsBefore returns the number of partitions of all topics before one, at first.
func (w *Workload) PartitionsBefore(topic int) (n int) {
	for k := range w.TopicKinds() {
		n += min(max(topic-k.First, 0), k.Topics) * k.Partitions
	}
	return n
}

// PartitionAt returns the topic and the partition of a number below AllPartitions.
func (w *Workload) PartitionAt(number int) (topic, partition int) {
	for k := range w.TopicKinds() {
		if all := k.Topics * k.Partitions; number >= all {
			number -= all
			continue
		}
		return k.First + number/k.Partitions, number % k.Partitions
	}
	return w.Topics, 0
}

// LanesBefore returns the number of lanes of all topics before one: producers x partitions in the
// end.
func (w *Workload) LanesBefore(topic int) (n int) {
	for k := range w.TopicKinds() {
		n += min(max(topic-k.First, 0), k.Topics) * w.Producers * k.Most
	}
	return n
}

// mostRound bounds the messages of a round.
const mostRound = 10_000

// Round returns how many messages of each class are in a round, where classes have topics of their
// own: the shortest row of messages in which each has exactly its share. nil: it would be too long.
func (w *Workload) Round() []int {
	for n := 1; n <= mostRound; n++ {
		each, sum := make([]int, 0, len(w.Classes)), 0
		for _, c := range w.Classes {
			if !c.whole(n) {
				break
			}
			each = append(each, c.Producers(n))
			sum += c.Producers(n)
		}
		if len(each) == len(w.Classes) && sum == n {
			return each
		}
	}
	return nil
}

// ownPartitions reports whether the workload's number of partitions is that of no topic.
func (f *file) ownPartitions() bool {
	for _, c := range f.classes {
		if c.Partitions == 0 {
			return false
		}
	}
	return len(f.classes) > 0
}

// checkTopicSpelling refuses the keys that topics of classes decide.
func (f *file) checkTopicSpelling(doc *strict.Document) {
	own := false
	for i, c := range f.classes {
		at := fmt.Sprintf("classes[%d]", i)
		own = own || doc.Has(at+".topics")
		if doc.Has(at+".topics") && c.Topics == 0 {
			between(doc, at+".topics", 0, 1, MaxCount)
		}
		if doc.Has(at+".partitions") && c.Partitions == 0 {
			between(doc, at+".partitions", 0, 1, MaxCount)
		}
	}
	if own && doc.Has("topics") {
		doc.Reject("topics", "follows from the topics of the classes: remove it")
	}
	if f.ownPartitions() && doc.Has("partitions") {
		doc.Reject("partitions", "is for classes without partitions of their own, and each has "+
			"some: remove it")
	}
}

// checkClassTopics checks the topics of a class.
func (w *Workload) checkClassTopics(doc *strict.Document, at string, c Class) {
	switch own := w.OwnTopics(); {
	case !own && c.Partitions != 0:
		doc.Reject(at+".partitions", "is for topics of the class's own: give the class topics, or "+
			"remove it")
	case own && c.Topics == 0:
		doc.Reject(at+".topics", "is missing, and another class has topics of its own: give each "+
			"class topics, or none")
	case own:
		between(doc, at+".topics", c.Topics, 1, MaxCount)
		if c.Partitions != 0 {
			between(doc, at+".partitions", c.Partitions, 1, MaxCount)
		}
	}
}

// checkRound checks that classes with topics of their own can have exactly their shares of the
// rate, and that the topics are those of the classes.
func (w *Workload) checkRound(doc *strict.Document) {
	const path = "classes"
	if !w.OwnTopics() || doc.Failed(path) {
		return
	}
	sum := 0
	for _, c := range w.Classes {
		sum += c.Topics
	}
	switch {
	case w.Existing != nil:
		doc.Reject(existingKey, "cannot be combined with topics of the classes, which plimsoll "+
			"creates: leave one of them out")
	case sum > MaxCount:
		doc.Reject(path, fmt.Sprintf("has %s topics: keep them to %s", quantity.Count(int64(sum)),
			quantity.Count(MaxCount)))
	case sum != w.Topics:
		doc.Reject("topics", fmt.Sprintf("is %s and the classes have %s: make them equal",
			quantity.Count(int64(w.Topics)), quantity.Count(int64(sum))))
	}
	if w.Round() == nil {
		doc.Reject(path, "has shares that are too fine: write them in steps of 0.01%")
	}
}

// PeersOf returns the place of a topic's producer among its peers, and their number: all producers
// of its class, or all where there are no classes. Peers send their messages in turn.
func (w *Workload) PeersOf(topic, producer int) (place, peers int) {
	k := w.KindOf(topic)
	first, n := 0, w.Producers // of the producers of each topic
	if class := w.ClassOf(topic, producer); k.Class < 0 && class >= 0 {
		for _, c := range w.Classes[:class] {
			first += c.Producers(w.Producers)
		}
		n = w.Classes[class].Producers(w.Producers)
	}
	return (producer-first)*k.Topics + topic - k.First, n * k.Topics
}
