package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// shapeQueue is the shape of a subscription whose consumers share its messages.
const shapeQueue = "queue"

// maxTransaction bounds the length of a transaction: a producer that closes waits
// for the end of its last one.
const maxTransaction = 5 * time.Second

// settings are the system's. At most a fifth of each million messages may have
// one kind of planted fault, so that all kinds find places.
var settings = system.MustSettings(`
service text constant constant|exponential|lognormal|bimodal
    distribution of the time from a message's turn to its acknowledgement
service_time duration 200us
    constant: the time; exponential: the mean; lognormal: the median; bimodal: the fast time
service_sigma number 0.5 0..10
    lognormal: standard deviation of the logarithm
service_slow duration 10ms
    bimodal: the slow time
service_slow_share number 0.01 0..1
    bimodal: share of messages that take the slow time
service_slow_outcome text answered answered|refused|unanswered|lost
    bimodal: the fate of messages that would take the slow time; refused and lost ones are
    answered after the fast time
linger duration 0s
    how long a producer waits for more messages before it sends them together
capacity rate 0/s
    messages per second that get their turn, one after another; 0: all at once
delivery_delay duration 50us
    time from acknowledgement to delivery
stall_every duration 0s
    period of stalls; 0: none
stall_for duration 0s
    length of the stall at the end of each period: nothing is answered or delivered
send_block_every duration 0s
    period of the blocking of Send; 0: Send never blocks
send_block_for duration 0s
    how long Send blocks at the end of each period
lose_per_million count 0 0..200k
    messages acknowledged and never delivered, in each million
duplicate_per_million count 0 0..200k
    messages delivered twice, in each million
copy_after duration 0s
    time from the delivery of a message that is delivered twice to its copy
swap_per_million count 0 0..200k
    messages delivered after the one that follows them, in each million
fail_per_million count 0 0..200k
    messages refused, in each million; exactly once: their transactions are aborted
unanswered_per_million count 0 0..200k
    messages that get no answer until their producer closes, in each million
unanswered_delivered bool true
    whether messages that get no answer are delivered
misplace_per_million count 0 0..200k
    messages delivered as if they came from another partition, in each million
transaction_interval duration 50ms
    exactly once: length of a transaction, from the first message of it that a producer sends
abort_share number 0 0..1
    exactly once: share of transactions that are aborted
aborted_visible_share number 0 0..1
    exactly once: share of aborted transactions that are delivered anyway
partial_share number 0 0..1
    exactly once: share of transactions, committed or aborted, of which every second message
    is delivered
shape text log log|queue
    log: each partition belongs to one consumer of a subscription; queue: the consumers share its
    messages, and handle them in parallel
prefetch count 1 1..10k
    queue: messages that a consumer holds, the one that it handles included
turns text each each|first
    queue: which consumer with room gets a message: each in turn, or the first one
redelivery_delay duration 1ms
    queue: time from the return of a message to its next delivery
forget_per_million count 0 0..1M
    queue: messages never delivered again, in each million that are given back
rebalance_for duration 0s
    time for which a subscription gets nothing after a consumer has joined or left the others
drain_rate rate 0/s
    most messages per second that a subscription gets; 0: no limit
retain bool false
    keep delivered messages: a new subscription begins at the topic's first message
fault_messages text waiting waiting|refused
    treatment of messages while a fault lasts; a full disk refuses them, a slow one makes
    them late
fault_recovery duration 0s
    time from the heal of a fault until waiting messages continue
fault_slow duration 20ms
    time that a slow disk adds to each service time, and a move of copies
fault_machines count 3 1..100
    machines that a rolling restart restarts
fault_stop duration 0s
    time that the orderly stop of a machine takes, in a rolling restart and when it leaves; the
    outage begins with it
fault_sync duration 0s
    time from the start of a machine until it is in sync with the others, in a rolling restart,
    and of a move of copies when a machine joins or leaves
fault_lose count 0 0..200k
    messages acknowledged and never delivered: the last ones before each fault
fault_duplicate count 0 0..200k
    messages delivered twice, before each fault
fault_swap count 0 0..200k
    messages delivered after the one that follows them, before each fault
fault_unknown count 0 0..200k
    messages delivered and never acknowledged, before each fault
discovery duration 0s
    added partitions: time from their addition until consumers receive from them
discovery_loses bool false
    whether messages acknowledged in that time are never delivered
service_drift number 0 0..1000
    growth of the service time in each hour, as a share of its initial value
cold_times number 1 1..1000
    service and CPU time of new servers, as a multiple of their later ones
cold_for duration 0s
    how fast new servers become warm, from the first connection on; 0: they are warm
cold_course text exponential exponential|steps|again|sawtooth
    exponential: the excess falls by 63% in each cold_for; steps: by a half after each of two;
    again: like exponential, and half of it comes back for good after eight; sawtooth: it falls
    evenly in each cold_for and comes back
cpu_per_message duration 0s
    CPU time of warm servers for each message; 0: it is not told
memory bytes 0
    what the gauge named memory reports at the start, with a collection every minute that frees a
    tenth of it; 0: there is no such gauge
leak bytes 0
    growth of memory in each hour
buffer bytes 256MB
    most bytes kept for subscriptions and by retain; messages beyond it are refused
seed count 1
    seed of all random choices
`)

