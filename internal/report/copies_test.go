package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/result"
)

// single is a run on a cluster that keeps a single copy of each message.
func single(t *testing.T, name string) *result.Saved {
	shape := small
	shape.name, shape.level = name, 4
	s := shape.load(t)
	s.Run.Durability.Copies = 1
	s.Run.Durability.Meaning = "received by one replica, " + result.SingleCopy
	return s
}

// Every form that names the durability says that there is a single copy.
func TestSingleCopyIsNamed(t *testing.T) {
	one, other := single(t, "redis-1"), single(t, "kafka-1")
	several := small.load(t)
	for _, side := range [][]*result.Saved{{one}, {one, other}, {one, several}} {
		for _, format := range texts(Formats()) {
			if slices.Contains([]string{"intervals", "resources", "omb"}, format) {
				continue // figures of each second, and another tool's fields
			}
			out := stripSpaces(string(render(t, format, side...)))
			if format == "csv" {
				head, rows, _ := strings.Cut(out, " ")
				at := slices.Index(strings.Split(head, ","), "durability_copies")
				if at < 0 || strings.Split(strings.Fields(rows)[0], ",")[at] != "1" {
					t.Errorf("csv has no column with a single copy: %s", out)
				}
				continue
			}
			if !strings.Contains(out, result.SingleCopy) {
				t.Errorf("%s of %d runs does not say that there is a single copy:\n%s", format,
					len(side), out)
			}
		}
	}
	out := stripSpaces(string(render(t, "table", one, several)))
	if !strings.Contains(out, "not comparable: some keep a single copy of each message") {
		t.Errorf("a single copy is ranked beside several:\n%s", out)
	}
	var b strings.Builder
	found := searched("redis-1")
	found.Durability = one.Run.Durability
	if err := Searches([]*peak.Saved{found}).Write(&b, "table", document.Layout{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(stripSpaces(b.String()), result.SingleCopy) {
		t.Errorf("a search does not say that there is a single copy:\n%s", &b)
	}
	if names := Formats(); !slices.Contains(names, "card") || !slices.Contains(names, "post") {
		t.Errorf("the formats are %v", names)
	}
}

// A producer is not the same thing on every system: the forms for people say on how many
// connections the clients are.
func TestConnectionsAreCounted(t *testing.T) {
	s := small.load(t)
	s.Run.Load.Producers, s.Run.Load.Consumers, s.Run.Connections = 8000, 2, 66
	for format, want := range map[string]string{
		"table": "8,000 producers, 2 consumers on 66 connections to the servers",
		"html":  "8,000 producers, 2 consumers on 66 connections to the servers",
		"md":    "8,000 producers, 2 consumers on 66 connections to the servers",
		"json":  `"connections": 66`,
	} {
		if out := stripSpaces(string(render(t, format, s))); !strings.Contains(out, want) {
			t.Errorf("%s does not say %q:\n%s", format, want, out)
		}
	}
	other := small.load(t)
	other.Run.Connections = 24_000
	if out := stripSpaces(string(render(t, "md", s, other))); !strings.Contains(out,
		"| connections of producers and consumers | 66 | 24,000 |") {
		t.Errorf("a comparison does not show the connections:\n%s", out)
	}
}
