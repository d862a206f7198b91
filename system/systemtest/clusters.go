package systemtest

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func (s *suite) description(t *testing.T) {
	d := s.System.Describe()
	if d.Name == "" || d.Summary == "" || d.Client == "" {
		t.Errorf("name %q, summary %q, client %q: none may be empty", d.Name, d.Summary, d.Client)
	}
	if len(d.Terms) == 0 || len(d.Delivery) == 0 {
		t.Errorf("%d terms and %d delivery guarantees: there must be some", len(d.Terms),
			len(d.Delivery))
	}
	for l := workload.SyncSync; l <= workload.AsyncAsync; l++ {
		g, described := d.Levels[l]
		if !described || (g.How == "") == (g.Refusal == "") {
			t.Errorf("level %d: how %q, refusal %q: there must be one of the two", l, g.How,
				g.Refusal)
		}
	}
	var given []target.Setting
	for _, one := range d.Settings {
		if one.Doc == "" {
			t.Errorf("setting %s: it is not documented", one.Name)
		}
		given = append(given, target.Setting{Name: one.Name, Value: one.Default})
	}
	if _, err := system.Resolve(d.Settings, given); err != nil {
		t.Errorf("the defaults are not valid settings: %v", err)
	}
	s.checks(t, d)
	Clients(t, s.System)
}

// checks tests that the system accepts its own defaults at every level that it claims.
func (s *suite) checks(t *testing.T, d system.Description) {
	t.Helper()
	defaults, err := system.Resolve(d.Settings, nil)
	if err != nil {
		return
	}
	for l, g := range d.Levels {
		if g.Refusal != "" {
			continue
		}
		if err := s.System.Check(system.Check{Settings: defaults, Durability: l}); err != nil {
			t.Errorf("level %d: the defaults are refused: %v", l, err)
		}
	}
}

func (s *suite) unknownSetting(t *testing.T) {
	declared := s.System.Describe().Settings
	for _, one := range declared {
		if len(one.Name) < 5 {
			continue // a slip in a short name may be nearer to another one
		}
		slip := one.Name[:len(one.Name)-1]
		_, err := system.Resolve(declared, []target.Setting{{Name: slip, Value: one.Default}})
		var all strict.Violations
		if !errors.As(err, &all) || !strings.Contains(err.Error(), one.Name) {
			t.Errorf("setting %q: the error does not name %q: %v", slip, one.Name, err)
		}
	}
}

func (s *suite) topicExists(t *testing.T) {
	c := s.connect(t)
	topic := s.topic(t, c, 2)
	if err := c.CreateTopic(s.context(t), topic); err == nil {
		t.Error("a topic that exists was created again")
	}
	s.sendAll(t, c, topic, 0) // it still works
}

func (s *suite) clusterClose(t *testing.T) {
	c, err := s.System.Connect(s.context(t), s.options[s.level])
	must(t, "connecting", err)
	topic := s.topic(t, c, partitions)
	b := newArrivals()
	s.consumer(t, c, topic, "ends", 0, workload.AtLeastOnce, b)
	p := s.sender(t, c, topic, 0)
	ctx := s.context(t)
	must(t, "sending", p.sendMany(ctx, s.Messages/10))
	must(t, "closing the cluster", c.Close(ctx))
	must(t, "waiting for the end of every message", p.await(ctx))
	p.mustAll(t)
	must(t, "sending", p.send(ctx, 0, nil, 64))
	must(t, "waiting for the end of the last message", p.await(ctx))
	if p.sent[len(p.sent)-1].err == nil {
		t.Error("a message sent after the cluster's Close was acknowledged")
	}
}

func (s *suite) optional(t *testing.T) {
	c := s.connect(t)
	topic := s.topic(t, c, partitions)
	versions, err := c.ServerVersions(s.context(t))
	must(t, "reading versions", err)
	if _, embedded := s.System.(system.Embedded); len(versions) == 0 && !embedded {
		t.Error("no server has a version")
	}
	t.Log(versions)
	if l, can := c.(system.LeaderReader); can {
		s.leads(t, l, topic)
	}
	must(t, "deleting a topic", c.DeleteTopic(s.context(t), topic))
	must(t, "creating a deleted topic", c.CreateTopic(s.context(t), topic))
	s.sendAll(t, c, topic, 0)
}

