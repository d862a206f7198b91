package sqs

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// binary is the type of the key's attribute.
var binary = "Binary"

// keyAttribute is the message attribute that holds a message's key.
const keyAttribute = "k"

// producer sends to the queues of one topic.
type producer struct {
	driver.Lanes[entry]
	of      *cluster
	sending sync.WaitGroup
	closing driver.Closing
}

// line sends to one partition: to its queue of each subscription.
type line struct {
	*driver.Batches[entry]
	of        *producer
	topic     *topicQueues
	partition int
	group     string          // the message group; "": none
	byKey     bool            // the group is the message's key
	unique    string          // begins the deduplication ids of the line
	sequence  atomic.Int64    // ends them
	free      chan *sendBatch // idle batches
	next      *sendBatch      // taken from free, for the next batch
}

// entry is the driver's part of a message in flight, kept so that only the library allocates.
type entry struct {
	body       []byte
	text       string // of body
	names      []byte // the bytes of group and id
	group, id  string
	keyed      map[string]types.MessageAttributeValue
	attributes map[string]types.MessageAttributeValue // keyed, or nil: no key
	size       int
	err        error
	refused    int // by how many queues
}

// sendBatch is a batch that is being sent.
type sendBatch struct {
	all     []*driver.Batched[entry]
	entries []types.SendMessageBatchRequestEntry
}

var entryIDs = driver.Numbered("m", batchMost)

// OpenProducer opens a producer. All producers share the cluster's connections.
func (c *cluster) OpenProducer(ctx context.Context, o system.ProducerOptions) (
	system.Producer, error,
) {
	limit := c.Bytes(setBatchBytes)
	if need := int64(base64.StdEncoding.EncodedLen(o.MessageMax)); need > limit {
		return nil, fmt.Errorf("a message of %d bytes is %d in base64, and a request has at most "+
			"%d (%s): send smaller ones", o.MessageMax, need, limit, setBatchBytes)
	}
	topic, err := c.topic(ctx, o.Topic)
	if err != nil {
		return nil, err
	}
	p := &producer{of: c}
	requests := int(c.Count(setRequests))
	if c.Bool(setFIFO) {
		requests = 1
	}
	for i := range o.Topic.Partitions {
		p.Lanes = append(p.Lanes, p.newLine(topic, i, requests, o).Batches)
	}
	return p, c.clients.Keep(ctx, p)
}

func (p *producer) newLine(
	topic *topicQueues, partition, requests int, o system.ProducerOptions,
) *line {
	l := &line{of: p, topic: topic, partition: partition, free: make(chan *sendBatch, requests)}
	if c := p.of; c.Bool(setFIFO) {
		l.group = "p" + strconv.Itoa(o.Index)
		l.byKey = c.Text(setGroup) == ofKey
		l.unique = rand.Text()[:12] + "-"
	}
	for range requests - 1 {
		l.free <- &sendBatch{}
	}
	l.next = &sendBatch{}
	l.Batches = driver.NewBatches(driver.Batching[entry]{
		InFlight: o.InFlight, Most: batchMost, Linger: p.of.Duration(setLinger),
		Partitions: o.Topic.Partitions, Create: createEntry, Fill: l.fill, Deliver: l.deliver,
	})
	return l
}

// createEntry creates an entry that later messages reuse.
func createEntry(own *entry) {
	own.keyed = map[string]types.MessageAttributeValue{}
}

// text returns a string that shares its bytes, which do not change while the string is in use.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// fill encodes a message. Its strings share memory that is valid until the message has ended.
func (l *line) fill(one *driver.Batched[entry]) {
	m, own := one.Message, &one.Own
	own.body = base64.StdEncoding.AppendEncode(own.body[:0], m.Payload)
	own.text = text(own.body)
	own.err, own.refused, own.size = nil, 0, len(own.body)
	own.attributes = nil
	if len(m.Key) > 0 {
		own.size += len(m.Key) + len(keyAttribute) + len(binary)
		own.keyed[keyAttribute] = types.MessageAttributeValue{DataType: &binary, BinaryValue: m.Key}
		own.attributes = own.keyed
	}
	if l.group == "" {
		return
	}
	own.names = append(own.names[:0], l.unique...)
	own.names = strconv.AppendInt(own.names, l.sequence.Add(1), 10)
	n := len(own.names)
	if l.byKey && len(m.Key) > 0 {
		own.names = base64.RawURLEncoding.AppendEncode(own.names, m.Key)
	} else {
		own.names = append(own.names, l.group...)
	}
	own.id, own.group = text(own.names[:n]), text(own.names[n:])
}

// deliver sends a batch without waiting for the answer, if the number of requests in flight allows
// it.
func (l *line) deliver(life context.Context, batch []*driver.Batched[entry]) {
	one := l.next
	one.all = append(one.all[:0], batch...)
	l.of.sending.Go(func() {
		l.send(life, one.all, one)
		l.free <- one
	})
	l.next = <-l.free // every request has a limit
}

