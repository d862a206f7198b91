package runs

import (
	"bytes"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/report/overview"
	"github.com/plimsoll-bench/plimsoll/result"
)

// manyTargets are runs of the names that a comparison of all systems has: one lost messages, one
// is at a weaker level, one was limited by plimsoll, one was interrupted, one left messages unread.
func manyTargets(t *testing.T) []*result.Saved {
	t.Helper()
	var runs []*result.Saved
	for i, name := range []string{"kafka", "pulsar", "rabbitmq-quorum", "rabbitmq-classic",
		"activemq-leveldb", "artemis-mirror", "postgres-queue", "postgres-log", "redis",
		"mongodb-replica-set", "eventstore", "nats"} {
		of := fixture.KafkaThree
		of.Name, of.System, of.MedianU, of.StallAt, of.Level = name, name, 500+100*float64(i), 0, 2
		switch name {
		case "rabbitmq-classic":
			of.Level = 3
		case "redis":
			of.Lost = 12
		case "nats":
			of = fixture.NatsInside
			of.Name = name
		}
		s := of.Load(t)
		s.Run.Asked.LeftOut = []string{"sqs: this machine lacks Java 17 or newer: install it"}
		switch name {
		case "rabbitmq-classic":
			s.Run.Asked.Weaker = "measured at durability level 3, not 2: it has one copy"
		case "postgres-log":
			s.Run.Summary.Generator.Limited, s.Run.Summary.Generator.OwnLagP99Ns = true, 9e9
		case "mongodb-replica-set":
			s.Run.Ledger.Subscriptions[0].Unread = 20_804
		case "eventstore":
			s.Run.State = result.Interrupted
		}
		runs = append(runs, s)
	}
	return runs
}

func TestManyRunsAreOneTable(t *testing.T) {
	runs := manyTargets(t)
	var b bytes.Buffer
	if err := document.Terminal(&b, runDocument(runs), document.Layout{Width: 100}); err != nil {
		t.Fatal(err)
	}
	fixture.Golden(t, "many.table", b.Bytes())
	for line := range strings.Lines(b.String()) {
		if len([]rune(line)) > 101 { // with the end of the line
			t.Errorf("%d columns: %s", len([]rune(line)), line)
		}
	}
	for i, s := range runs {
		if n := strings.Count(b.String(), "\n"+s.Run.Name+"  "); n != 1 {
			t.Errorf("run %d, %s, has %d lines", i, s.Run.Name, n)
		}
	}
	b.Reset()
	if err := document.Terminal(&b, runDocument(runs[:overview.ManyRuns-1]),
		document.Layout{Width: 100}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "\nholds ") {
		t.Error("few runs have no section each")
	}
}

func TestNarrowOverviewKeepsTheLevel(t *testing.T) {
	var b bytes.Buffer
	if err := document.Terminal(&b, runDocument(manyTargets(t)),
		document.Layout{Width: 60, Color: true}); err != nil {
		t.Fatal(err)
	}
	fixture.Says(t, "a narrow terminal", b.String(), "level", "acked", "lost")
}

func TestPageOfManyRuns(t *testing.T) {
	many := manyTargets(t)
	says(t, "html", many,
		`<table class="t-overview`, "<th scope=\"row\">mongodb-replica-set</th>",
		"<details><summary>What differs (", "left out: sqs: this machine lacks Java",
		"rabbitmq-classic: measured at durability level 3, not 2: it has one copy",
		">limited by plimsoll itself<", `class="swatch c1 d1"`,
		"Not to be ranked against one another", "their durability differs (level 2, level 3")
	says(t, "html", many[:2], "t-overview")
	fixture.SaysNot(t, "a page of few runs", render(t, "html", many[:2]...),
		"<summary>What differs")
	says(t, "md", many, "left out: sqs")
}
