package mongodb

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// A unique index makes the server refuse some documents of a batch. Each message has its own
// outcome, with ordered batches and without.
func TestErrorsOfABatch(t *testing.T) {
	for ordered, want := range map[string]string{
		"true": "ok refused refused refused", "false": "ok refused ok refused",
	} {
		t.Run("ordered "+ordered, func(t *testing.T) {
			c := connect(t, optionsOf(t, setOrdered, ordered, setLinger, "200ms"))
			topic := systemtest.Topic(t, c, "batch-"+ordered, 1)
			_, err := c.database().Collection(topic.Name).Indexes().CreateOne(t.Context(),
				mongo.IndexModel{Keys: bson.D{{Key: fieldKey, Value: 1}},
					Options: options.Index().SetUnique(true)})
			if err != nil {
				t.Fatal(err)
			}
			p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
			var all []*systemtest.TestMessage
			var batch []*system.Message
			for _, key := range []string{"a", "a", "b", "a"} {
				m := systemtest.NewTestMessage("payload")
				m.Key = []byte(key)
				all, batch = append(all, m), append(batch, &m.Message)
			}
			p.(system.BatchSender).SendBatch(batch)
			var got []string
			for _, m := range all {
				switch err := m.Await(t); {
				case err == nil:
					got = append(got, "ok")
				case errors.Is(err, system.ErrUnknown):
					got = append(got, "unknown")
				default:
					got = append(got, "refused")
					if text := err.Error(); !errors.Is(err, errNotTried) &&
						!strings.Contains(text, "remove the unique index") {
						t.Error(err)
					}
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%v, want %s", got, want)
			}
			n, err := c.database().Collection(topic.Name).CountDocuments(t.Context(), bson.D{})
			if err != nil || int(n) != strings.Count(want, "ok") {
				t.Errorf("the collection has %d documents, %v", n, err)
			}
		})
	}
}

// Errors that concern a whole batch, and a write concern that was not reached.
func TestOutcomes(t *testing.T) {
	p := &producer{of: &cluster{options: system.Options{Endpoints: []string{"a:1"}}}, ordered: true}
	var refused mongo.BulkWriteError
	refused.Index, refused.Message = 1, "too large"
	for _, c := range []struct {
		err     error
		unknown string // whether each of three messages is unknown: y or n
	}{
		{errors.New("connection closed"), "yyy"},
		{mongo.CommandError{Code: codeUnauthorized, Message: "not allowed"}, "nnn"},
		{mongo.CommandError{Code: 11602, Message: "stepped down amid"}, "yyy"},
		{mongo.BulkWriteException{WriteErrors: []mongo.BulkWriteError{refused}}, "nnn"},
		{mongo.BulkWriteException{WriteErrors: []mongo.BulkWriteError{refused},
			WriteConcernError: &mongo.WriteConcernError{Message: "waiting timed out"}}, "ynn"},
	} {
		got := ""
		for _, err := range p.outcomes(t.Context(), 3, c.err) {
			if errors.Is(err, system.ErrUnknown) {
				got += "y"
			} else {
				got += "n"
			}
		}
		if got != c.unknown {
			t.Errorf("%v: %s unknown, want %s", c.err, got, c.unknown)
		}
	}
	for code, says := range map[int]string{codeDuplicateKey: "remove the unique index",
		codeValidation: "remove the validation rules", codeTooLarge: "smaller than 16 MiB",
		codeUnauthorized: "role readWrite", 7: "the server's log"} {
		var one mongo.BulkWriteError
		one.Code, one.Message = code, "no"
		got := p.outcomes(t.Context(), 1, mongo.BulkWriteException{
			WriteErrors: []mongo.BulkWriteError{one}})[0]
		if !strings.Contains(got.Error(), says) || !strings.HasSuffix(got.Error(), ": no") {
			t.Errorf("code %d: %v", code, got)
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if all := p.outcomes(over, 1, context.Canceled); !errors.Is(all[0], driver.ErrUnanswered) {
		t.Error(all)
	}
}

// A consumer that dies leaves leases. Its messages go to another consumer after the lease.
func TestLeasePasses(t *testing.T) {
	c := connect(t, optionsOf(t, setLease, "500ms"))
	topic := systemtest.Topic(t, c, "leased", 1)
	held, release := make(chan struct{}), make(chan struct{})
	dying, err := c.OpenConsumer(t.Context(), system.ConsumerOptions{
		Topic: topic, Subscription: "s", Delivery: workload.AtLeastOnce,
		Receive: func(system.Received) { close(held); <-release },
	})
	if err != nil {
		t.Fatal(err)
	}
	m := systemtest.NewTestMessage("hello")
	systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce).Send(&m.Message)
	if err := m.Await(t); err != nil {
		t.Fatal(err)
	}
	<-held
	over, cancel := context.WithCancel(t.Context())
	cancel()
	began := time.Now()
	if err := dying.Close(over); err == nil {
		t.Error("it closed while a message was being handled")
	}
	got := systemtest.NewInbox()
	systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
	got.Await(t, 1)
	t.Logf("it came again %s after the consumer's end", time.Since(began))
	close(release)
}
