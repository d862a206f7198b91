package sim

import (
	"fmt"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// maxTransaction bounds the length of a transaction: a producer that closes waits
// for the end of its last one.
const maxTransaction = 5 * time.Second

var settings = []system.Setting{
	{Name: "service", Kind: system.Text, Default: "constant",
		OneOf: []string{"constant", "exponential", "lognormal", "bimodal"},
		Doc:   "distribution of the time from a message's turn to its acknowledgement"},
	{Name: "service_time", Kind: system.Duration, Default: "200us",
		Doc: "constant: the time; exponential: the mean; lognormal: the median; bimodal: the " +
			"fast time"},
	{Name: "service_sigma", Kind: system.Number, Default: "0.5",
		Doc: "lognormal: standard deviation of the logarithm"},
	{Name: "service_slow", Kind: system.Duration, Default: "10ms", Doc: "bimodal: the slow time"},
	{Name: "service_slow_share", Kind: system.Number, Default: "0.01",
		Doc: "bimodal: share of messages that take the slow time"},
	{Name: "service_slow_outcome", Kind: system.Text, Default: "answered",
		OneOf: []string{"answered", "refused", "unanswered", "lost"},
		Doc: "bimodal: what becomes of messages that would take the slow time; refused and lost " +
			"ones " +
			"are answered after the fast time"},
	{Name: "capacity", Kind: system.Rate, Default: "0/s",
		Doc: "messages per second that get their turn, one after another; 0: all at once"},
	{Name: "delivery_delay", Kind: system.Duration, Default: "50us",
		Doc: "time from acknowledgement to delivery"},
	{Name: "stall_every", Kind: system.Duration, Default: "0s", Doc: "period of stalls; 0: none"},
	{Name: "stall_for", Kind: system.Duration, Default: "0s",
		Doc: "length of the stall at the end of each period: nothing is answered or delivered"},
	{Name: "send_block_every", Kind: system.Duration, Default: "0s",
		Doc: "period of the times at which Send blocks its caller; 0: it never does"},
	{Name: "send_block_for", Kind: system.Duration, Default: "0s",
		Doc: "length of such a time, at the end of each period: Send returns when it is over"},
	{Name: "lose_per_million", Kind: system.Count, Default: "0",
		Doc: "messages acknowledged and never delivered, in each million"},
	{Name: "duplicate_per_million", Kind: system.Count, Default: "0",
		Doc: "messages delivered twice, in each million"},
	{Name: "copy_after", Kind: system.Duration, Default: "0s",
		Doc: "time from the delivery of a message that is delivered twice to its copy"},
	{Name: "swap_per_million", Kind: system.Count, Default: "0",
		Doc: "messages delivered after the one that follows them, in each million"},
	{Name: "fail_per_million", Kind: system.Count, Default: "0",
		Doc: "messages refused, in each million; exactly once: their transactions are aborted"},
	{Name: "unanswered_per_million", Kind: system.Count, Default: "0",
		Doc: "messages that get no answer until their producer closes, in each million"},
	{Name: "unanswered_delivered", Kind: system.Bool, Default: "true",
		Doc: "whether messages that get no answer are delivered"},
	{Name: "misplace_per_million", Kind: system.Count, Default: "0",
		Doc: "messages delivered as if they came from another partition, in each million"},
	{Name: "transaction_interval", Kind: system.Duration, Default: "50ms",
		Doc: "exactly once: length of a transaction, from the first message of it that a " +
			"producer sends"},
	{Name: "abort_share", Kind: system.Number, Default: "0",
		Doc: "exactly once: share of transactions that are aborted"},
	{Name: "aborted_visible_share", Kind: system.Number, Default: "0",
		Doc: "exactly once: share of aborted transactions that are delivered all the same"},
	{Name: "partial_share", Kind: system.Number, Default: "0",
		Doc: "exactly once: share of transactions, committed or aborted, of which every second " +
			"message is delivered"},
	{Name: "drain_rate", Kind: system.Rate, Default: "0/s",
		Doc: "messages per second that a subscription gets at most; 0: all that there are"},
	{Name: "retain", Kind: system.Bool, Default: "false",
		Doc: "keep what was delivered: a new subscription begins at the topic's first message"},
	{Name: "fault_messages", Kind: system.Text, Default: "waiting",
		OneOf: []string{"waiting", "refused"},
		Doc: "what becomes of messages while a fault lasts; a full disk refuses them, a slow one " +
			"makes them late"},
	{Name: "fault_recovery", Kind: system.Duration, Default: "0s",
		Doc: "time from the heal of a fault until messages go on that waited"},
	{Name: "fault_slow", Kind: system.Duration, Default: "20ms",
		Doc: "what a slow disk adds to each service time"},
	{Name: "fault_lose", Kind: system.Count, Default: "0",
		Doc: "messages acknowledged and never delivered: the last ones before each fault"},
	{Name: "fault_duplicate", Kind: system.Count, Default: "0",
		Doc: "messages delivered twice, before each fault"},
	{Name: "fault_swap", Kind: system.Count, Default: "0",
		Doc: "messages delivered after the one that follows them, before each fault"},
	{Name: "fault_unknown", Kind: system.Count, Default: "0",
		Doc: "messages delivered and never acknowledged, before each fault"},
	{Name: "buffer", Kind: system.Bytes, Default: "256MB",
		Doc: "most bytes kept for subscriptions that have not had them, and by retain; more are " +
			"refused"},
	{Name: "seed", Kind: system.Count, Default: "1", Doc: "seed of all that is random"},
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
	for _, name := range []string{"service_slow_share", "abort_share", "aborted_visible_share",
		"partial_share"} {
		if share := s.Number(name); share < 0 || share > 1 {
			return fmt.Errorf("setting %s must be from 0 to 1, not %v", name, share)
		}
	}
	if sigma := s.Number("service_sigma"); sigma < 0 || sigma > 10 {
		return fmt.Errorf("setting service_sigma must be from 0 to 10, not %v", sigma)
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
	for _, name := range []string{"capacity", "drain_rate"} {
		if rate := s.Rate(name); rate > 0 && rate < 0.001 {
			return fmt.Errorf("setting %s must be 0, or at least 0.001/s", name)
		}
	}
	return checkPlanted(s)
}

func checkPlanted(s system.Settings) error {
	for _, name := range []string{
		"lose_per_million", "duplicate_per_million", "swap_per_million", "fail_per_million",
		"unanswered_per_million", "misplace_per_million", "fault_lose", "fault_duplicate",
		"fault_swap", "fault_unknown",
	} {
		if n := s.Count(name); n > maxPlanted {
			return fmt.Errorf("setting %s must be at most %d, not %d", name, maxPlanted, n)
		}
	}
	return nil
}

// Redelivery says when copies come by themselves.
func (*System) Redelivery(s system.Settings, _ workload.Delivery) system.Redelivery {
	copies := s.Count("duplicate_per_million") > 0 || s.Count("fault_duplicate") > 0
	after := s.Duration("copy_after")
	switch {
	case !copies:
		return system.Redelivery{Never: true,
			Why: "duplicate_per_million and fault_duplicate are 0"}
	case after == 0:
		return system.Redelivery{Never: true,
			Why: "copy_after is 0: copies come together with the message"}
	case s.Rate("drain_rate") > 0:
		return system.Redelivery{Why: "copies wait behind other messages (drain_rate)"}
	}
	return system.Redelivery{
		After: after + s.Duration("stall_for"), Why: fmt.Sprintf("copy_after is %s", after),
	}
}
