package runs

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
)

// A producer is not the same thing on every system: the forms for people say on how many
// connections the clients are.
func TestConnectionsAreCounted(t *testing.T) {
	s := fixture.Small.Load(t)
	s.Run.Load.Producers, s.Run.Load.Consumers, s.Run.Connections = 8000, 2, 66
	for format, want := range map[string]string{
		"table": "8,000 producers, 2 consumers on 66 connections to the servers",
		"html":  "8,000 producers, 2 consumers on 66 connections to the servers",
		"md":    "8,000 producers, 2 consumers on 66 connections to the servers",
		"json":  `"connections": 66`,
	} {
		if out := fixture.Words(string(render(t, format, s))); !strings.Contains(out, want) {
			t.Errorf("%s does not say %q:\n%s", format, want, out)
		}
	}
	other := fixture.Small.Load(t)
	other.Run.Connections = 24_000
	if out := fixture.Words(string(render(t, "md", s, other))); !strings.Contains(out,
		"| connections of producers and consumers | 66 | 24,000 |") {
		t.Errorf("a comparison does not show the connections:\n%s", out)
	}
}
