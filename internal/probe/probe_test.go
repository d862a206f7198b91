package probe

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/golden"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/target"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answers probes a system in virtual time.
func answers(t *testing.T, s system.System, o system.Options, only ...string) Column {
	t.Helper()
	var c Column
	synctest.Test(t, func(t *testing.T) {
		var err error
		c, err = On(t.Context(), Subject{Name: "it", System: s, Options: o, Rows: only}, nil)
		if err != nil {
			t.Fatal(err)
		}
	})
	for _, f := range c.Findings {
		if len(f.Evidence) == 0 || (f.Answer == Conditional) != (f.Condition != "") {
			t.Errorf("%s: %s without evidence, or with a condition too many or too few: %+v", f.Row,
				f.Answer, f)
		}
	}
	if len(c.Warnings) > 0 {
		t.Errorf("warnings: %v", c.Warnings)
	}
	return c
}

// well holds the answers that a fake without a fault must get.
func well() map[string]Answer {
	all := map[string]Answer{}
	for _, name := range Rows() {
		all[name] = Yes
	}
	// Two consumers share a partition, so the messages of one come late to the other.
	all["order on redelivery"] = Conditional
	return all
}

// Each planted fault changes the right answers, and no others.
func TestPlantedTruth(t *testing.T) {
	for plant, changed := range map[planted]map[string]Answer{
		nothing: {},
		reorders: {
			"order in a partition": No, "global order": No, "order on redelivery": No,
		},
		merges:  {"multicast": No, "routing: fanout": No},
		forgets: {"at least once": No, "redelivery": No},
		hoards:  {"competing consumers": No, "order on redelivery": Yes},
		learns:  {"order on redelivery": Yes},
		copies:  {"competing consumers": No},
		doubles: {
			"competing consumers": No, "at most once": No, "order on redelivery": Conditional,
		},
		noPast: {"replay": No},
	} {
		t.Run(string(plant), func(t *testing.T) {
			want := well()
			maps.Copy(want, changed)
			hold(t, answers(t, newFake(plant), system.Options{}), want)
		})
	}
}

// A capability that could not be tried is unknown, and a missing one is no with a reason.
func TestReasons(t *testing.T) {
	t.Run(string(refuses), func(t *testing.T) {
		c := answers(t, newFake(refuses), system.Options{}, "multicast", "replay", "at least once")
		hold(t, c, map[string]Answer{"multicast": Unknown, "replay": Unknown,
			"at least once": Unknown})
		if got := c.Findings[0].Evidence[0]; !strings.Contains(got, "there is no room") {
			t.Errorf("the reason is not told: %s", got)
		}
	})
	for plant, want := range map[planted]Answer{mute: Unknown, lacksAll: No} {
		t.Run(string(plant), func(t *testing.T) {
			for _, f := range answers(t, newFake(plant), system.Options{}).Findings {
				untried := f.Row == "replay" || f.Stated || plant == mute &&
					rows[slices.Index(Rows(), f.Row)].try == nil
				if untried != (f.Answer == want) {
					t.Errorf("%s: %s: %v", f.Row, f.Answer, f.Evidence)
				}
				if f.Stated && !slices.Equal(f.Evidence, []string{"no protocol has it",
					"stated, and not tried: a book"}) {
					t.Errorf("the reason and the source are not told: %v", f.Evidence)
				}
			}
		})
	}
}

// A system that delivers nothing, or too little, must not get a yes.
func TestSilenceIsNoYes(t *testing.T) {
	for _, plant := range []planted{deaf, loses, hangs} {
		t.Run(string(plant), func(t *testing.T) {
			for _, f := range answers(t, newFake(plant), system.Options{}).Findings {
				excused := f.Stated
				if plant != deaf {
					// These may lose messages, or see too few for a loss.
					excused = excused || f.Row == "at most once" || f.Row == "redelivery"
				}
				if !excused && (f.Answer == Yes || f.Answer == Conditional) {
					t.Errorf("%s: %s: %v", f.Row, f.Answer, f.Evidence)
				}
			}
		})
	}
}

func hold(t *testing.T, c Column, want map[string]Answer) {
	t.Helper()
	if len(c.Findings) != len(want) {
		t.Errorf("%d findings, want %d", len(c.Findings), len(want))
	}
	for _, f := range c.Findings {
		if f.Answer != want[f.Row] {
			t.Errorf("%s: %s, want %s: %v", f.Row, f.Answer, want[f.Row], f.Evidence)
		}
	}
}

