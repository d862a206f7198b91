package sqs

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/strict"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type sqsSystem struct{}

var _ system.Hosted = sqsSystem{}

// New returns the SQS system.
func New() driver.CompleteSystem { return sqsSystem{} }

// Names of the clients' settings.
const (
	setRegion     = "region"
	setPrice      = "price_per_million_requests_usd"
	setFIFO       = "fifo"
	setGroup      = "message_group"
	setVisibility = "visibility_timeout"
	setWait       = "wait_time"
	setPolls      = "polls_in_flight"
	setLinger     = "linger"
	setRequests   = "requests_in_flight"
	setBatchBytes = "batch_bytes"
	setChecksums  = "validate_checksums"
	setRequest    = "request_timeout"
	setDelivery   = "delivery_timeout"
)

// Values of settings.
const (
	noRegion   = "none"
	ofProducer = "producer"
	ofKey      = "key"
)

// clientSettings are the settings of clients and queues.
var clientSettings = system.MustSettings(`
region text none
    the region of Amazon SQS, such as eu-central-1, used when the target names no
    endpoints; none: plimsoll starts ElasticMQ; with endpoints, requests are signed for it
price_per_million_requests_usd number 0 0..1000
    what Amazon charges; 0: its list price in us-east-1 as of June 2026, which the estimate
    names: check it, and set the price of your region
fifo bool false
    FIFO queues, which keep the order of each message group, instead of standard queues
message_group text producer producer|key
    with fifo: the message group of a message: its producer, or its key
visibility_timeout duration 30s 1s..12h
    time without a deletion after which a message is redelivered; whole seconds
wait_time duration 1s 1s..20s
    how long a ReceiveMessage waits for a message (long polling), and so a consumer's closing;
    whole seconds (SQS's longest is 20s, which has the fewest empty receives); FIFO queues of
    ElasticMQ are polled without waiting, which would block it
polls_in_flight count 1 1..100
    receives of a consumer at the same time, for each queue; with fifo a group
    waits for its deletions in any case
linger duration 5ms 0s..1m
    how long a producer waits for a batch of 10 to fill (SQS's own clients wait 200ms)
requests_in_flight count 5 1..100
    batches of a producer at the same time, for each queue; with fifo 1, which keeps
    their order
batch_bytes bytes 256KiB 1KiB..1MiB
    most bytes of bodies and attributes in one SendMessageBatch, and so of a message
validate_checksums bool true
    the client computes the MD5 of each body that it sends or receives, and compares it
request_timeout duration 10s 100ms..1h
    how long a server may take to answer a request, in addition to wait_time
delivery_timeout duration 30s 1ms..1h
    how long a message is kept while there is no connection, or requests are throttled
`)

// Describe returns SQS's terms, durability levels and settings.
func (sqsSystem) Describe() system.Description {
	return system.Description{
		Name: "sqs",
		Summary: "Amazon SQS by region, a queue as a service; without a region plimsoll starts " +
			"ElasticMQ, which imitates it on one node",
		Client: "aws-sdk-go-v2/service/sqs " +
			driver.LibraryVersion("github.com/aws/aws-sdk-go-v2/service/sqs"),
		Terms: driver.Terms{
			Topic:     "queues, one for each partition and subscription",
			Partition: "queue, called topic-partition-subscription",
			Key:       "binary attribute k; with message_group key also the message group",
			Subscription: "queue for each partition; SQS has no subscriptions, so the producers " +
				"send a copy to each",
			Consumer:        "client that polls all queues of the subscription, as the others do",
			Acknowledgement: "the answer to SendMessageBatch for the message, from each queue",
			Backlog:         "messages in the queue that were not deleted",
		}.List(),
		Levels:   levels(),
		Delivery: []workload.Delivery{workload.AtLeastOnce, workload.AtMostOnce},
		Settings: slices.Concat(clientSettings, serverSettings),
	}
}

// IsHosted reports whether a target without endpoints names a region of Amazon SQS.
func (sqsSystem) IsHosted(t *target.Target) bool {
	return slices.ContainsFunc(t.Settings, func(s target.Setting) bool {
		return s.Name == setRegion && s.Value != noRegion
	})
}

// RefuseReturns says that consumers can give messages back: they make them visible again.
func (sqsSystem) RefuseReturns(system.Settings) string { return "" }

