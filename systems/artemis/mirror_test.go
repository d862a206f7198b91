package artemis

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The mirror has the queues of a topic, and all acknowledged messages.
func TestMirrorHasWhatWasAcknowledged(t *testing.T) {
	o := optionsOf(t, secured, workload.SyncSync)
	c := connect(t, o)
	topic := systemtest.Topic(t, c, "mirrored", 1)
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	const sent = 10
	for i := range sent {
		l := systemtest.NewTestMessage("message")
		p.Send(&l.Message)
		if err := l.Await(t); err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
	}
	there := newManagement(dialer(o, o.Endpoints[1]))
	defer there.close()
	count, durable := 0, 0
	of := "queue." + queue(topic, unread, 0)
	err := there.attribute(t.Context(), of, "MessageCount", &count)
	if err == nil {
		err = there.attribute(t.Context(), of, "DurableMessageCount", &durable)
	}
	if err != nil || count != sent || durable != sent {
		t.Errorf("the mirror has %d messages, %d of them durable, %v", count, durable, err)
	}
}
