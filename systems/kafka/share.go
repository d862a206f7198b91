package kafka

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// sharer is a member of a share group, with a client of its own. Each record is locked for it and
// acknowledged by itself.
type sharer struct {
	listener
	client   *kgo.Client
	cancel   context.CancelFunc // ends the client's connections
	polling  context.Context
	stop     context.CancelFunc // ends polling
	of       *cluster
	early    bool          // acknowledge before handling
	finished chan struct{} // closed when run has ended
	closing  driver.Closing
}

// lockedAtOnce is how many records a fetch of a share group asks for by itself.
const lockedAtOnce = 500

// brokersMost lets a client fetch from all brokers at the same time. With strict fetches it would
// ask one broker, which waits for records for fetch_max_wait while others have some.
const brokersMost = 1000

// openSharer joins the subscription's share group, which begins at the start of the topic.
func (c *cluster) openSharer(ctx context.Context, o system.ConsumerOptions) (system.Consumer,
	error) {
	group := c.groupOf(o)
	if err := c.configureShare(ctx, group); err != nil {
		return nil, err
	}
	life, cancel := context.WithCancel(context.Background())
	polling, stop := context.WithCancel(life)
	r := &sharer{
		listener: listener{Receiver: driver.Receiver{Options: o}}, cancel: cancel, polling: polling,
		stop: stop, of: c, early: o.Delivery == workload.AtMostOnce, finished: make(chan struct{}),
	}
	options := append(fetchOptions(c, o.Topic.Name), kgo.ShareGroup(group.name),
		kgo.WithContext(life))
	if c.cfg.maxPoll < lockedAtOnce {
		// A member locks all records of a fetch, and they wait behind the one that it handles.
		options = append(options, kgo.ShareMaxRecords(int32(c.cfg.maxPoll)),
			kgo.ShareMaxRecordsStrict(), kgo.MaxConcurrentFetches(brokersMost))
	}
	client, err := kgo.NewClient(options...)
	if err == nil {
		r.client = client
		if err = ping(ctx, client); err != nil {
			client.Close()
		}
	}
	if err != nil {
		stop()
		cancel()
		return nil, c.explain(err)
	}
	go r.run()
	c.watch.add(c, &r.listener)
	return r, c.clients.Keep(ctx, r)
}

// configureShare sets where a share group begins, and how long its members lock a record. A group
// without this begins at the end of the topic as its first member finds it.
func (c *cluster) configureShare(ctx context.Context, g *group) error {
	g.begin.Lock()
	defer g.begin.Unlock()
	if g.begun {
		return nil
	}
	request := kmsg.NewPtrIncrementalAlterConfigsRequest()
	one := kmsg.NewIncrementalAlterConfigsRequestResource()
	one.ResourceType, one.ResourceName = kmsg.ConfigResourceTypeGroupConfig, g.name
	for name, value := range map[string]string{
		"share.auto.offset.reset":       "earliest",
		"share.record.lock.duration.ms": strconv.FormatInt(c.cfg.recordLock.Milliseconds(), 10),
	} {
		config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		config.Name, config.Value = name, kmsg.StringPtr(value)
		one.Configs = append(one.Configs, config)
	}
	request.Resources = append(request.Resources, one)
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	err := untilAnswered(ctx, func() error {
		answer, err := request.RequestWith(ctx, c.client)
		for _, r := range answer.Resources {
			if err == nil && r.ErrorCode != 0 {
				err = kerr.ErrorForCode(r.ErrorCode)
				if r.ErrorMessage != nil {
					err = fmt.Errorf("%s: %w", *r.ErrorMessage, err)
				}
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("configure the share group %s: %w", g.name, c.explain(err))
	}
	g.begun = true
	return nil
}

// run handles records until the consumer closes or fails.
func (r *sharer) run() {
	defer close(r.finished)
	for r.polling.Err() == nil {
		fetches := r.client.PollRecords(r.polling, r.of.cfg.maxPoll)
		if err := fatal(fetches); err != nil && r.polling.Err() == nil {
			r.Fail(r.of.explain(err))
			return
		}
		r.heard.Store(true)
		records := fetches.Records()
		if r.early && len(records) > 0 {
			r.client.MarkAcks(kgo.AckAccept, records...)
			if err := r.client.FlushAcks(r.polling); err != nil {
				return // the consumer closes
			}
			// A refused acknowledgement shows as a second delivery, which the account counts.
		}
		for _, record := range records {
			r.take(record)
		}
	}
}

// take handles a record and acknowledges it. A record that is not handled goes to another member.
func (r *sharer) take(record *kgo.Record) {
	handled, back := r.Take(received(record))
	if r.early {
		return
	}
	status := kgo.AckAccept
	if back || !handled {
		status = kgo.AckRelease
	}
	record.Ack(status)
}

// Close stops receiving, sends the acknowledgements, releases what was not handled, and leaves the
// group, which takes as long as Close of a consumer may. If ctx ends first, a running Receive is
// left to end by itself, and its record is released.
func (r *sharer) Close(ctx context.Context) error {
	return r.closing.Once(&r.of.clients, r, func() error { return r.close(ctx) })
}

func (r *sharer) close(ctx context.Context) error {
	r.Stop()
	r.of.watch.remove(&r.listener)
	r.stop()
	err := driver.AwaitHandled(ctx, r.finished)
	ctx, cancel := atLeast(ctx)
	defer cancel()
	err = errors.Join(err, r.client.LeaveGroupContext(ctx))
	r.cancel()
	r.client.Close()
	if err != nil {
		return fmt.Errorf("close the consumer: %w", err)
	}
	return nil
}
