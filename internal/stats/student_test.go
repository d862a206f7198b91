package stats

import (
	"math"
	"slices"
	"testing"
)

// The values are in every table of Student's distribution.
func TestStudent(t *testing.T) {
	for _, c := range []struct{ dof, tail, want float64 }{{1, 0.025, 12.7062}, {4, 0.025, 2.77645},
		{30, 0.05, 1.69726}} {
		got := Student(c.dof, c.tail)
		if math.Abs(got-c.want) > 1e-4*c.want {
			t.Errorf("Student(%v, %v) = %v, want %v", c.dof, c.tail, got, c.want)
		}
		if p := StudentP(-got, c.dof); math.Abs(p-2*c.tail) > 1e-6 {
			t.Errorf("a deviation of %v has p %v, want %v", got, p, 2*c.tail)
		}
	}
}

// Two equal errors with equal degrees of freedom have the sum of these.
func TestWelch(t *testing.T) {
	if se, dof := Welch(3, 5, 3, 5); math.Abs(se-3*math.Sqrt2) > 1e-12 || math.Abs(dof-10) > 1e-12 {
		t.Errorf("%v, %v", se, dof)
	}
	if se, dof := Welch(4, 7, 0, 5); se != 4 || dof != 7 {
		t.Errorf("beside no error: %v, %v", se, dof)
	}
}

func TestHolm(t *testing.T) {
	for _, c := range []struct {
		ps   []float64
		want []bool
	}{
		// Holm's own example
		{[]float64{0.01, 0.04, 0.03, 0.005}, []bool{true, false, false, true}},
		{[]float64{0.04, 0.02}, []bool{true, true}},
		{[]float64{0.03, 0.04}, []bool{false, false}},
		{nil, []bool{}},
	} {
		if got := Holm(c.ps, 0.05); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.ps, got, c.want)
		}
	}
}
