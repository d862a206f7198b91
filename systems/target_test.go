package systems

import (
	"slices"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
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