// settingWaits are the waits that settings cause.
var settingWaits = []system.Wait{
	{Series: result.Publish, Setting: "linger",
		Words: "the client waits up to %s for more messages"},
	{Series: result.Publish, Setting: "transaction_interval",
		Words: "a transaction lasts up to %s",
		Most: func(c system.Check) time.Duration {
			if c.Delivery != workload.ExactlyOnce {
				return 0
			}
			return c.Settings.Duration("transaction_interval")
		}},
}

// Check refuses settings that cannot be simulated as they are.
func (*System) Check(c system.Check) error {
	s := c.Settings
	for _, period := range [][2]string{{"stall_every", "stall_for"},
		{"send_block_every", "send_block_for"}} {
		every, length := s.Duration(period[0]), s.Duration(period[1])
		if every > 0 && length >= every {
			return fmt.Errorf("setting %s (%s) must be shorter than %s (%s)", period[1], length,
				period[0], every)
		}
	}
	if outcome := s.Text("service_slow_outcome"); outcome != "answered" &&
		s.Text("service") != "bimodal" {
		return fmt.Errorf(
			"setting service_slow_outcome: %s needs service: bimodal, which has slow messages",
			outcome)
	}
	if length := s.Duration("transaction_interval"); length <= 0 || length > maxTransaction {
		return fmt.Errorf("setting transaction_interval must be more than 0 and at most %s, not %s",
			maxTransaction, length)
	}
	if s.Bytes("leak") > 0 && s.Bytes("memory") == 0 {
		return errors.New("setting leak needs memory above 0: nothing else reports it")
	}
	for _, name := range []string{"capacity", "drain_rate"} {
		if rate := s.Rate(name); rate > 0 && rate < 0.001 {
			return fmt.Errorf("setting %s must be 0, or at least 0.001/s", name)
		}
	}
	return s.OutOfRange(settings).Err()
}

// redelivery says when copies come although no consumer fails, and how long each message is
// withheld.
func redelivery(s system.Settings, _ workload.Delivery) system.Redelivery {
	copies := s.Count("duplicate_per_million") > 0 || s.Count("fault_duplicate") > 0
	after := s.Duration("copy_after")
	r := system.Redelivery{Delay: s.Duration("delivery_delay")}
	switch {
	case !copies:
		r.Never, r.Why = true, "duplicate_per_million and fault_duplicate are 0"
	case after == 0:
		r.Never, r.Why = true, "copy_after is 0: copies arrive together with the message"
	case s.Rate("drain_rate") > 0:
		r.Why = "copies wait behind other messages (drain_rate)"
	default:
		r.After, r.Why = after+s.Duration("stall_for"), fmt.Sprintf("copy_after is %s", after)
	}
	return r
}