// send sends messages, as many at a time as a request holds.
func (l *line) send(life context.Context, rest []*driver.Batched[entry], by *sendBatch) {
	limit := int(l.of.of.Bytes(setBatchBytes))
	for len(rest) > 0 {
		n, size := 1, rest[0].Own.size
		for n < len(rest) && size+rest[n].Own.size <= limit {
			size += rest[n].Own.size
			n++
		}
		l.request(life, rest[:n], int64(size), by)
		for _, one := range rest[:n] {
			l.End(one, one.Own.err)
		}
		rest = rest[n:]
	}
}

// request sends messages to every queue of the partition, and records each message's result.
func (l *line) request(
	life context.Context, some []*driver.Batched[entry], size int64, by *sendBatch,
) {
	queues := (*l.topic.places.Load())[l.partition]
	m, copies := l.of.of.meter, int64(len(some)*len(queues))
	if err := m.afford(copies, size*int64(len(queues))); err != nil {
		for _, one := range some {
			one.Own.err = err
		}
		return
	}
	by.entries = by.entries[:0]
	for i, one := range some {
		e := types.SendMessageBatchRequestEntry{Id: &entryIDs[i], MessageBody: &one.Own.text,
			MessageAttributes: one.Own.attributes}
		if l.group != "" {
			e.MessageGroupId, e.MessageDeduplicationId = &one.Own.group, &one.Own.id
		}
		by.entries = append(by.entries, e)
	}
	if len(queues) == 1 {
		l.note(some, l.sendTo(life, queues[0], by.entries))
	} else {
		all := make([]answer, len(queues))
		var asking sync.WaitGroup
		for i, url := range queues {
			asking.Go(func() { all[i] = l.sendTo(life, url, by.entries) })
		}
		asking.Wait()
		for _, a := range all {
			l.note(some, a)
		}
	}
	refused := 0
	for _, one := range some {
		own := &one.Own
		refused += own.refused
		if own.refused > 0 && own.refused < len(queues) {
			own.err = fmt.Errorf("%w: %d of %d subscriptions' queues have refused it: %w",
				system.ErrUnknown, own.refused, len(queues), own.err)
		}
	}
	m.settle(int64(refused))
}

// answer is a queue's answer.
type answer struct {
	err    error
	failed []types.BatchResultErrorEntry
}

// note adds a queue's answer to each message.
func (l *line) note(some []*driver.Batched[entry], a answer) {
	add := func(own *entry, err error) {
		own.err = errors.Join(own.err, err)
		if !errors.Is(err, system.ErrUnknown) {
			own.refused++
		}
	}
	if a.err != nil {
		for _, one := range some {
			add(&one.Own, a.err)
		}
		return
	}
	for i := range a.failed {
		failed := &a.failed[i]
		for k := range some {
			if failed.Id != nil && *failed.Id == entryIDs[k] {
				add(&some[k].Own, entryError(failed))
			}
		}
	}
}

// entryError returns the error of one message in an answer. An error that is not the sender's
// fault may have happened after the message was stored.
func entryError(e *types.BatchResultErrorEntry) error {
	code, message := aws.ToString(e.Code), aws.ToString(e.Message)
	if e.SenderFault {
		return fmt.Errorf("the queue refuses the message: %s: %s", code, message)
	}
	return fmt.Errorf("%w: the queue reports a failure of its own: %s: %s", system.ErrUnknown,
		code, message)
}

// sendTo sends a request to one queue. If it cannot have reached a server, or was throttled, it is
// sent again until delivery_timeout.
func (l *line) sendTo(
	life context.Context, url string, entries []types.SendMessageBatchRequestEntry,
) answer {
	c := l.of.of
	var got *awssqs.SendMessageBatchOutput
	var err error
	driver.Resend(life, c.Duration(setDelivery), func() bool {
		ctx, cancel := context.WithTimeout(life, c.Duration(setRequest))
		defer cancel()
		got, err = c.client.SendMessageBatch(ctx, &awssqs.SendMessageBatchInput{
			QueueUrl: &url, Entries: entries,
		})
		return errors.Is(err, errNotConnected) || isThrottled(err)
	})
	if err != nil {
		return answer{err: c.outcome(life, err)}
	}
	return answer{failed: got.Failed}
}

// outcome classifies the error of a request: without an answer, or after a failure of the server,
// the messages may have been stored.
func (c *cluster) outcome(life context.Context, err error) error {
	status := statusOf(err)
	switch {
	case errors.Is(err, errNotConnected), isThrottled(err),
		status >= http.StatusBadRequest && status < http.StatusInternalServerError:
		return c.explain(err)
	case life.Err() != nil:
		return driver.ErrUnanswered
	}
	return fmt.Errorf("%w: %w", system.ErrUnknown, err)
}

// Close waits within ctx for the outstanding answers.
func (p *producer) Close(ctx context.Context) error {
	return p.closing.Once(&p.of.clients, p, func() error {
		err := p.Lanes.Close(ctx)
		p.sending.Wait() // until the lines have ended their requests
		return err
	})
}
