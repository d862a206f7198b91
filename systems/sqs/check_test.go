package sqs

import (
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestCheck(t *testing.T) {
	systemtest.Checks(t, sqsSystem{}, []systemtest.Checked{
		{Level: workload.AsyncAsync, Nodes: 1},
		{Level: workload.SyncAsync, Given: []string{setRegion, "eu-central-1"}},
		{Level: workload.SyncAsync,
			Given: []string{setRegion, "us-gov-west-1", setFIFO, "true"}},
		{Level: 5, Nodes: 1, Says: []string{"the levels are 1 to 4"}},
		{Level: workload.SyncAsync, Nodes: 1, Says: []string{"syncs no message", "--durability 4"}},
		{Level: workload.AsyncAsync, Nodes: 3, Says: []string{"testbed: {nodes: 1}"}},
		{Level: workload.SyncAsync, Given: []string{setHeap, "1GB"},
			Says: []string{"these run already"}},
		{Level: workload.AsyncAsync, Nodes: 1, Given: []string{
			setRegion, "Frankfurt", setVisibility, "1500ms", setWait, "30s", setGroup, "key",
			setHeap, "1MB",
		}, Says: []string{"such as eu-central-1", "whole seconds", "from 1s to 20s",
			"add fifo: true", "at least 64MiB"}},
		{Level: workload.AsyncAsync, Nodes: 1,
			Given: []string{setFIFO, "true", setRequests, "2"},
			Says:  []string{"must be 1 with fifo"}},
	})
}

func TestRedelivery(t *testing.T) {
	systemtest.Redelivery(t, sqsSystem{}, []systemtest.Redelivered{
		{Delivery: workload.AtLeastOnce, After: 31 * time.Second, Why: "visibility_timeout (30s)"},
		{Delivery: workload.AtMostOnce, Given: []string{setVisibility, "5s"},
			After: 6 * time.Second, Why: "standard queues may deliver a copy"},
		{Delivery: workload.AtMostOnce, Given: []string{setFIFO, "true"}, Never: true,
			Why: "deleted before"},
	})
}

func TestOrderIsPromised(t *testing.T) {
	for _, c := range []struct {
		settings []string
		why      string
	}{
		{nil, "standard queues"},
		{[]string{setFIFO, "true"}, ""},
		{[]string{setFIFO, "true", setGroup, "key"}, "which is a key"},
	} {
		why := unordered(systemtest.Settings(t, sqsSystem{}, c.settings...))
		if (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%v: %q", c.settings, why)
		}
	}
}

// A region without endpoints is Amazon's service, which is not started and costs money.
func TestServiceByRegion(t *testing.T) {
	region := []target.Setting{{Name: setRegion, Value: "eu-central-1"}}
	local := &target.Target{System: "sqs"}
	amazon := &target.Target{System: "sqs", Settings: region}
	endpoint := &target.Target{System: "sqs", Settings: region, Endpoints: []string{"h:9324"}}
	for _, c := range []struct {
		target                   *target.Target
		starts, elsewhere, costs bool
	}{{local, true, false, false}, {amazon, false, true, true}, {endpoint, false, true, false}} {
		settings, err := system.Resolve(sqsSystem{}.Describe().Settings, c.target.Settings)
		if err != nil {
			t.Fatal(err)
		}
		_, costs := estimateBill(settings, c.target, system.Expected{Messages: 1})
		if system.Starts(New(), c.target) != c.starts ||
			system.RunsElsewhere(New(), c.target) != c.elsewhere || costs != c.costs {
			t.Errorf("%+v: starts %v, costs %v", c.target, system.Starts(New(), c.target), costs)
		}
	}
}

func TestEstimate(t *testing.T) {
	amazon := &target.Target{System: "sqs"}
	load := system.Expected{Messages: 60_000, MessageBytes: 1000, Topics: 1, Partitions: 1,
		Producers: 1, Subscriptions: 1, Consumers: 1, Length: time.Minute}
	for name, c := range map[string]struct {
		settings []string
		change   func(l *system.Expected)
		requests int64
		usd      float64
	}{
		// 1,000/s fill 5 in 5 ms: 12,000 sends, receives and deletions; 60 empty receives.
		"5 in a batch": {nil, nil, 36_072, 36_072 * 0.4e-6},
		"full batches": {[]string{setLinger, "200ms", setWait, "20s"}, nil, 18_015,
			18_015 * 0.4e-6},
		"own price": {[]string{setLinger, "200ms", setWait, "20s", setPrice, "2"}, nil, 18_015,
			18_015 * 2e-6},
		"FIFO costs more": {[]string{setLinger, "200ms", setWait, "20s", setFIFO, "true"}, nil,
			18_015, 18_015 * 0.5e-6},
		"two subscriptions": {[]string{setLinger, "200ms", setWait, "20s"},
			func(l *system.Expected) { l.Subscriptions = 2 }, 36_024, 36_024 * 0.4e-6},
		// 96 KiB are 128 in base64: two to a request, which counts as 4, as its receive does.
		"large messages": {[]string{setLinger, "200ms", setWait, "20s"},
			func(l *system.Expected) { l.MessageBytes = 96 << 10 }, 270_015, 270_015 * 0.4e-6},
	} {
		settings := append([]string{setRegion, "eu-central-1"}, c.settings...)
		l := load
		if c.change != nil {
			c.change(&l)
		}
		b, charged := estimateBill(systemtest.Settings(t, sqsSystem{}, settings...),
			amazon, l)
		if !charged || b.Requests != c.requests || b.USD < c.usd*0.9999 || b.USD > c.usd*1.0001 {
			t.Errorf("%s: %+v, want %d for %f", name, b, c.requests, c.usd)
		}
	}
}

func TestServerIsNamed(t *testing.T) {
	for arn, want := range map[string]string{
		"arn:aws:sqs:elasticmq-1.7.1:0:q": "ElasticMQ 1.7.1",
		"arn:aws:sqs:elasticmq:0:q":       "ElasticMQ of an unknown version",
		"arn:aws:sqs:us-east-1:0:q":       "an unnamed imitation of SQS, region us-east-1",
		"":                                "an unnamed imitation of SQS",
	} {
		if got := serverOf(arn); got != want {
			t.Errorf("%s: %q", arn, got)
		}
	}
}
