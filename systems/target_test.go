package systems

import (
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/probe"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Every built-in target is found by its name, belongs to its system, and has settings that the
// system knows.
func TestBuiltInTargets(t *testing.T) {
	found := 0
	for _, s := range All() {
		for _, name := range TargetNames(s) {
			parsed, source, err := FindTarget(name)
			if err != nil || source == "" {
				t.Errorf("%s: %v", name, err)
				continue
			}
			found++
			d := s.Describe()
			if parsed.Name != name || parsed.System != d.Name {
				t.Errorf("target %s is called %s and is of %s, want %s", name, parsed.Name,
					parsed.System, d.Name)
			}
			if _, err := system.Resolve(d.Settings, parsed.Settings); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, _, err := FindTarget(s.Describe().Name); err != nil {
			t.Error(err)
		}
	}
	if found == 0 {
		t.Error("no target is built in")
	}
	if _, _, err := FindTarget("nothing"); err == nil {
		t.Error("a target that is not there was found")
	}
}

func TestTheDefaultIsASystem(t *testing.T) {
	if _, err := Registry().Get(Default); err != nil {
		t.Error(err)
	}
}

// Every system whose servers need software of the machine implements system.SoftwareFinder, which
// --skip-missing relies on. Only servers that are part of plimsoll need none.
func TestStartedServersSayWhichSoftwareTheyNeed(t *testing.T) {
	for _, s := range All() {
		_, provisions := s.(system.Provisioner)
		_, own := s.(system.NodeServer)
		_, says := s.(system.SoftwareFinder)
		if provisions && !own && !says {
			t.Errorf("%s starts servers and is no system.SoftwareFinder: add FindSoftware with "+
				"driver.Programs or driver.FindJava", s.Describe().Name)
		}
	}
}

func TestLocal(t *testing.T) {
	local := Local()
	for name, want := range map[string]bool{
		"kafka": true, "nats": true, "rabbitmq-quorum": true, "rabbitmq-stream": true,
		"rabbitmq": false, // its targets take its place
		"sim":      false, // it has no servers
	} {
		if slices.Contains(local, name) != want {
			t.Errorf("%s is among %v: want %v", name, local, want)
		}
	}
	if _, _, err := FindTarget(AllLocal); err == nil {
		t.Errorf("a target is called %s", AllLocal)
	}
}

// What no probe tries is stated by every system with servers, for each of its variants, once and
// with a source. A condition is what it takes, and a reason says what stands in its place.
func TestCapabilitiesAreStated(t *testing.T) {
	for _, s := range All() {
		if _, embedded := s.(system.Embedded); embedded {
			continue
		}
		for _, name := range append(TargetNames(s), s.Describe().Name) {
			statesEach(t, s, name)
		}
	}
}

// statesEach checks the statements for the settings of a target.
func statesEach(t *testing.T, s system.System, name string) {
	t.Helper()
	parsed, _, err := FindTarget(name)
	if err != nil {
		t.Fatal(err)
	}
	d := s.Describe()
	settings, err := system.Resolve(d.Settings, parsed.Settings)
	if err != nil {
		t.Fatal(err)
	}
	stated := make(map[system.Capability]int)
	for _, one := range d.Capabilities(system.Options{Settings: settings,
		Durability: workload.SyncAsync}) {
		stated[one.Capability]++
		if one.Source == "" || one.Why == "" && one.Condition == "" {
			t.Errorf("%s: %s has no source, or neither a reason nor a condition", name,
				one.Capability)
		}
	}
	for _, row := range probe.Untried() {
		if n := stated[row]; n != 1 {
			t.Errorf("%s states %s %d times", name, row, n)
		}
	}
}

// Every target that can start here has a column in the results of the last make probes.
func TestEveryTargetWasProbed(t *testing.T) {
	for _, name := range Local() {
		parsed, _, err := FindTarget(name)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := probe.Observed(parsed.System)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(columns,
			func(c probe.Column) bool {
				return c.Name == name || strings.HasPrefix(c.Name, name+" ") // and its variant
			}) {
			t.Errorf("%s was not probed: run make probes", name)
		}
	}
}
