package sqs

import (
	"regexp"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

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
    the region of Amazon SQS, such as eu-central-1, which is used when the target names no
    endpoints; none: plimsoll starts ElasticMQ; with endpoints, requests are signed for it
price_per_million_requests_usd number 0 0..1000
    what Amazon charges; 0: its list price in us-east-1 as of June 2026, which the estimate
    names: check it, and set the price of your region
fifo bool false
    FIFO queues, which keep the order of each message group, in place of standard ones
message_group text producer producer|key
    with fifo: the message group of a message: its producer, or its key
visibility_timeout duration 30s 1s..12h
    after how long without a deletion a message is delivered again; whole seconds
wait_time duration 1s 1s..20s
    how long a ReceiveMessage waits for a message (long polling), and so a consumer's closing;
    whole seconds (SQS's longest is 20s, which has the fewest empty receives); FIFO queues of
    ElasticMQ are asked without waiting, which would block it
polls_in_flight count 1 1..100
    receives that a consumer has under way at one time, for each queue; with fifo a group
    waits for its deletions in any case
linger duration 5ms 0s..1m
    how long a producer waits for a batch of 10 to fill (SQS's own clients wait 200ms)
requests_in_flight count 5 1..100
    batches that a producer has under way at one time, for each queue; with fifo 1, which keeps
    their order
batch_bytes bytes 256KiB 1KiB..1MiB
    most bytes of bodies and attributes in one SendMessageBatch, and so of a message
validate_checksums bool true
    the client computes the MD5 of each body that it sends or receives, and compares it
request_timeout duration 10s 100ms..1h
    how long a server may take to answer a request, beside wait_time
delivery_timeout duration 30s 1ms..1h
    how long a message is kept while there is no connection, or requests are throttled
`)

// Check returns all violations of a request before anything starts.
func (sqsSystem) Check(c system.Check) error {
	bad := append(problems(c.Settings, c.Durability), checkNodes(c.Settings, c.Nodes)...)
	if c.Nodes > 0 && c.Durability != workload.AsyncAsync {
		bad = append(bad, strict.Violation{Message: notElastic(c.Durability)})
	}
	return bad.Err()
}

var regionName = regexp.MustCompile(`^[a-z]{2,4}(-[a-z]+)+-[0-9]+$`)

// problems are the violations of the settings at a level.
func problems(s system.Settings, l workload.Level) strict.Violations {
	bad := append(driver.CheckLevel(sqsSystem{}.Describe(), l), s.OutOfRange(clientSettings)...)
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
