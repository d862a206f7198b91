package sqs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type sqsSystem struct{}

// New returns the SQS system.
func New() driver.CompleteSystem { return sqsSystem{} }

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
		Levels:         levels(),
		Delivery:       []workload.Delivery{workload.AtLeastOnce, workload.AtMostOnce},
		Settings:       slices.Concat(clientSettings, serverSettings),
		Clients:        aims,
		Waits:          settingWaits,
		Redelivery:     redelivery,
		RefuseReturns:  system.Always(""), // by ending its visibility timeout
		Unordered:      unordered,
		RefuseExisting: system.Always(system.Destructive),
		Capabilities:   capabilities,
		IsHosted:       isHosted,
		EstimateBill:   estimateBill,
	}
}

// isHosted reports whether a target without endpoints names a region of Amazon SQS.
func isHosted(t *target.Target) bool {
	return slices.ContainsFunc(t.Settings, func(s target.Setting) bool {
		return s.Name == setRegion && s.Value != noRegion
	})
}

// unordered says that standard queues keep no order, and FIFO queues keep that of a group.
func unordered(s system.Settings) string {
	switch {
	case !s.Bool(setFIFO):
		return "SQS's standard queues deliver in any order (fifo: true has order)"
	case s.Text(setGroup) == ofKey:
		return "FIFO queues keep the order of a message group, which is a key " +
			"(message_group: key), and plimsoll checks the order of a producer"
	}
	return ""
}

// redelivery says when a message comes again although no consumer fails.
func redelivery(s system.Settings, d workload.Delivery) system.Redelivery {
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
	askWithin = 5 * time.Second
	batchMost = 10 // messages of a request, in both directions
)

var _ driver.CompleteCluster = (*cluster)(nil)

// cluster is the connection to a service or server. Its methods may be called from any goroutine.
type cluster struct {
	*api
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
	c := &cluster{api: a, level: o.Durability, queues: queuesOf(a.at())}
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