// Unordered says that standard queues keep no order, and FIFO queues keep that of a group.
func (sqsSystem) Unordered(s system.Settings) string {
	switch {
	case !s.Bool(setFIFO):
		return "SQS's standard queues deliver in any order (fifo: true has order)"
	case s.Text(setGroup) == ofKey:
		return "FIFO queues keep the order of a message group, which is a key " +
			"(message_group: key), and plimsoll checks the order of a producer"
	}
	return ""
}

// Check returns all violations of a request before anything starts.
func (sqsSystem) Check(c system.Check) error {
	bad := append(problems(c.Settings, c.Durability), checkNodes(c.Settings, c.Nodes)...)
	if c.Nodes > 0 && c.Durability != workload.AsyncAsync {
		bad = append(bad, strict.Violation{Message: notElastic(c.Durability)})
	}
	return bad.Err()
}

var regionName = regexp.MustCompile(`^[a-z]{2,4}(-[a-z]+)+-[0-9]+$`)

// problems returns the violations of the settings at a level.
func problems(s system.Settings, l workload.Level) strict.Violations {
	bad := append(driver.CheckLevel(l), s.OutOfRange(clientSettings)...)
	if r := s.Text(setRegion); r != noRegion && !regionName.MatchString(r) {
		bad = append(bad, s.Wrong(setRegion, "is not the name of a region, such as eu-central-1"))
	}
	for _, name := range []string{setVisibility, setWait} {
		if s.Duration(name)%time.Second != 0 {
			bad = append(bad, s.Wrong(name, "must be whole seconds"))
		}
	}
	if s.Text(setGroup) == ofKey && !s.Bool(setFIFO) {
		bad = append(bad, s.Wrong(setGroup, "belongs to FIFO queues: add fifo: true"))
	}
	if s.Bool(setFIFO) && s.Given(setRequests) && s.Count(setRequests) > 1 {
		bad = append(bad, s.Wrong(setRequests, "must be 1 with fifo, which keeps the order of "+
			"a producer's requests"))
	}
	return bad
}

// Redelivery says when a message comes again although no consumer fails.
func (sqsSystem) Redelivery(s system.Settings, d workload.Delivery) system.Redelivery {
	copies := "; standard queues may deliver a copy of any message"
	if s.Bool(setFIFO) {
		copies = ""
		if d == workload.AtMostOnce {
			return system.Redelivery{Never: true, Why: "a message is deleted before it is handed " +
				"over, and FIFO queues make no copies"}
		}
	}
	return system.Redelivery{After: s.Duration(setVisibility) + s.Duration(setWait),
		Why: "a message that is not deleted within " + setVisibility + " (" +
			s.Text(setVisibility) + ") is visible again" + copies}
}

const (
	askWithin  = 5 * time.Second
	retryPause = 50 * time.Millisecond
	batchMost  = 10 // messages of a request, in both directions
)

var _ driver.CompleteCluster = (*cluster)(nil)

// cluster is the connection to a service or server. Its methods may be called from any goroutine.
type cluster struct {
	*api
	driver.Lacks
	options system.Options
	level   workload.Level
	clients driver.Clients
	queues  *queues
}

// Connect checks that the service answers. It returns within ten seconds.
func (sqsSystem) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	if bad := problems(o.Settings, o.Durability); len(bad) > 0 {
		return nil, bad
	}
	if len(o.Endpoints) == 0 && o.Settings.Text(setRegion) == noRegion {
		return nil, errors.New("neither endpoints nor a region: write settings: {region: " +
			"eu-central-1} for Amazon SQS, or name the endpoint of a server")
	}
	if len(o.Endpoints) > 1 {
		return nil, fmt.Errorf("%d endpoints: SQS has one address, name one of %s",
			len(o.Endpoints), strings.Join(o.Endpoints, ", "))
	}
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	a, err := newAPI(ctx, o)
	if err != nil {
		return nil, err
	}
	c := &cluster{Lacks: lacks, api: a, options: o, level: o.Durability, queues: queuesOf(a.at())}
	if err := c.checkLevel(); err != nil {
		return nil, errors.Join(err, c.Close(ctx))
	}
	if err := c.ping(ctx); err != nil {
		a.close()
		return nil, err
	}
	return c, nil
}

// Close closes every producer and consumer that is open, and the connections.
func (c *cluster) Close(ctx context.Context) error {
	return c.clients.Close(ctx, func() error { c.close(); return nil })
}

// RefuseExisting refuses existing topics, because readers take messages out of queues.
func (sqsSystem) RefuseExisting(system.Settings) string { return system.Destructive }