// The probes find exactly the messages that the simulated system swaps.
func TestOrderOfTheSimulatedSystem(t *testing.T) {
	for swaps, want := range map[string]Answer{"0": Yes, "200000": No} {
		s := sim.New(clock.Timers(), nil)
		settings, err := system.Resolve(s.Describe().Settings,
			[]target.Setting{{Name: "swap_per_million", Value: swaps}})
		if err != nil {
			t.Fatal(err)
		}
		c := answers(t, s, system.Options{Settings: settings}, "order in a partition", "multicast",
			"time decoupling")
		hold(t, c, map[string]Answer{"order in a partition": want, "multicast": Yes,
			"time decoupling": Yes})
	}
}

// The output fits the width, and can be read back.
func TestPrinting(t *testing.T) {
	c := Column{Name: "rabbitmq quorum", System: "rabbitmq", Client: "library 1.0",
		Servers: []string{"n1 3.10"}, Durability: 2, Warnings: []string{"a topic was left"}}
	for i, name := range Rows() {
		f := Finding{Row: name, Answer: []Answer{Yes, No, Conditional, Unknown}[i%4],
			Evidence: []string{"sent | and\x1b[31m came " + strings.Repeat("long ", 40) +
				strings.Repeat("x", 130)}, Stated: i%5 == 1}
		if f.Answer == Conditional {
			f.Condition = "a <setting>"
		}
		c.Findings = append(c.Findings, f)
	}
	other := c
	other.Name, other.Findings = "kafka", nil
	columns := []Column{c, other}
	for _, one := range []struct {
		name  string
		print func(*bytes.Buffer) error
	}{
		{"table", func(b *bytes.Buffer) error { return terminal(b, columns) }},
		{"md", func(b *bytes.Buffer) error { return document.Markdown(b, Document(columns)) }},
		{"json", func(b *bytes.Buffer) error { return JSON(b, columns) }},
	} {
		var b bytes.Buffer
		if err := one.print(&b); err != nil {
			t.Fatal(err)
		}
		golden.Compare(t, "testdata/printed."+one.name, b.String())
		if one.name == "table" {
			fits(t, b.String())
		}
		if one.name == "json" {
			back, err := Parse(b.Bytes())
			if err != nil || len(back) != 2 ||
				!slices.EqualFunc(back[0].Findings, c.Findings,
					func(a, b Finding) bool {
						return a.Answer == b.Answer && a.Stated == b.Stated &&
							a.Condition == b.Condition
					}) {
				t.Errorf("it does not read back: %v", err)
			}
		}
	}
}

// width is that of the tables in the tests.
const width = 100

func terminal(b *bytes.Buffer, all []Column) error {
	return document.Terminal(b, Document(all), document.Layout{Width: width})
}

// fits checks that no line is wider than a terminal or controls it.
func fits(t *testing.T, table string) {
	t.Helper()
	for line := range strings.Lines(table) {
		n := len([]rune(strings.TrimSuffix(line, "\n")))
		if n > width || strings.ContainsRune(line, '\x1b') {
			t.Errorf("%d columns wide, or with an escape: %q", n, line)
		}
	}
}

// Printing works for any parsed input.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`[{"name":"a","system":"a","client":"","servers":null,"durability_level":1,` +
		`"at":"2026-01-01T00:00:00Z",` +
		`"findings":[{"row":"replay","answer":"yes","evidence":["x"]}]}]`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		all, err := Parse(raw)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := terminal(&b, all); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > width {
				t.Errorf("%d columns wide: %q", n, line)
			}
		}
	})
}

// The document and the output of plimsoll systems have the same source.
func TestDocumentIsWhatWasObserved(t *testing.T) {
	all, err := Parse(observed)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := document.Markdown(&b, Document(all)); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile("../../docs/results/PROBES.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kept, b.Bytes()) {
		t.Error("docs/results/PROBES.md is not what internal/probe/observed.json prints: run " +
			"make probes")
	}
	for _, c := range all {
		for _, name := range Rows() {
			if f := c.Finding(name); f.Answer == Unknown {
				t.Errorf("%s, %s: the probe failed: %v", c.Name, name, f.Evidence)
			}
		}
	}
}

func TestServersAreSaidOnce(t *testing.T) {
	for want, lines := range map[string][]string{
		"servers of unknown version": nil,
		"n1 2.15":                    {"n1 2.15"},
		"3 servers, each Kafka 4.3, by its protocol": {"broker 1 Kafka 4.3, by its protocol",
			"broker 2 Kafka 4.3, by its protocol", "broker 3 Kafka 4.3, by its protocol"},
		"n1 2.14, n2 2.15": {"n1 2.14", "n2 2.15"},
	} {
		if got := servers(Column{Servers: lines}); got != want {
			t.Errorf("%v: %q, want %q", lines, got, want)
		}
	}
}
