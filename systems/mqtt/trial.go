package mqtt

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/eclipse/paho.golang/packets"
)

const (
	trialMessages = 4
	// trialWithin bounds the wait for the messages of a trial, in which nothing else is done.
	trialWithin = 2 * time.Second
)

// tryAbsence returns an error if the server gives messages of a shared subscription to clients that
// are away: then each topic's session, which is always away, would keep a part of the messages.
func (c *cluster) tryAbsence(ctx context.Context) error {
	topic := "plimsoll/" + rand.Text()
	filters := []packets.SubOptions{{Topic: "$share/trial/" + topic, QoS: 1}}
	away := c.guest()
	away.expiry = 2 * trialWithin
	for _, s := range []session{away, c.guest()} {
		k, err := c.dial(ctx, s)
		if err != nil {
			return err
		}
		if err := k.subscribeTwice(ctx, filters); err != nil {
			k.cut()
			return c.explain(err)
		}
		if s.id == away.id {
			k.part(true)
			continue
		}
		came, err := k.echo(ctx, topic)
		k.leave(false)
		if err != nil {
			return c.explain(err)
		}
		if came < trialMessages {
			return fmt.Errorf("%s gave %d of %d messages of a shared subscription to a client "+
				"that was away, as Mosquitto does: name a server that gives them to those that "+
				"are there, such as HiveMQ", c.address, trialMessages-came, trialMessages)
		}
	}
	return nil
}

// echo publishes messages to a topic that the connection is subscribed to, and returns how many
// come back in time.
func (c *conn) echo(ctx context.Context, topic string) (came int, err error) {
	for range trialMessages {
		if err := c.publish(ctx, appendPublish(nil, topic, 1, 1, nil)); err != nil {
			return 0, err
		}
	}
	late := time.AfterFunc(trialWithin, c.interrupt)
	defer late.Stop()
	for came < trialMessages {
		p, err := c.nextKept()
		if err != nil && c.stopped.Load() {
			break // too late
		}
		if err == nil && p.kind == packets.DISCONNECT {
			err = p.reason()
		}
		if err != nil {
			return came, err
		}
		if m, err := readMessage(p); err == nil && p.kind == packets.PUBLISH {
			came++
			c.answer(packets.PUBACK, m.id) // HiveMQ waits for it before it sends the next ones
			_ = c.flush()                  // the next read reports it
		}
	}
	return came, nil
}
