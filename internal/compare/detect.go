package compare

import (
	"math"
	"math/rand/v2"
	"sync"

	moremath "github.com/aclements/go-moremath/stats"

	"github.com/plimsoll-bench/plimsoll/internal/stats"
)

// Power is the share of comparisons that show a difference of Effect.Detectable.
const Power = 0.9

// scatter is the scatter of a figure, in the form that its test needs.
type scatter struct {
	se   float64 // of the ratio's logarithm: of a test by Student's distribution
	dof  float64
	sd   float64 // of the values' logarithms within a side: of a test by ranks
	a, b int     // values of each side
}

// spread returns the pooled standard deviation of the logarithms within both sides.
func spread(a, b spans) float64 {
	sum, dof := 0.0, 0.0
	for _, side := range []spans{a, b} {
		logs := logarithms(side.least())
		if n := float64(len(side) - 1); n > 0 {
			sum, dof = sum+n*moremath.Variance(logs), dof+n
		}
	}
	if dof == 0 {
		return 0
	}
	return math.Hypot(math.Sqrt(sum/dof), resolution)
}

// Detectable returns the difference, as a share, that Power of such comparisons would show: with
// as many runs, the same scatter, the same test and the same threshold. It includes the
// uncertainty of the scatter, and assumes normal logarithms. It is false where no difference
// could be shown, or the scatter is not known.
func (e Effect) Detectable() (float64, bool) {
	s := e.scatter
	switch {
	case !e.Tested() || e.alpha <= 0:
		return 0, false
	case s.se > 0:
		needed := test{dof: s.dof, alpha: e.alpha}.needed()
		return e.withInstrument(math.Expm1(needed * s.se)), true
	case s.sd > 0 && stats.CriticalU(s.a, s.b, e.alpha/2) >= 0:
		needed := test{a: s.a, b: s.b, alpha: e.alpha}.needed()
		return e.withInstrument(math.Expm1(needed * s.sd)), true
	}
	return 0, false
}

// test holds everything that decides the smallest difference shown by a test, in units of the
// scatter.
type test struct {
	dof   float64
	a, b  int
	alpha float64
}

// needs caches the results of needed, a pure function of a test that takes long.
var needs sync.Map

// needed returns the least difference that the test shows in Power of all cases.
func (t test) needed() (least float64) {
	if known, ok := needs.Load(t); ok {
		return known.(float64)
	}
	random := rand.New(rand.NewPCG(uint64(t.a), uint64(t.b)))
	if t.dof > 0 {
		least = stats.NeededByStudent(random, t.dof, t.alpha, Power)
	} else {
		least = stats.NeededByRanks(random, t.a, t.b, t.alpha, Power)
	}
	needs.Store(t, least)
	return least
}
