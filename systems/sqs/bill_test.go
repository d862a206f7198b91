package sqs

import (
	"errors"
	"fmt"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// At the limit messages are refused, and earlier messages are received and deleted within the
// limit.
func TestLimitOfCost(t *testing.T) {
	const most, sends = 120, 130 // each send is a request at least
	c := connect(t, setWait, "20s", setLinger, "0s")
	c.meter.charged, c.meter.most = true, most // as for Amazon's service
	topic, got := systemtest.Topic(t, c, "limit", 1), systemtest.NewInbox()
	systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	var acknowledged []string
	for i := range sends {
		payload := fmt.Sprint("message ", i)
		m := systemtest.NewTestMessage(payload)
		p.Send(&m.Message)
		switch err := m.Await(t); {
		case err == nil:
			acknowledged = append(acknowledged, payload)
		case !errors.Is(err, system.ErrExhausted), errors.Is(err, system.ErrUnknown):
			t.Fatalf("message %d ended with %v", i, err)
		}
	}
	got.AwaitAll(t, acknowledged...)
	b, charged := c.Spent()
	t.Logf("%d of %d acknowledged; %+v", len(acknowledged), sends, b)
	if n := len(acknowledged); n < most/5 || n == sends || !charged || !b.Exhausted ||
		b.Requests > most {
		t.Errorf("%d acknowledged, %+v", n, b)
	}
}

// Requests are counted like the provider's: every 64 KiB count as one, and unsent requests do not
// count.
func TestRequestsAreCounted(t *testing.T) {
	c := connect(t)
	before, charged := c.Spent()
	if charged {
		t.Error("ElasticMQ costs money")
	}
	topic := systemtest.Topic(t, c, "counted", 1) // finds, creates and awaits it
	p, err := c.OpenProducer(t.Context(), system.ProducerOptions{Topic: topic, InFlight: 1,
		MessageMax: 150 << 10})
	if err != nil {
		t.Fatal(err)
	}
	m := systemtest.NewTestMessage(string(make([]byte, 150<<10))) // 200 KiB in base64
	p.Send(&m.Message)
	if err := m.Await(t); err != nil {
		t.Fatal(err)
	}
	const administration, send = 3, 4
	if b, _ := c.Spent(); b.Requests-before.Requests != administration+send {
		t.Errorf("%d requests", b.Requests-before.Requests)
	}
}
