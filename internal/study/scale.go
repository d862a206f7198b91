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
	Warmup quantity.Span `yaml:"warmup"` // this and the next two: of a run
	Window quantity.Span `yaml:"window"`
	Drain  quantity.Span `yaml:"drain"`
	Trial  quantity.Span `yaml:"trial"`  // the window of a search's trials
	Search quantity.Span `yaml:"search"` // the greatest time of a search
	Limit  quantity.Span `yaml:"limit"`  // of catching up
	After  quantity.Span `yaml:"after"`  // catching up
	// Rounds is how often each cell is measured; 0: as often as the study says.
	Rounds quantity.Whole `yaml:"rounds"`
}

const (
	second = quantity.Span(time.Second)
	minute = quantity.Span(time.Minute)
	hour   = quantity.Span(time.Hour)
)

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
		Warmup: 2 * second, Window: 6 * second,
		Drain: 10 * second, Trial: 3 * second, Search: minute,
		Limit: 20 * second, After: 2 * second}},
	{Name: Brief, CPUs: workload.CPUsShared, Tolerance: 0.1, BacklogBytes: 128 << 20,
		Lengths: Lengths{Warmup: second, Window: 10 * second,
			Drain: 10 * second, Trial: 3 * second, Search: 45 * second,
			Limit: 30 * second, After: 2 * second}},
	{Name: Small, Confirm: 1, Tolerance: 0.05, BacklogBytes: 1 << 30, Lengths: Lengths{
		Warmup: 10 * second, Window: 30 * second,
		Drain: 30 * second, Trial: 10 * second, Search: 4 * minute,
		Limit: 2 * minute, After: 10 * second}},
	{Name: Full, Published: true, Confirm: 2, Tolerance: 0.03, Lengths: Lengths{
		Warmup: minute, Window: 10 * minute,
		Drain: 2 * minute, Trial: 2 * minute, Search: hour,
		Limit: 6 * hour, After: 5 * minute}},
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
	for _, one := range []struct{ into, from *quantity.Span }{
		{&l.Warmup, &own.Warmup}, {&l.Window, &own.Window},
		{&l.Drain, &own.Drain}, {&l.Trial, &own.Trial}, {&l.Search, &own.Search},
		{&l.Limit, &own.Limit}, {&l.After, &own.After},
	} {
		*one.into = cmp.Or(*one.from, *one.into)
	}
	l.Rounds = cmp.Or(own.Rounds, quantity.Whole(s.Rounds))
	return scale, err
}

// layer returns the keys of every run at the scale.
func (s Scale) layer() strict.Pairs {
	return strict.Pairs{
		pair("warmup", s.Warmup.String()),
		pair("duration", s.Window.String()),
		pair("drain", s.Drain.String()),
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
