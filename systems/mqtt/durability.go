package mqtt

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func levels() map[workload.Level]system.Guarantee {
	const alone = "HiveMQ CE is one server, and MQTT says nothing about copies"
	return map[workload.Level]system.Guarantee{
		workload.SyncSync:  {Refusal: alone + " and syncs"},
		workload.SyncAsync: {Refusal: alone},
		workload.AsyncSync: {Refusal: "HiveMQ CE answers before it syncs, with all settings"},
		workload.AsyncAsync: {How: "in the queue of each subscription: with persistence: file " +
			"written to files that are synced after the answer, or in-memory"},
	}
}

// ReadDurability reads what the server offers, and whether it has the topics. What an answer waits
// for is in no packet.
func (c *cluster) ReadDurability(ctx context.Context, topics []system.Topic) (system.Evidence,
	error) {
	r := &driver.Reading{Level: c.options.Durability}
	k, err := c.dial(ctx, c.guest())
	if err != nil {
		return system.Evidence{}, err
	}
	k.leave(false)
	most := byte(2)
	if told := k.told.Properties.MaximumQOS; told != nil {
		most = *told
	}
	r.Add(c.address, "Maximum QoS", strconv.Itoa(int(most)), "CONNACK")
	if asked := c.Count(setPublishQoS); int64(most) < asked {
		return system.Evidence{}, r.Contradicts(fmt.Sprintf("QoS %d (%s)", asked, setPublishQoS),
			"%s has Maximum QoS %d", c.address, most)
	}
	for _, t := range topics {
		if err := c.mustExist(ctx, t.Name); err != nil {
			return system.Evidence{}, err
		}
		r.Add(t.Name, "Session Present", "1", "CONNACK")
	}
	r.Copies(1)
	r.State("HiveMQ CE", "an answer waits for", "the queues of all subscriptions, and no sync",
		"HiveMQ CE's source")
	return r.Evidence(), nil
}

// Topics whose retained message names a server's software: plimsoll tells it to the server that it
// starts, because HiveMQ CE does not tell it itself, and Mosquitto tells it.
const (
	plimsollTopic  = "plimsoll/server"
	mosquittoTopic = "$SYS/broker/version"
)

// tellWithin bounds the wait for a retained message.
const tellWithin = time.Second

// ServerVersions returns what the server's retained messages say of its software. MQTT itself has
// no word for it.
func (c *cluster) ServerVersions(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	k, err := c.dial(ctx, c.guest())
	if err != nil {
		return nil, err
	}
	defer k.leave(false)
	err = k.subscribe(ctx, []packets.SubOptions{{Topic: plimsollTopic}, {Topic: mosquittoTopic}})
	if err != nil {
		return nil, c.explain(err)
	}
	late := time.AfterFunc(tellWithin, k.interrupt)
	defer late.Stop()
	name := "an MQTT server that does not name its software"
	for {
		p, err := k.next()
		if err != nil {
			break
		}
		if m, err := readMessage(p); p.kind == packets.PUBLISH && err == nil {
			name = string(m.payload)
			break
		}
	}
	return []string{c.address + " " + name}, nil
}
