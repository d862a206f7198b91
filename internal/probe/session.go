package probe

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Subject is a cluster to probe.
type Subject struct {
	Name    string // of the cluster's column
	System  system.System
	Options system.Options
	Rows    []string // to try; empty: all
}

const (
	// limit bounds one probe. A probe waits at most three times for a message that does not
	// come.
	limit = 3 * time.Minute
	// cleanupLimit bounds the closing and deleting after one probe.
	cleanupLimit = 60 * time.Second
	// sideBySide is the number of probes that run at a time: most of them only wait.
	sideBySide = 6
)

// quiet is the time without an arrival after which a probe expects no more.
const quiet = 2 * time.Second

// On tries every probe on a running cluster. It calls progress, which may be nil, with each
// answer and its duration, from one goroutine at a time. An error means that the cluster could
// not be reached at all, or that ctx ended.
func On(ctx context.Context, s Subject, progress func(Finding, time.Duration)) (Column, error) {
	began := time.Now()
	c, err := s.System.Connect(ctx, s.Options)
	if err != nil {
		return Column{}, fmt.Errorf("connect to %s: %w", s.Name, err)
	}
	d := s.System.Describe()
	run := &session{subject: s, described: d, cluster: c, prefix: "plimsoll-probe-" + nonce()}
	column := Column{Name: s.Name, System: d.Name, Client: d.Client,
		Durability: int(s.Options.Durability), At: began.UTC().Truncate(time.Second)}
	release := run.occupy(ctx)
	column.Findings = run.all(ctx, progress)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupLimit)
	defer cancel()
	// Servers that have just started do not know one another's versions yet.
	if column.Servers, err = c.ServerVersions(closing); err != nil {
		run.warn("read the servers' versions: %v", err)
	}
	release(closing)
	if err := c.Close(closing); err != nil {
		run.warn("close the connection: %v", err)
	}
	column.Warnings = run.warnings
	return column, ctx.Err()
}

// occupy creates a topic that exists as long as the probes run. A system may remove the container
// of its topics when the last topic of a connection is deleted.
func (s *session) occupy(ctx context.Context) (release func(ctx context.Context)) {
	topic := system.Topic{Name: s.name(), Partitions: 1}
	if err := s.cluster.CreateTopic(ctx, topic); err != nil {
		return func(context.Context) {} // the probes will say why
	}
	return func(ctx context.Context) {
		if err := s.cluster.DeleteTopic(ctx, topic); err != nil {
			s.warn("clean up: %v", err)
		}
	}
}

// nonce distinguishes the topics of one session from those of another.
func nonce() string {
	var b [4]byte
	rand.Read(b[:]) // it never fails: it ends the program instead
	return hex.EncodeToString(b[:])
}

// session is a run of all probes on one cluster.
type session struct {
	subject   Subject
	described system.Description
	cluster   system.Cluster
	prefix    string

	mu       sync.Mutex
	topics   int
	warnings []string
}

func (s *session) warn(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warnings = append(s.warnings, fmt.Sprintf(format, args...))
}

// name returns a unique name for a topic. It does not end in a number: topics of several
// connections must not look like the topics of a run, which may share a container.
func (s *session) name() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.topics++
	return fmt.Sprintf("%s-topic%d", s.prefix, s.topics)
}

// all runs the probes, some at the same time, and returns the findings in the order of the
// rows.
func (s *session) all(ctx context.Context, progress func(Finding, time.Duration)) []Finding {
	asked := slices.DeleteFunc(slices.Clone(rows), func(r row) bool {
		return len(s.subject.Rows) > 0 && !slices.Contains(s.subject.Rows, r.Name)
	})
	findings := make([]Finding, len(asked))
	places := make(chan struct{}, sideBySide)
	var telling sync.Mutex
	var running sync.WaitGroup
	for i, r := range asked {
		running.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			began := time.Now()
			findings[i] = s.run(ctx, r)
			if progress != nil {
				telling.Lock()
				defer telling.Unlock()
				progress(findings[i], time.Since(began))
			}
		})
	}
	running.Wait()
	return findings
}

