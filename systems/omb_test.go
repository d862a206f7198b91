package systems

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/golden"
	"github.com/plimsoll-bench/plimsoll/internal/omb"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

const classPrefix = "io.openmessaging.benchmark.driver."

// driverFiles are OMB's drivers of each system, and of systems that plimsoll does not
// drive.
func driverFiles(t testing.TB) map[string][]byte {
	t.Helper()
	files := golden.Inputs(t, "testdata/omb/*.yaml")
	maps.Copy(files, golden.Inputs(t, "*/testdata/omb/*.yaml"))
	return files
}

// TestOMBDrivers compares the translation of every driver with a golden file: the target with its
// notes, which its system must accept, or the error. None of it may contain the inputs' secret.
func TestOMBDrivers(t *testing.T) {
	dialects, took := omb.Of(All()), map[string]int{}
	for file, src := range driverFiles(t) {
		t.Run(file, func(t *testing.T) {
			d, err := omb.ParseDriver(dialects, filepath.Base(file), src)
			var text, notes string
			if err != nil {
				text = err.Error() + "\n"
				if _, ok := err.(strict.Violations); !ok {
					t.Errorf("error %T", err)
				}
			} else {
				text, notes = d.YAML(), strings.Join(d.Notes, "\n")
				took[isTaken(t, d)]++
			}
			for _, secret := range []string{"hunter2", "hunt/", "er2"} {
				if strings.Contains(text+notes, secret) {
					t.Errorf("it shows the secret:\n%s", text)
				}
			}
			golden.Compare(t, strings.TrimSuffix(file, ".yaml")+".golden", text)
		})
	}
	for _, dialect := range dialects {
		if took[dialect.System] < 2 {
			t.Errorf("%d driver files became targets of %s", took[dialect.System], dialect.System)
		}
	}
}

// isTaken checks that the system accepts the target at its level.
func isTaken(t *testing.T, d *omb.Driver) string {
	t.Helper()
	parsed, err := target.Parse("target.yaml", []byte(d.YAML()))
	if err != nil {
		t.Fatalf("the target does not parse: %v\n%s", err, d.YAML())
	}
	s, err := Registry().Get(parsed.System)
	if err != nil {
		t.Fatal(err)
	}
	settings, err := system.Resolve(s.Describe().Settings, parsed.Settings)
	if err != nil {
		t.Fatalf("the system does not know the settings: %v", err)
	}
	check := system.Check{Settings: settings, Durability: d.Level, Delivery: workload.AtLeastOnce,
		Nodes: parsed.Testbed.Nodes}
	if err := s.Check(check); err != nil {
		t.Errorf("the system refuses it at level %d: %v", d.Level, err)
	}
	return parsed.System
}

// Escapes in properties can produce any character. None may reach a terminal, or end a comment in
// the target.
func TestNotesArePrintable(t *testing.T) {
	src := "driverClass: " + classPrefix + "kafka.KafkaBenchmarkDriver\nreplicationFactor: " +
		"3\nproducerConfig: |\n" +
		`  bad\u001b[2J\nname\nsystem\: sim=1` + "\n" + `  acks=\u001b\n\u2028system: sim` + "\n"
	d, err := omb.ParseDriver(omb.Of(All()), "x.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := target.Parse("target.yaml", []byte(d.YAML()))
	if err != nil || parsed.System != "kafka" {
		t.Fatalf("%v\n%s", err, d.YAML())
	}
	if strings.ContainsAny(d.YAML()+strings.Join(d.Notes, ""), "\x1b\u2028") {
		t.Errorf("control characters reach the notes:\n%q", d.YAML())
	}
}

// A result says how OMB's driver measured, and uses plimsoll's name of the system.
func TestCaveatsOfOMBDrivers(t *testing.T) {
	named := map[string]string{"Kafka": "kafka", "Pulsar": "pulsar", "RabbitMQ": "rabbitmq",
		"nats": "nats", "Redis": "redis"}
	caveats := map[string]string{
		"Kafka": "record's timestamp", "Redpanda": "record's timestamp", "Pulsar": "publish time",
		"kop": "Kafka on Pulsar", "RabbitMQ": "acknowledges automatically", "nats": "share",
		"STAN": "Streaming", "Redis": "leaves out the way to the broker",
	}
	for driver := range maps.Keys(caveats) {
		const figures = `"messageSize": 1, "publishRate": [1], "consumeRate": [1],
			"aggregatedPublishLatencyQuantiles": {"100": 3},
				"aggregatedEndToEndLatencyQuantiles": {"100": 3}`
		r, err := omb.ParseResult("x.json",
			[]byte(`{"workload": "w", "driver": "`+driver+`", `+figures+`}`))
		if err != nil {
			t.Fatal(err)
		}
		dir, err := omb.Save(t.TempDir(), "x.json", r, omb.Known{Dialects: omb.Of(All())},
			result.Build{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		saved, err := result.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		if want := named[driver]; want != "" && saved.Run.System.Name != want {
			t.Errorf("the system of driver %s is called %s, want %s", driver, saved.Run.System.Name,
				want)
		}
		if notes := strings.Join(saved.Run.Imported.Notes, "\n"); !strings.Contains(notes,
			caveats[driver]) {
			t.Errorf("%s: no note says %q:\n%s", driver, caveats[driver], notes)
		}
	}
}

func FuzzOMBDriver(f *testing.F) {
	for _, src := range driverFiles(f) {
		f.Add(src)
	}
	dialects := omb.Of(All())
	f.Fuzz(func(t *testing.T, src []byte) {
		d, err := omb.ParseDriver(dialects, "fuzz.yaml", src)
		if (d == nil) == (err == nil) {
			t.Fatal("neither a driver nor an error, or both")
		}
		if err != nil {
			if _, ok := err.(strict.Violations); !ok || err.Error() == "" {
				t.Fatalf("error %T %v", err, err)
			}
			return
		}
		if _, err := target.Parse("fuzz.yaml", []byte(d.YAML())); err != nil {
			t.Fatalf("the target does not parse: %v\n%s", err, d.YAML())
		}
	})
}
