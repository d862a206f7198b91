package stats

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// The interval and the test agree, and both are wider than Student's.
func TestSequentialAgreesWithItsTest(t *testing.T) {
	for _, dof := range []float64{2, 4, 9, 39, 200} {
		for _, tail := range []float64{0.025, 0.01, 0.001} {
			reach := Sequential(dof, tail)
			if math.IsInf(reach, 1) {
				if dof > 4 {
					t.Errorf("%v degrees of freedom, tail %v: no interval", dof, tail)
				}
				continue
			}
			if reach < Student(dof, tail) {
				t.Errorf("%v degrees of freedom: %v is below Student's", dof, reach)
			}
			if p := SequentialP(reach, dof); math.Abs(p-2*tail) > 1e-9 {
				t.Errorf("%v degrees of freedom: p is %v at the end of an interval of %v", dof, p,
					1-2*tail)
			}
		}
	}
	if p := SequentialP(0, 9); p != 1 {
		t.Errorf("no deviation: p is %v", p)
	}
	if p := SequentialP(math.Inf(1), 9); !(p > 0 && p < 1e-6) {
		t.Errorf("an infinite deviation: p is %v", p)
	}
	if reach := Sequential(0, 0.025); !math.IsInf(reach, 1) {
		t.Errorf("one value: the interval reaches %v", reach)
	}
}

// series draws the mean and the standard error after each of n normal values.
func series(random *rand.Rand, n int, mean float64) (means, errors []float64) {
	sum, squares := 0.0, 0.0
	for i := range n {
		x := mean + random.NormFloat64()
		sum, squares = sum+x, squares+x*x
		k := float64(i + 1)
		variance := math.Max(squares-sum*sum/k, 0) / math.Max(k-1, 1)
		means, errors = append(means, sum/k), append(errors, math.Sqrt(variance/k))
	}
	return means, errors
}

// Whoever looks after every value, and stops at the worst moment, is wrong in at most the promised
// share of all series. Student's interval is wrong far more often.
func TestSequentialHoldsHoweverOftenItIsLookedAt(t *testing.T) {
	const all, most = 4000, 200
	for _, alpha := range []float64{0.05, 0.01} {
		random, missed, byStudent := rand.New(rand.NewPCG(1, 2)), 0, 0
		reaches, students := make([]float64, most), make([]float64, most)
		for n := 2; n <= most; n++ {
			reaches[n-1], students[n-1] = Sequential(float64(n-1), alpha/2),
				Student(float64(n-1), alpha/2)
		}
		for range all {
			means, errors := series(random, most, 0)
			miss, student := false, false
			for n := 2; n <= most; n++ {
				off := math.Abs(means[n-1]) / errors[n-1]
				miss, student = miss || off > reaches[n-1], student || off > students[n-1]
			}
			if miss {
				missed++
			}
			if student {
				byStudent++
			}
		}
		if share := float64(missed) / all; share > alpha {
			t.Errorf("wrong in %v of all series, want at most %v", share, alpha)
		}
		if share := float64(byStudent) / all; share < 3*alpha {
			t.Errorf("Student's interval is wrong in %v of all series: the test shows nothing",
				share)
		}
	}
}

var table = flag.Bool("sequential.table", false, "print how soon sequential methods stop")

// rule is a sequential method: the standard errors that its interval reaches after n values;
// infinite where it does not look.
type rule struct {
	name  string
	reach func(n int, alpha float64) float64
}

// Prints how many values each method takes, for docs/design/until.md.
func TestSequentialMethods(t *testing.T) {
	if !*table {
		t.Skip("prints a table with -sequential.table")
	}
	rules := []rule{}
	for _, g := range []float64{1, 2, 3, 5, 10, 25} {
		rules = append(rules, rule{fmt.Sprintf("mixture %v", g), func(n int, alpha float64) float64 {
			spread := 1 + float64(n)*g
			bound := math.Exp((math.Log(spread) - 2*math.Log(alpha)) / float64(n))
			if bound >= spread {
				return math.Inf(1)
			}
			return math.Sqrt(float64(n-1) * (bound - 1) / (1 - bound/spread))
		}})
	}
	looks := []int{5, 6, 7, 8, 10, 12, 15, 19, 24, 30, 40}
	rules = append(rules, rule{"11 looks", func(n int, alpha float64) float64 {
		for _, l := range looks {
			if l == n {
				return Student(float64(n-1), alpha/float64(len(looks))/2)
			}
		}
		return math.Inf(1)
	}}, rule{"36 looks", func(n int, alpha float64) float64 {
		return Student(float64(n-1), alpha/36/2)
	}})
	const most, sets = 40, 2000
	for _, alpha := range []float64{0.05, 0.02, 0.04 / 12, 0.04 / 156} {
		for _, r := range rules {
			reaches := make([]float64, most+1)
			for n := 5; n <= most; n++ {
				reaches[n] = r.reach(n, alpha)
			}
			line := fmt.Sprintf("alpha %.5f %-12s", alpha, r.name)
			for _, width := range []float64{4, 2, 1.5, 1, 0.7, 0.5} { // in standard deviations
				line += fmt.Sprintf(" width %v: %4.1f,", width, stops(sets, most, 0,
					func(n int, _, se float64) bool { return se*reaches[n] <= width }))
			}
			for _, mean := range []float64{4, 2, 1.41, 1, 0.7} {
				line += fmt.Sprintf(" mean %v: %4.1f,", mean, stops(sets, most, mean,
					func(n int, m, se float64) bool { return math.Abs(m) > se*reaches[n] }))
			}
			wrong := 0
			random := rand.New(rand.NewPCG(5, 6))
			for range 20 * sets {
				means, errors := series(random, most, 0)
				for n := 5; n <= most; n++ {
					if math.Abs(means[n-1]) > errors[n-1]*reaches[n] {
						wrong++
						break
					}
				}
			}
			fmt.Printf("%s wrong %.5f\n", line, float64(wrong)/(20*sets))
		}
	}
}

// stops returns the mean number of values after which a rule stops, of at most most.
func stops(sets, most int, mean float64, stop func(n int, mean, se float64) bool) float64 {
	random, sum := rand.New(rand.NewPCG(3, 4)), 0
	for range sets {
		means, errors := series(random, most, mean)
		n := 5
		for n < most && !stop(n, means[n-1], errors[n-1]) {
			n++
		}
		sum += n
	}
	return float64(sum) / float64(sets)
}