// run runs one probe within its limit and cleans up after it, or returns what is stated.
func (s *session) run(ctx context.Context, r row) Finding {
	if r.try == nil {
		return s.stated(r.Name)
	}
	t := &attempt{session: s}
	// A death is tried up to twice, and may wait longer than other probes.
	most := limit + 2*(t.inheritance()-arrival)
	trying, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	t.ctx = trying
	defer t.cleanup()
	f, err := r.try(t)
	var lacking *system.NotSupported
	switch {
	case err == nil:
	case errors.As(err, &lacking):
		f = no(lacking.Reason)
		if lacking.Condition != "" {
			f = when(lacking.Condition, lacking.Reason)
		}
	case trying.Err() != nil && ctx.Err() == nil:
		f = unknown("the probe did not end within %s: %v", quantity.ExactDuration(most),
			err)
	default:
		f = unknown("the probe itself failed: %v", err)
	}
	f.Row = r.Name
	return f
}

// stated is the finding of a row that nothing is tried for.
func (s *session) stated(name string) Finding {
	one, is := s.statement(name)
	f := unknown("plimsoll's driver of %s states nothing about it", s.described.Name)
	if is {
		f = findingOf(one)
	}
	f.Row = name
	return f
}

// statement returns what the description says of a capability.
func (s *session) statement(c system.Capability) (one system.Statement, is bool) {
	if s.described.Capabilities == nil {
		return one, false
	}
	all := s.described.Capabilities(s.subject.Options)
	i := slices.IndexFunc(all, func(one system.Statement) bool { return one.Capability == c })
	if i < 0 {
		return one, false
	}
	return all[i], true
}

// attempt is one run of one probe. At its end, everything that it opened is closed and
// everything that it made is deleted.
type attempt struct {
	*session
	ctx   context.Context
	after []func(ctx context.Context) error
}

// later adds a function to the cleanup, which runs the last one first.
func (t *attempt) later(do func(ctx context.Context) error) { t.after = append(t.after, do) }

func (t *attempt) cleanup() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), cleanupLimit)
	defer cancel()
	for i := len(t.after) - 1; i >= 0; i-- {
		if err := t.after[i](ctx); err != nil {
			t.warn("clean up: %v", err)
		}
	}
}

// topic makes a topic that is deleted at the end of the attempt.
func (t *attempt) topic(partitions int) (system.Topic, error) {
	return t.topicOn(t.cluster, partitions)
}

// topicOn is topic on one of the attempt's connections. The connection that opened the
// consumers knows what else to delete.
func (t *attempt) topicOn(c system.Cluster, partitions int) (system.Topic, error) {
	topic := system.Topic{Name: t.name(), Partitions: partitions}
	if err := c.CreateTopic(t.ctx, topic); err != nil {
		return topic, fmt.Errorf("create a topic: %w", err)
	}
	t.later(func(ctx context.Context) error { return c.DeleteTopic(ctx, topic) })
	return topic, nil
}

// connect opens another connection, as another process would.
func (t *attempt) connect() (system.Cluster, error) {
	c, err := t.subject.System.Connect(t.ctx, t.subject.Options)
	if err != nil {
		return nil, fmt.Errorf("connect once more: %w", err)
	}
	t.later(c.Close)
	return c, nil
}

// consume opens a consumer that is closed at the end of the attempt.
func (t *attempt) consume(c system.Cluster, o system.ConsumerOptions, into *inbox) (system.Consumer,
	error) {
	if o.Receive == nil {
		o.Receive = into.receive
	}
	o.Failed = into.fail
	k, err := c.OpenConsumer(t.ctx, o)
	if err != nil {
		return nil, fmt.Errorf("open a consumer: %w", err)
	}
	t.later(k.Close)
	return k, nil
}

// awaitAssignment waits until the consumers of a subscription have their partitions.
func (t *attempt) awaitAssignment(all ...system.Consumer) error {
	for _, k := range all {
		if s, ok := k.(system.AssignmentWaiter); ok {
			if err := s.AwaitAssignment(t.ctx); err != nil {
				return fmt.Errorf("share out the partitions: %w", err)
			}
		}
	}
	return nil
}
