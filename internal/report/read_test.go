package report

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/report/form"
)

// Experiments of two kinds are refused without a word of runs, which there are none of.
func TestKindsAreNotMixed(t *testing.T) {
	read := folders("sweeps", func(dir string) bool { return dir == "sweep" },
		func(string) (form.Report, error) { return form.Report{}, nil },
		func(all []form.Report) form.Report { return all[0] })
	_, _, err := read([]string{"sweep", "study"})
	if err == nil || !strings.HasPrefix(err.Error(), "sweeps and other results cannot be") {
		t.Errorf("a sweep and a study: %v", err)
	}
}
