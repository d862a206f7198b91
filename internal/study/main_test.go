package study

import (
	"testing"
)

// parsed is the study of a file.
func parsed(t *testing.T, source string) *Study {
	t.Helper()
	s, err := Parse("study.yaml", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// planOf is the plan of a study at a scale.
func planOf(t *testing.T, s *Study, name string, only ...string) *Plan {
	t.Helper()
	scale, err := s.Scale(name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(s, scale, only)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// planAt is the plan of a built-in study at a scale.
func planAt(t *testing.T, name, scale string, only ...string) (*Study, *Plan) {
	t.Helper()
	s, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return s, planOf(t, s, scale, only...)
}

// asRounds are measurements in rounds from 1.
func asRounds(all ...Measured) (out []round) {
	for i, m := range all {
		out = append(out, round{&Cell{Round: i + 1}, m})
	}
	return out
}
