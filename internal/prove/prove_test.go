package prove

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/plimsoll-bench/plimsoll/internal/raced"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// On virtual time the instrument has no error. Therefore each printed figure must agree with
// the planted value within the histogram's resolution and the sampling error.
func TestTruthsHoldOnVirtualTime(t *testing.T) {
	for _, truth := range Truths() {
		t.Run(truth.Name, func(t *testing.T) {
			if truth.RealTime != "" {
				t.Skip(truth.RealTime)
			}
			if raced.Detector && strings.HasPrefix(truth.Name, "peak") {
				t.Skip("a search of many messages: runs without the race detector")
			}
			for _, row := range virtually(t, truth).Rows {
				if row.Verdict != Holds {
					t.Errorf("%s: planted %s, printed %s, error %s, allowed %s: %s (%s)",
						row.Figure, row.Planted, row.Printed,
						row.errorText(), row.allowedText(), row.Verdict, row.Why)
				}
			}
		})
	}
}

// virtually tries a truth on virtual time.
func virtually(t *testing.T, truth Truth) *Tried {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	var tried *Tried
	synctest.Test(t, func(t *testing.T) {
		var err error
		o := Options{Clock: clock.Virtual(), Virtual: true, Process: time.Now()}
		tried, err = try(t.Context(), truth, o)
		if err != nil {
			t.Fatal(err)
		}
	})
	if len(tried.Rows) == 0 {
		t.Error("no figure was checked")
	}
	return tried
}

func TestTruthsAreNamedAndDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, truth := range Truths() {
		if truth.Name == "" || seen[truth.Name] || strings.ContainsAny(truth.Name, " -") {
			t.Errorf("the name %q is empty, used twice or not a word", truth.Name)
		}
		seen[truth.Name] = true
		if truth.Planted == "" || len(truth.Checks) == 0 {
			t.Errorf("%s plants %q and checks %d figures",
				truth.Name, truth.Planted, len(truth.Checks))
		}
	}
	if len(seen) < 20 {
		t.Errorf("%d truths, want at least twenty", len(seen))
	}
}
