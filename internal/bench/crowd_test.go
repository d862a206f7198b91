package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
)

// shelf is a cluster that only keeps topics, one per request.
type shelf struct {
	system.Cluster
	mu     sync.Mutex
	topics map[string]bool
	fail   string // the topic that cannot be created or deleted
	late   bool   // that topic is created, and not ready
}

func (s *shelf) CreateTopic(_ context.Context, t system.Topic) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.Name == s.fail && !s.late {
		return errors.New("no room")
	}
	s.topics[t.Name] = true
	if t.Name == s.fail {
		return &system.Unready{Err: errors.New("no leader")}
	}
	return nil
}

func (s *shelf) DeleteTopic(_ context.Context, t system.Topic) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.Name == s.fail {
		return errors.New("in use")
	}
	delete(s.topics, t.Name)
	return nil
}

// keeper is a shelf that takes many topics in a request.
type keeper struct {
	*shelf
	requests []int // partitions of each
}

func (k *keeper) CreateTopics(ctx context.Context, topics []system.Topic) error {
	partitions := 0
	for _, t := range topics {
		partitions += t.Partitions
		if err := k.CreateTopic(ctx, t); err != nil {
			return err
		}
	}
	k.requests = append(k.requests, partitions)
	return nil
}

func (k *keeper) DeleteTopics(ctx context.Context, topics []system.Topic) error {
	for _, t := range topics {
		if err := k.DeleteTopic(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

func crowd(n, partitions int) (topics []system.Topic) {
	for i := range n {
		topics = append(topics, system.Topic{Name: fmt.Sprintf("t-%d", i), Partitions: partitions})
	}
	return topics
}

func TestTopicsAreMadeAndDeletedManyAtATime(t *testing.T) {
	topics := crowd(250, 10)
	alone := &shelf{topics: make(map[string]bool)}
	many := &keeper{shelf: &shelf{topics: make(map[string]bool)}}
	for _, c := range []system.Cluster{alone, many} {
		created, err := createTopics(t.Context(), c, topics, nil)
		if err != nil || len(created) != len(topics) {
			t.Fatalf("%d topics made: %v", len(created), err)
		}
	}
	if len(alone.topics) != 250 || len(many.topics) != 250 ||
		!slices.Equal(many.requests, []int{1000, 1000, 500}) {
		t.Errorf("%d and %d topics, requests of %v partitions: want 250 each, of at most %d",
			len(alone.topics), len(many.topics), many.requests, maxInRequest)
	}
	if err := deleteTopics(t.Context(), many, topics, nil); err != nil || len(many.topics) > 0 {
		t.Errorf("%d left: %v", len(many.topics), err)
	}
	// A topic that cannot be deleted does not stop the others.
	alone.fail = "t-7"
	if err := deleteTopics(t.Context(), alone, topics, nil); err == nil || len(alone.topics) != 1 {
		t.Errorf("%d left: %v", len(alone.topics), err)
	}
}

// If the creation of a crowd fails, all topics that may exist are known, so that they can be
// deleted.
func TestTopicsMadeBeforeAFailureAreKnown(t *testing.T) {
	for _, late := range []bool{false, true} {
		alone := &shelf{topics: make(map[string]bool), fail: "t-90", late: late}
		created, err := createTopics(t.Context(), alone, crowd(100, 1), nil)
		if err == nil || len(created) != len(alone.topics) || alone.topics["t-90"] != late {
			t.Errorf("late %v: %d of %d known: %v", late, len(created), len(alone.topics), err)
		}
	}
	many := &keeper{shelf: &shelf{topics: make(map[string]bool), fail: "t-90"}}
	if created, err := createTopics(t.Context(), many, crowd(100, 1), nil); err == nil ||
		len(created) < len(many.topics) {
		t.Errorf("%d of %d known: %v", len(created), len(many.topics), err)
	}
}

func TestEvidenceOfACrowdIsCondensed(t *testing.T) {
	var facts []system.Fact
	for _, topic := range crowd(10_000, 1) {
		facts = append(facts,
			system.Fact{Where: topic.Name, Name: "replicas", Value: "3", Source: "metadata"},
			system.Fact{Where: topic.Name, Name: "leader", Value: topic.Name[:3],
				Source: "metadata"})
	}
	facts = append(facts,
		system.Fact{Where: "t-5000", Name: "replicas", Value: "2", Source: "metadata"})
	got := condensed(facts)
	want := []result.Fact{
		{Where: "t-0 and 9,999 others", Name: "replicas", Value: "3", Source: "metadata"},
		{Where: "t-5000", Name: "replicas", Value: "2", Source: "metadata"},
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("%+v is missing", w)
		}
	}
	if len(got) > 20 {
		t.Errorf("%d facts are left", len(got))
	}
	few := facts[:6]
	if got := condensed(few); len(got) != len(few) {
		t.Errorf("%d of %d facts are left", len(got), len(few))
	}
}
