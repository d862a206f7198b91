package workload

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-bench/plimsoll/result"
)

const shop = "classes: [{name: order, share: 20%, size: 10KB, topics: 2, partitions: 12}, " +
	"{name: event, share: 80%, size: 1KB, topics: 8}]"

func parsed(t *testing.T, text string) *Workload {
	t.Helper()
	w, err := Parse("w.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Classes with topics of their own divide the topics of a run; everything that counts partitions
// counts those of each topic.
func TestTopicsOfClasses(t *testing.T) {
	w := parsed(t, shop+"\nproducers: 3")
	readsBack(t, w)
	var kinds []TopicKind
	for k := range w.TopicKinds() {
		kinds = append(kinds, k)
	}
	want := []TopicKind{{0, 0, 2, 12, 12, 0.2}, {1, 2, 8, 4, 4, 0.8}}
	if w.Topics != 10 || !cmp.Equal(kinds, want) || !cmp.Equal(w.Round(), []int{1, 4}) {
		t.Errorf("%d topics, %+v, rounds of %v", w.Topics, kinds, w.Round())
	}
	if all, lanes := w.AllPartitions(), w.LanesBefore(w.Topics); all != 56 || lanes != 3*56 {
		t.Errorf("%d partitions and %d lanes", all, lanes)
	}
	next := 0
	for topic := range w.Topics {
		if got := w.PartitionsBefore(topic); got != next || w.LanesBefore(topic) != 3*next {
			t.Errorf("%d partitions before topic %d, want %d", got, topic, next)
		}
		for partition := range w.KindOf(topic).Partitions {
			if at, p := w.PartitionAt(next); at != topic || p != partition {
				t.Errorf("number %d is partition %d of topic %d, want %d of %d", next, p, at,
					partition, topic)
			}
			next++
		}
	}
	for topic, class := range []int{0, 0, 1, 1, 1, 1, 1, 1, 1, 1} {
		if got := w.ClassOf(topic, 2); got != class {
			t.Errorf("topic %d is of class %d, want %d", topic, got, class)
		}
	}
	if flying, each := w.BytesInFlight(), 2*3*10<<10+8*3<<10; flying !=
		float64(each*w.MaxInFlight) {
		t.Errorf("%v bytes in flight, want %d of each producer", flying, each)
	}
}

// The producers of a class send its messages in turn: each has its own place among its peers.
func TestPeersHavePlaces(t *testing.T) {
	for _, text := range []string{shop + "\nproducers: 3", "{topics: 3, producers: 2}",
		"{topics: 3, producers: 5, classes: [{name: a, share: 40%, size: 1KB}, " +
			"{name: b, share: 60%, size: 2KB}]}"} {
		w := parsed(t, text)
		places := map[int][]bool{}
		for index := range w.Producers {
			for topic := range w.Topics {
				place, peers := w.PeersOf(topic, index)
				class := w.ClassOf(topic, index)
				if places[class] == nil {
					places[class] = make([]bool, peers)
				}
				// In the order of their indices among all producers, their places rise.
				if len(places[class]) != peers || places[class][place] ||
					place > 0 && !places[class][place-1] {
					t.Errorf("%s: producer %d of topic %d has place %d of %d", text, index, topic,
						place, peers)
				}
				places[class][place] = true
			}
		}
	}
}

func TestTopicsOfClassesAreRefused(t *testing.T) {
	one := "{name: a, share: 50%, size: 1KB, topics: 2}"
	for text, want := range map[string]string{
		"classes: [" + one + ", {name: b, share: 50%, size: 1KB}]": "classes[1].topics is missing, " +
			"and another class has topics of its own: give each class topics, or none",
		"classes: [" + one + ", {name: b, share: 50%, size: 1KB, topics: 0}]": "must be from 1 to " +
			"10,000,000, not 0",
		"classes: [{name: a, share: 50%, size: 1KB, partitions: 2}, {name: b, share: 50%, " +
			"size: 1KB}]": "classes[0].partitions is for topics of the class's own",
		"classes: [" + one + ", {name: b, share: 50%, size: 1KB, topics: 1, partitions: 0}]": "must " +
			"be from 1 to 10,000,000, not 0",
		"{topics: 3, " + shop + "}": "topics follows from the topics of the classes: remove it",
		"existing_topics: [orders]\n" + shop: "existing_topics cannot be combined with topics of " +
			"the classes",
		"partitions: 3\nclasses: [{name: a, share: 100%, size: 1KB, topics: 1, partitions: 2}]": "is " +
			"for classes without partitions of their own, and each has some: remove it",
		"load: {closed: {in_flight: 1}}\n" + shop: "is for loads with a rate",
		"faults: [{do: add-partitions, to_partitions: 24, at: 2s, for: 4s}]\n" + shop: "classes " +
			"have partitions of their own: leave one of them out",
		"classes: [{name: a, share: 33.3333%, size: 1KB, topics: 1}, {name: b, share: 66.6667%, " +
			"size: 1KB, topics: 1}]": "has shares that are too fine: write them in steps of 0.01%",
		"classes: [{name: a, share: 50%, size: 1KB, topics: 9M}, {name: b, share: 50%, " +
			"size: 1KB, topics: 9M}]": "1:1: classes has 18,000,000 topics: keep them to 10,000,000",
		"producers: 10\nclasses: [{name: a, share: 50%, size: 1KB, topics: 1M, partitions: 1k}, " +
			"{name: b, share: 50%, size: 1KB, topics: 1}]": "2:1: classes is too large: topics x producers " +
			"x partitions is 10,000,000,040",
		"{load: {rate: 1k/s}, consumers: 1, handling: {time: 2ms}, classes: [{name: a, share: 60%, " +
			"size: 1KB, topics: 1}, {name: b, share: 40%, size: 1KB, topics: 9}]}": "consumers of a " +
			"subscription of a handle 500/s, and the load is 600/s",
	} {
		_, err := Parse("w.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	w := parsed(t, shop)
	w.Topics = 9
	if err := w.Validate(); err == nil || !strings.Contains(err.Error(), "the classes have 10") {
		t.Errorf("another number of topics: %v", err)
	}
}

// Partitions are added to the topics of all classes where these have the workload's number.
func TestPartitionsAreAddedToTopicsOfClasses(t *testing.T) {
	w := parsed(t, "faults: [{do: add-partitions, to_partitions: 9, at: 2s, for: 4s}]\n"+
		strings.Replace(shop, ", partitions: 12", "", 1))
	for k := range w.TopicKinds() {
		if k.Partitions != 4 || k.Most != 9 {
			t.Errorf("%+v", k)
		}
	}
}

// Runs whose classes differ in topics or in partitions carried different loads, and a result knows
// the topics of each class.
func TestTopicsOfClassesOnRecord(t *testing.T) {
	const shop = shop + "\nmax_in_flight: 1000"
	w := parsed(t, shop)
	l := w.Record()
	if l.Topics != 10 || l.Partitions != 12 || l.AllPartitions() != 56 ||
		l.LeastPartitions() != 4 || !cmp.Equal(l.TopicKinds,
		[]result.TopicKind{{Class: "order", Topics: 2, Partitions: 12},
			{Class: "event", Topics: 8, Partitions: 4}}) {
		t.Errorf("%+v", l)
	}
	r := &result.Run{Load: l, Resolved: result.Resolved{Workload: w.YAML()}}
	if got := Recorded(r); !cmp.Equal(got, w.Values()) {
		t.Error(cmp.Diff(got, w.Values()))
	}
	for _, other := range []string{strings.Replace(shop, "topics: 2", "topics: 3", 1),
		strings.Replace(shop, "partitions: 12", "partitions: 6", 1)} {
		differ := Differing([]Values{w.Values(), parsed(t, other).Values()})
		if len(differ) != 1 || differ[0].Path != "classes" || differ[0].Comparable() {
			t.Errorf("%s: %+v", other, differ)
		}
	}
}
