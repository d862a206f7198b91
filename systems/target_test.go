package systems

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
)

// Every target that is built in is found by its name, is of the system that has it, and
// has settings that the system knows.
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
