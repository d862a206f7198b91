package systemtest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Clients tests what a system declares for each aim of the clients, and its waits. It needs no
// server.
func Clients(t *testing.T, s system.System) {
	d := s.Describe()
	for _, word := range workload.ClientWords() {
		aim, declared := d.Clients[word]
		if !declared || aim.How == "" {
			t.Errorf("clients: %s: not declared, or without a word on how", word)
		}
		aimed(t, s, word)
		for _, own := range aim.Sets {
			ownWins(t, d, word, own)
		}
	}
	if n := len(d.Clients); n != len(workload.ClientWords()) {
		t.Errorf("%d words are declared: an unknown one is among them", n)
	}
	if len(d.Clients[workload.ClientsDefault].Sets) > 0 {
		t.Errorf("clients: %s sets something: change the defaults", workload.ClientsDefault)
	}
}

// leastPoll is the longest wait that an idle consumer may have with clients: latency, where it has
// to ask again and again.
const leastPoll = time.Millisecond

// aimed tests that the system accepts what a word sets at every level, and that the waits that it
// declares are as the word says.
func aimed(t *testing.T, s system.System, word workload.Clients) {
	t.Helper()
	d := s.Describe()
	if _, err := system.Resolve(d.Settings, d.Clients[word].Sets); err != nil {
		t.Errorf("clients: %s: %v", word, err)
	}
	settings, err := d.Resolve(word, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := system.Check{Settings: settings, Delivery: workload.AtLeastOnce}
	for l, g := range d.Levels {
		c.Durability = l
		if g.Refusal != "" {
			continue
		}
		if err := s.Check(c); err != nil {
			t.Errorf("clients: %s at level %d: %v", word, l, err)
		}
	}
	for _, w := range d.WaitsOf(c) {
		most := time.Duration(w.MostNs)
		limit := map[workload.Clients]time.Duration{workload.ClientsLatency: leastPoll,
			workload.ClientsThroughput: workload.ThroughputWait,
			workload.ClientsDefault:    most}[word]
		if word == workload.ClientsLatency && w.Series == result.Publish {
			limit = 0
		}
		if w.Series != "" && most > limit {
			t.Errorf("clients: %s: %s: at most %v is allowed", word, w.Sentence, limit)
		}
		if strings.Contains(w.Sentence, "%!") ||
			!strings.HasSuffix(w.Sentence, "("+w.Setting+")") ||
			!slices.ContainsFunc(d.Settings,
				func(s system.Setting) bool { return s.Name == w.Setting }) {
			t.Errorf("wait %q: not a sentence with one %%s, or of an unknown setting", w.Sentence)
		}
	}
}

// ownWins tests that a target's own value of a setting wins over the word's.
func ownWins(t *testing.T, d system.Description, word workload.Clients, of target.Setting) {
	t.Helper()
	at := slices.IndexFunc(d.Settings, func(s system.Setting) bool { return s.Name == of.Name })
	if at < 0 || d.Settings[at].Server {
		t.Errorf("clients: %s sets %s, which is no setting of clients", word, of.Name)
		return
	}
	own := target.Setting{Name: of.Name, Value: d.Settings[at].Default}
	s, err := d.Resolve(word, []target.Setting{own})
	if err != nil {
		t.Fatal(err)
	}
	set, kept := s.Aimed()
	if s.Text(of.Name) != own.Value || slices.Contains(set, of) || !slices.Contains(kept, own) {
		t.Errorf("clients: %s: the target's own %s is %q; set %v, kept %v", word, of.Name,
			s.Text(of.Name), set, kept)
	}
}
