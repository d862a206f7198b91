package probe

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
)

// able is a fake with every capability.
type able struct{ *fakeCluster }

var _ system.Prober = (*able)(nil)

func (c *able) OpenShared(ctx context.Context, o system.ConsumerOptions) (system.Consumer, string,
	error) {
	k, err := c.OpenConsumer(ctx, o)
	return k, "sharing", err
}

func (c *able) OpenReplay(ctx context.Context, o system.ConsumerOptions) (system.Consumer, string,
	error) {
	k, err := c.OpenConsumer(ctx, o)
	if err == nil && c.plant != noPast {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, m := range c.topics[o.Topic.Name].log {
			k.(*fakeConsumer).sub.give(c.plant, m)
		}
	}
	return k, "", err
}

func (c *able) post(t system.Topic, payload []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.publish(c.topics[t.Name], 0, string(payload))
}

func (c *able) PublishAcked(_ context.Context, t system.Topic, kind system.AckKind,
	payload []byte) (string, error) {
	if kind == system.AckRefusal {
		if c.plant == silentRefuse {
			return "", &system.NotSupported{Reason: "nobody tells"}
		}
		return "refused", nil
	}
	c.post(t, payload)
	return "taken", nil
}

func (c *able) Transact(_ context.Context, t system.Topic, payloads [][]byte, commit bool) (string,
	error) {
	if commit || c.plant == commitsAll {
		for _, p := range payloads {
			c.post(t, p)
		}
	}
	return "", nil
}

func (c *able) PublishTwice(_ context.Context, t system.Topic, payload []byte) (string, string,
	error) {
	c.post(t, payload)
	if c.plant == takesTwice {
		c.post(t, payload)
	}
	return "taken", "", nil
}

func (c *able) PublishBeyond(_ context.Context, _ system.Topic, n int) (system.BackPressure, string,
	error) {
	if c.plant == boundless {
		return system.BackPressure{Limit: "none", Accepted: n}, "", nil
	}
	return system.BackPressure{Limit: "half", Accepted: n / 2, Refused: n - n/2,
		Refusal: "full"}, "", nil
}

// fakeBox keeps envelopes until it is open.
type fakeBox struct {
	plant     planted
	mu        sync.Mutex
	envelopes []system.Envelope
	at        []time.Time
	receive   func([]byte)
	bindings  []system.Binding
	kind      system.RouteKind
	dead      func([]byte)
	timers    []*time.Timer
}

func (c *able) OpenMailbox(
	context.Context, system.Topic, system.Feature,
) (system.Mailbox, string, error) {
	return &fakeBox{plant: c.plant}, "", nil
}

func (c *able) OpenRoutes(_ context.Context, r system.Routing) (system.Publisher, string, error) {
	return &fakeBox{plant: c.plant, bindings: r.Bindings, kind: r.Kind}, "", nil
}

func (c *able) OpenRejecting(_ context.Context, _ system.Topic, rejected,
	dead func([]byte)) (system.Publisher, string, error) {
	return &fakeBox{plant: c.plant, receive: rejected, dead: dead}, "", nil
}

func (b *fakeBox) Post(_ context.Context, l system.Envelope) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.plant == deaf:
	case b.bindings != nil:
		for _, one := range b.bindings {
			if b.plant == misroutes || b.wants(one, l) {
				one.Receive(l.Payload)
			}
		}
	case b.receive == nil:
		b.envelopes, b.at = append(b.envelopes, l), append(b.at, time.Now())
	case l.Delay > 0 && b.plant != hasty:
		b.timers = append(b.timers, time.AfterFunc(l.Delay, func() { b.receive(l.Payload) }))
	default:
		b.receive(l.Payload)
		if b.dead != nil && b.plant != discards {
			b.dead(l.Payload)
		}
	}
	return nil
}

// wants implements only the two keys and patterns of the probes.
func (b *fakeBox) wants(one system.Binding, l system.Envelope) bool {
	switch b.kind {
	case system.RouteFanout:
		return true
	case system.RouteHeaders:
		return one.Headers["colour"] == l.Headers["colour"]
	case system.RoutePattern:
		if one.Key == "order.*.eu" {
			return l.Key[len(l.Key)-2:] == "eu"
		}
		return l.Key[:len("order.new")] == "order.new"
	}
	return one.Key == l.Key
}

func (b *fakeBox) Open(_ context.Context, receive func([]byte)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.receive != nil {
		return errors.New("it is open")
	}
	b.receive = receive
	var kept []system.Envelope
	for i, l := range b.envelopes {
		if l.TTL == 0 || time.Since(b.at[i]) < l.TTL || b.plant == immortal {
			kept = append(kept, l)
		}
	}
	for _, l := range sorted(b.plant, kept) {
		receive(l.Payload)
	}
	return nil
}

func (b *fakeBox) Close(context.Context) error {
	for _, timer := range b.timers {
		timer.Stop()
	}
	return nil
}