// leads tests that the leader of each partition is one of the servers that clients can reach.
func (s *suite) leads(t *testing.T, l system.LeaderReader, topic system.Topic) {
	t.Helper()
	for partition := range topic.Partitions {
		address, err := l.Leader(s.context(t), topic, partition)
		if err != nil || !slices.Contains(s.options[s.level].Endpoints, address) {
			t.Errorf("%q leads partition %d, which is none of %v: %v", address, partition,
				s.options[s.level].Endpoints, err)
		}
		t.Logf("%s leads partition %d", address, partition)
	}
	none := system.Topic{Name: topic.Name + "-none", Partitions: 1}
	if address, err := l.Leader(s.context(t), none, 0); err == nil {
		t.Errorf("%q leads a topic that does not exist", address)
	}
}

func (s *suite) durability(t *testing.T) {
	for l := workload.SyncSync; l <= workload.AsyncAsync; l++ {
		name := string('0' + rune(l))
		if s.System.Describe().Levels[l].Refusal == "" && s.has(l) {
			s.optionsFor(t, l) // for both tests
			t.Run("level_"+name+"_reads_back", func(t *testing.T) { s.readsBack(t, l) })
			t.Run("level_"+name+"_waits_for", func(t *testing.T) { s.acknowledged(t, l) })
		} else {
			t.Run("level_"+name+"_is_refused", func(t *testing.T) { s.refuses(t, l) })
		}
	}
}

func (s *suite) readsBack(t *testing.T, l workload.Level) {
	o := s.optionsFor(t, l)
	c := s.connectWith(t, o)
	topic := s.topic(t, c, partitions)
	s.sendSome(t, c, topic)
	e, err := c.ReadDurability(s.context(t), []system.Topic{topic})
	must(t, "reading durability", err)
	if e.Level != l {
		t.Errorf("asked for level %d, read %d: %v", l, e.Level, e.Facts)
	}
	if len(e.Facts) == 0 {
		t.Error("the level was read without a fact")
	}
	for _, f := range e.Facts {
		if f.Where == "" || f.Name == "" || f.Source == "" {
			t.Errorf("a fact is incomplete: %+v", f)
		}
		t.Logf("%s: %s = %s (%s)", f.Where, f.Name, f.Value, f.Source)
	}
}

// sendSome sends a few messages, because a level that waits for a disk is slow.
func (s *suite) sendSome(t *testing.T, c system.Cluster, topic system.Topic) {
	t.Helper()
	p := s.sender(t, c, topic, 0)
	ctx := s.context(t)
	must(t, "sending", p.sendMany(ctx, 2*partitions))
	must(t, "waiting for acknowledgements", p.await(ctx))
	p.mustAll(t)
}

func (s *suite) refuses(t *testing.T, l workload.Level) {
	o := s.options[s.level]
	o.Durability = l
	c, err := s.System.Connect(s.context(t), o)
	if err != nil {
		return
	}
	defer s.close(t, c)
	if c.CreateTopic(s.context(t), system.Topic{Name: "systemtest-refused", Partitions: 1}) == nil {
		t.Error("a topic was created at a level that the system refuses")
	}
}

func (s *suite) nobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, "listening", err)
	l.Close()
	s.unreachable(t, l.Addr().String())
}

// silentEndpoint accepts connections and never answers.
func (s *suite) silentEndpoint(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, "listening", err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
		}
	}()
	defer func() { l.Close(); <-ended }()
	s.unreachable(t, l.Addr().String())
}

func (s *suite) unreachable(t *testing.T, address string) {
	t.Helper()
	o := s.options[s.level]
	o.Endpoints = []string{address}
	ctx, cancel := context.WithTimeout(context.Background(), 3*connectWithin)
	defer cancel()
	start := time.Now()
	c, err := s.System.Connect(ctx, o)
	took := time.Since(start)
	if err == nil {
		s.close(t, c)
		t.Fatal("connecting succeeded")
	}
	if took > connectWithin {
		t.Errorf("connecting failed only after %v", took)
	}
	if !strings.Contains(err.Error(), address) {
		t.Errorf("the error does not name %s: %v", address, err)
	}
	t.Logf("after %v: %v", took, err)
}
