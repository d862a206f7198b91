package sqs

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// imitation is a server with queues without messages.
type imitation struct {
	mu      sync.Mutex
	queues  []string
	stuck   string   // a queue that cannot be deleted
	deleted []string // receipts of messages
	address string
}

func (s *imitation) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var asked struct {
		QueueName, QueueUrl string
		Entries             []struct{ Id, ReceiptHandle string }
	}
	raw, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(raw, &asked)
	name := asked.QueueName
	if name == "" {
		name = path.Base(asked.QueueUrl)
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	answer := map[string]any{"QueueUrl": "http://" + s.address + "/0/" + name}
	switch {
	case operation == "CreateQueue":
		s.queues = append(s.queues, name)
	case !slices.Contains(s.queues, name):
		w.WriteHeader(http.StatusBadRequest)
		answer = map[string]any{"__type": "com.amazonaws.sqs#QueueDoesNotExist"}
	case operation == "DeleteQueue" && name == s.stuck:
		w.WriteHeader(http.StatusBadRequest)
		answer = map[string]any{"__type": "com.amazonaws.sqs#UnsupportedOperation"}
	case operation == "DeleteQueue":
		s.queues = slices.DeleteFunc(s.queues, func(q string) bool { return q == name })
	case operation == "DeleteMessageBatch":
		var done []map[string]string
		for _, e := range asked.Entries {
			s.deleted = append(s.deleted, e.ReceiptHandle)
			done = append(done, map[string]string{"Id": e.Id})
		}
		answer = map[string]any{"Successful": done}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// change changes the imitation's state.
func (s *imitation) change(how func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	how()
}

// has returns the names of the queues.
func (s *imitation) has() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(slices.Values(s.queues))
}

func imitated(t *testing.T) (*imitation, *cluster) {
	t.Helper()
	s := &imitation{}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.address = server.Listener.Addr().String()
	a, err := newAPI(t.Context(), system.Options{Endpoints: []string{s.address},
		Settings: systemtest.Settings(t, sqsSystem{})})
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{api: a, level: workload.AsyncAsync, queues: queuesOf(s.address)}
	t.Cleanup(func() {
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return s, c
}

// subscribed creates a topic with a subscription.
func subscribed(t *testing.T, c *cluster, topic system.Topic) {
	t.Helper()
	if err := c.CreateTopic(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
	urls, err := c.createQueues(t.Context(), topic, "s")
	if err != nil {
		t.Fatal(err)
	}
	c.queues.subscribe(c.queues.of(topic), "s", urls)
}

// A deletion that failed can be repeated: the subscriptions' queues are not forgotten.
func TestDeletionThatFailsIsRepeated(t *testing.T) {
	s, c := imitated(t)
	topic := system.Topic{Name: "t", Partitions: 2}
	subscribed(t, c, topic)
	s.change(func() { s.stuck = "t-1-s" })
	if err := c.DeleteTopic(t.Context(), topic); err == nil ||
		!strings.Contains(err.Error(), "delete the queue t-1-s") {
		t.Fatal(err)
	}
	s.change(func() { s.stuck = "" })
	if err := c.DeleteTopic(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
	if left := s.has(); len(left) > 0 {
		t.Errorf("queues are left behind: %v", left)
	}
	if c.queues.of(topic) != nil {
		t.Error("a deleted topic is not forgotten")
	}
}

// A topic that is recreated after the server lost it has none of its earlier queues, even with
// more partitions.
func TestTopicMadeAgain(t *testing.T) {
	s, c := imitated(t)
	subscribed(t, c, system.Topic{Name: "t", Partitions: 1})
	s.change(func() { s.queues = nil }) // like a restarted server that kept them in memory
	topic := system.Topic{Name: "t", Partitions: 3}
	subscribed(t, c, topic)
	places := *c.queues.of(topic).places.Load()
	for p, urls := range places {
		if len(urls) != 1 || !strings.HasSuffix(urls[0], fmt.Sprintf("/t-%d-s", p)) {
			t.Errorf("messages of partition %d go to %v", p, urls)
		}
	}
	if len(places) != 3 {
		t.Errorf("%d partitions", len(places))
	}
}

// A known topic with fewer partitions is not used for a larger one of the same name.
func TestKnownTopicIsSmaller(t *testing.T) {
	s, c := imitated(t)
	subscribed(t, c, system.Topic{Name: "t", Partitions: 1})
	s.change(func() { s.queues = append(s.queues, "t-1") })
	topic := system.Topic{Name: "t", Partitions: 2}
	if _, err := c.Leader(t.Context(), topic, 1); err != nil {
		t.Error(err)
	}
}

// A server that came back without a queue reports that the partition is gone. The audit after a
// power cut uses this to count messages that cannot be read any more.
func TestLeaderOfAGonePartition(t *testing.T) {
	s, c := imitated(t)
	topic := system.Topic{Name: "t", Partitions: 2}
	subscribed(t, c, topic)
	for p := range 2 {
		if at, err := c.Leader(t.Context(), topic, p); err != nil || at != s.address {
			t.Errorf("partition %d: %s, %v", p, at, err)
		}
	}
	s.change(func() {
		s.queues = slices.DeleteFunc(s.queues, func(q string) bool { return q == "t-1-s" })
	})
	if _, err := c.Leader(t.Context(), topic, 0); err != nil {
		t.Error(err)
	}
	if _, err := c.Leader(t.Context(), topic, 1); !errors.Is(err, system.ErrNoTopic) {
		t.Errorf("the queue of a subscription is gone: %v", err)
	}
	s.change(func() { s.queues = nil }) // like a restarted server that kept them in memory
	if _, err := c.Leader(t.Context(), topic, 0); !errors.Is(err, system.ErrNoTopic) {
		t.Errorf("all queues are gone: %v", err)
	}
	// A server that does not answer has not reported it.
	silent, err := newAPI(t.Context(), system.Options{
		Endpoints: []string{answering(t, http.StatusInternalServerError, "{}")},
		Settings:  systemtest.Settings(t, sqsSystem{})})
	if err != nil {
		t.Fatal(err)
	}
	other := &cluster{api: silent, queues: c.queues}
	defer other.Close(t.Context())
	if _, err := other.Leader(t.Context(), topic, 0); err == nil ||
		errors.Is(err, system.ErrNoTopic) {
		t.Errorf("a server that fails: %v", err)
	}
}

// A message that is not base64 counts once and stays in the queue.
func TestStrangerIsLeftInTheQueue(t *testing.T) {
	for _, delivery := range []workload.Delivery{workload.AtLeastOnce, workload.AtMostOnce} {
		s, c := imitated(t)
		s.change(func() { s.queues = []string{"q"} })
		var payloads []string
		r := newConsumer(c, system.ConsumerOptions{Delivery: delivery,
			Receive: func(m system.Received) { payloads = append(payloads, string(m.Payload)) },
			Failed:  func(err error) { t.Error(err) }})
		r.Begin(func() {})
		p := &poll{consumer: r, url: "http://" + s.address + "/0/q"}
		message := func(id, body string) types.Message {
			return types.Message{MessageId: &id, Body: &body, ReceiptHandle: aws.String("of " + id)}
		}
		encoded := base64.StdEncoding.EncodeToString([]byte("ours"))
		p.take([]types.Message{message("1", "a stranger"), message("2", encoded)})
		p.take([]types.Message{message("3", encoded), message("1", "a stranger")})
		if len(payloads) != 3 || strings.Count(strings.Join(payloads, " "), "ours") != 2 {
			t.Errorf("%s: received %q", delivery, payloads)
		}
		s.change(func() {
			if !slices.Equal(s.deleted, []string{"of 2", "of 3"}) {
				t.Errorf("%s: deleted %v", delivery, s.deleted)
			}
		})
	}
}
