package systemtest

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Harness is a system to test and the options that connect to it.
type Harness struct {
	System system.System
	// Options returns the options for a connection to a cluster that gives the level, and the
	// cluster's servers, which the suite pauses. It is called once for each level that the system
	// claims, and may start a cluster that t.Cleanup stops. An embedded system has no servers.
	Options func(t *testing.T, level workload.Level) (system.Options, []system.Node)
	// Levels are the levels that the options can give, if their settings exclude others that the
	// system claims; nil: all that it claims.
	Levels []workload.Level
	// Messages is the number that most tests send; 0: 2000. A server that reads its whole store
	// for each message needs fewer.
	Messages int
	// Reached is set if another run of the suite, on the same system with other settings, tests
	// endpoints that do not answer.
	Reached bool
	// Receiving is set if another run of the suite, on the same servers, tests what does not
	// depend on the kind of consumers: levels, acknowledgements and endpoints.
	Receiving bool
}

const (
	manyMessages = 2000
	within       = 2 * time.Minute // bounds each wait, also on a busy machine
	big          = 64 << 10        // the largest payload of the tests
	partitions   = 4
	inFlight     = 256
	// connectWithin is the contract's time for an endpoint that does not answer, plus a second for
	// a busy machine.
	connectWithin = 10*time.Second + time.Second
)

// Run runs the suite. Each test is a subtest, so that one can be chosen by name.
func Run(t *testing.T, h Harness) {
	h.Messages = cmp.Or(h.Messages, manyMessages)
	s := &suite{Harness: h, delivery: workload.AtLeastOnce,
		options: make(map[workload.Level]system.Options),
		nodes:   make(map[workload.Level][]system.Node)}
	if h.Messages <= 4*inFlight {
		t.Fatalf("%d messages are too few: a quarter must be more than %d", h.Messages, inFlight)
	}
	t.Run("description", s.description)
	t.Run("unknown_setting_is_refused", s.unknownSetting)
	level, found := s.quickestLevel()
	if !found {
		t.Fatal("the system claims no durability level")
	}
	s.level = level
	s.optionsFor(t, level)
	if !h.Receiving {
		t.Run("durability", s.durability)
	}
	t.Run("messages_are_not_logged", s.logging)
	runAll(t, s.live())
	t.Run("exactly_once", func(t *testing.T) { t.Parallel(); s.exactlyOnce(t) })
	if _, embedded := h.System.(system.Embedded); !embedded && !h.Reached &&
		!h.Receiving {
		runAll(t, []namedTest{
			{"endpoint_without_a_listener_is_refused", s.nobodyListens},
			{"endpoint_that_is_silent_is_refused", s.silentEndpoint},
		})
	}
}

// runAll runs the tests in parallel: each has its own topics and connections, and mostly waits for
// the servers.
func runAll(t *testing.T, tests []namedTest) {
	for _, one := range tests {
		t.Run(one.name, func(t *testing.T) { t.Parallel(); one.run(t) })
	}
}

type namedTest struct {
	name string
	run  func(t *testing.T)
}

func (s *suite) live() []namedTest {
	return []namedTest{
		{"arrival_order_is_send_order", s.ordering},
		{"every_send_ends_once", s.everySendEndsOnce},
		{"batches_end_and_arrive", s.batches},
		{"gathered_messages_are_sent", s.gathered},
		{"close_while_sending", s.closeWhileSending},
		{"close_without_time_while_sending", s.closeWithoutTime},
		{"close_without_time_ends_what_is_in_flight", s.closeEndsAll},
		{"send_to_a_partition_that_is_not_there", s.noSuchPartition},
		{"payloads_arrive_unchanged", s.payloads},
		{"key_and_partition_come_back", s.origins},
		{"each_subscription_sees_all", s.subscriptions},
		{"consumers_share_without_loss", s.sharing},
		{"consumers_of_two_connections_share_a_subscription", s.sharingConnections},
		{"at_most_once_delivers", func(t *testing.T) { s.delivers(t, workload.AtMostOnce) }},
		{"at_least_once_delivers", func(t *testing.T) { s.delivers(t, workload.AtLeastOnce) }},
		{"closing_acknowledges_what_was_handled",
			func(t *testing.T) { s.comesOnce(t, workload.AtLeastOnce) }},
		{"at_most_once_is_acknowledged_first",
			func(t *testing.T) { s.comesOnce(t, workload.AtMostOnce) }},
		{"restart_without_loss", s.restart},
		{"given_back_comes_again", s.givenBack},
		{"unhandled_comes_again", s.unhandled},
		{"subscription_keeps_what_nobody_reads", s.reserved},
		{"no_receive_after_close", s.noReceiveAfterClose},
		{"no_receive_after_close_without_time", s.noReceiveAfterCloseWithoutTime},
		{"topic_that_exists_is_refused", s.topicExists},
		{"deleted_topic_is_noticed", s.deletedTopic},
		{"existing_topic_is_read_from_its_end", s.existing},
		{"many_topics_at_once", s.manyTopics},
		{"added_partitions_take_messages", s.added},
		{"cluster_close_ends_what_it_opened", s.clusterClose},
		{"optional_capabilities", s.optional},
	}
}

// suite is one run of the tests.
type suite struct {
	Harness
	level    workload.Level
	delivery workload.Delivery // of producers
	options  map[workload.Level]system.Options
	nodes    map[workload.Level][]system.Node
}

// quickestLevel prefers the levels that do not wait for a disk.
func (s *suite) quickestLevel() (workload.Level, bool) {
	levels := s.System.Describe().Levels
	for _, l := range []workload.Level{workload.SyncAsync, workload.AsyncAsync, workload.SyncSync,
		workload.AsyncSync} {
		if g, described := levels[l]; described && g.Refusal == "" && s.has(l) {
			return l, true
		}
	}
	return 0, false
}

// has reports whether the harness's options can give the level.
func (s *suite) has(l workload.Level) bool {
	return s.Levels == nil ||
		slices.Contains(s.Levels, l)
}

// optionsFor calls the harness once for each level. t must outlive the use.
func (s *suite) optionsFor(t *testing.T, level workload.Level) system.Options {
	o, have := s.options[level]
	if !have {
		o, s.nodes[level] = s.Options(t, level)
		o.Durability = level
		s.options[level] = o
	}
	return o
}

// context returns a context that bounds one wait.
func (s *suite) context(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	t.Cleanup(cancel)
	return ctx
}

// connect returns a cluster at the suite's level, closed with the test.
func (s *suite) connect(t *testing.T) system.Cluster {
	t.Helper()
	return s.connectWith(t, s.options[s.level])
}

func (s *suite) connectWith(t *testing.T, o system.Options) system.Cluster {
	t.Helper()
	c, err := s.System.Connect(s.context(t), o)
	if err != nil {
		t.Fatalf("connecting: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		if err := c.Close(ctx); err != nil {
			t.Errorf("closing the cluster: %v", err)
		}
	})
	return c
}
