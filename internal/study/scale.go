package study

import (
	"cmp"
	"errors"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Scale is the size at which a study is measured.
type Scale struct {
	Name string
	Lengths
	// Published is set when loads have the published size. Otherwise rates are shares of peaks
	// measured here, and the layers of the scale replace values.
	Published bool

	// CPUs is shared where half of the cores would be too few for the servers; empty: servers and
	// load have CPUs of their own, so that what servers spend is theirs.
	CPUs workload.CPUs

	Confirm      int     // confirmations of a peak
	Tolerance    float64 // of its bracket
	BacklogBytes int64   // 0: as published
}

// Lengths are the times of a scale.
type Lengths struct {
	Warmup, Window, Drain time.Duration // of a run
	// Trial is the window of a search's trials, Search the greatest time of a search.
	Trial, Search time.Duration
	Limit, After  time.Duration // of catching up, and of what follows it
	// Rounds is how often each cell is measured; 0: as often as the study says.
	Rounds int
}

// The scales' names.
const (
	Smoke = "smoke"
	Brief = "brief"
	Small = "small"
	Full  = "full"
)

// scales lists the scales from the smallest to the published size. The published studies do not
// state their durations; the durations of full are those that the figures need.
var scales = []Scale{
	{Name: Smoke, Tolerance: 0.15, BacklogBytes: 32 << 20, Lengths: Lengths{
		Warmup: 2 * time.Second, Window: 6 * time.Second,
		Drain: 10 * time.Second, Trial: 3 * time.Second, Search: time.Minute,
		Limit: 20 * time.Second, After: 2 * time.Second}},
	{Name: Brief, CPUs: workload.CPUsShared, Tolerance: 0.1, BacklogBytes: 128 << 20,
		Lengths: Lengths{Warmup: time.Second, Window: 10 * time.Second,
			Drain: 10 * time.Second, Trial: 3 * time.Second, Search: 45 * time.Second,
			Limit: 30 * time.Second, After: 2 * time.Second}},
	{Name: Small, Confirm: 1, Tolerance: 0.05, BacklogBytes: 1 << 30, Lengths: Lengths{
		Warmup: 10 * time.Second, Window: 30 * time.Second,
		Drain: 30 * time.Second, Trial: 10 * time.Second, Search: 4 * time.Minute,
		Limit: 2 * time.Minute, After: 10 * time.Second}},
	{Name: Full, Published: true, Confirm: 2, Tolerance: 0.03, Lengths: Lengths{
		Warmup: time.Minute, Window: 10 * time.Minute,
		Drain: 2 * time.Minute, Trial: 2 * time.Minute, Search: time.Hour,
		Limit: 6 * time.Hour, After: 5 * time.Minute}},
}

// Scales returns the names of the scales.
func Scales() []string { return []string{Smoke, Brief, Small, Full} }

// FindScale returns a scale by its name.
func FindScale(name string) (Scale, error) {
	for _, s := range scales {
		if s.Name == name {
			return s, nil
		}
	}
	return Scale{}, errors.New(strict.Unknown("scale", name, Scales()))
}

// Scale returns a scale by its name, with the study's own lengths.
func (s *Study) Scale(name string) (Scale, error) {
	scale, err := FindScale(name)
	own, l := s.Scales[name], &scale.Lengths
	for _, one := range []struct{ into, from *time.Duration }{
		{&l.Warmup, &own.Warmup}, {&l.Window, &own.Window},
		{&l.Drain, &own.Drain}, {&l.Trial, &own.Trial}, {&l.Search, &own.Search},
		{&l.Limit, &own.Limit}, {&l.After, &own.After},
	} {
		*one.into = cmp.Or(*one.from, *one.into)
	}
	l.Rounds = cmp.Or(own.Rounds, s.Rounds)
	return scale, err
}

// layer returns the keys of every run at the scale.
func (s Scale) layer() strict.Pairs {
	return strict.Pairs{
		pair("warmup", quantity.ExactDuration(s.Warmup)),
		pair("duration", quantity.ExactDuration(s.Window)),
		pair("drain", quantity.ExactDuration(s.Drain)),
	}
}

// of returns the keys of a layer that replace the published values at the scale.
func (s Scale) of(l Layer) strict.Pairs {
	switch s.Name {
	case Smoke, Brief:
		return l.Smoke
	case Small:
		return l.Small
	}
	return nil
}
