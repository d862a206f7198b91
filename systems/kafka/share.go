package kafka

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/plimsoll-bench/plimsoll/system"
)

// sharer is a member of a share group. Each record is locked for it and acknowledged by itself.
type sharer struct {
	member
	mu      sync.Mutex
	refused map[int32]bool // partitions of which an acknowledgement was refused since accepted
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
	err := group.begun.Once(func() error { return c.configureShare(ctx, group) })
	if err != nil {
		return nil, err
	}
	options := append(fetchOptions(c, o.Topic.Name), kgo.ShareGroup(group.name))
	if most := c.Count(setMaxPollRecords); most < lockedAtOnce {
		// A member locks all records of a fetch, and they wait behind the one that it handles.
		options = append(options, kgo.ShareMaxRecords(int32(most)),
			kgo.ShareMaxRecordsStrict(), kgo.MaxConcurrentFetches(brokersMost))
	}
	r := &sharer{member: c.member(o), refused: map[int32]bool{}}
	if r.early {
		options = append(options, kgo.ShareAckCallback(r.answered))
	}
	if err := r.connect(ctx, options); err != nil {
		return nil, err
	}
	r.Begin(r.run)
	c.watch.add(c, &r.listener)
	return r, c.clients.Keep(ctx, r)
}

// configureShare sets where a share group begins, and how long its members lock a record. A group
// without this begins at the end of the topic as its first member finds it.
func (c *cluster) configureShare(ctx context.Context, g *group) error {
	request := kmsg.NewPtrIncrementalAlterConfigsRequest()
	one := kmsg.NewIncrementalAlterConfigsRequestResource()
	one.ResourceType, one.ResourceName = kmsg.ConfigResourceTypeGroupConfig, g.name
	lock := c.Duration(setRecordLock)
	for name, value := range map[string]string{
		"share.auto.offset.reset":       "earliest",
		"share.record.lock.duration.ms": strconv.FormatInt(lock.Milliseconds(), 10),
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
	return nil
}

// run handles records until the consumer closes or fails.
func (r *sharer) run() {
	most := int(r.of.Count(setMaxPollRecords))
	for r.Life.Err() == nil {
		fetches := r.client.PollRecords(r.Life, most)
		if err := fatal(fetches); err != nil && r.Life.Err() == nil {
			r.Fail(r.of.explain(err))
			return
		}
		r.heard.Store(true)
		records := fetches.Records()
		if r.early && len(records) > 0 {
			r.client.MarkAcks(kgo.AckAccept, records...)
			if err := r.client.FlushAcks(r.Life); err != nil {
				return // the consumer closes
			}
			records = r.accepted(records)
		}
		for _, record := range records {
			r.take(record)
		}
	}
}

// answered notes the partitions whose acknowledgements were refused.
func (r *sharer) answered(_ *kgo.Client, all kgo.ShareAckResults) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range all {
		if one.Err != nil {
			r.refused[one.Partition] = true
		}
	}
}

// accepted returns the records of partitions that refused no acknowledgement since the last call.
// The others may come again, to this member or another one.
func (r *sharer) accepted(records []*kgo.Record) []*kgo.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	records = slices.DeleteFunc(records,
		func(one *kgo.Record) bool { return r.refused[one.Partition] })
	clear(r.refused)
	return records
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
	err := r.End(ctx)
	ctx, cancel := atLeast(ctx)
	defer cancel()
	return r.leave(ctx, err)
}
