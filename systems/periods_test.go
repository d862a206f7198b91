package systems

import (
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
)

// Each period is one of work with a name, and has a length or a setting that gives it.
func TestPeriodsHaveALength(t *testing.T) {
	declared := 0
	for _, s := range All() {
		d := s.Describe()
		settings, err := system.Resolve(d.Settings, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range d.Periods {
			declared++
			every := p.Every
			if p.Setting != "" {
				every = settings.Duration(p.Setting) // which panics if it is none
			}
			if p.What == "" || every < time.Second || (p.Every == 0) == (p.Setting == "") {
				t.Errorf("%s: %+v lasts %s", d.Name, p, every)
			}
		}
	}
	if declared < 3 {
		t.Errorf("%d periods", declared)
	}
}
