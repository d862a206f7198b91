package study

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Scale is the size at which a study is measured.
type Scale struct {
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
	Name   string        `yaml:"name"`   // of the scale
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
	{Tolerance: 0.15, BacklogBytes: 32 << 20, Lengths: Lengths{Name: Smoke,
		Warmup: 2 * second, Window: 6 * second,
		Drain: 10 * second, Trial: 3 * second, Search: minute,
		Limit: 20 * second, After: 2 * second}},
	{CPUs: workload.CPUsShared, Tolerance: 0.1, BacklogBytes: 128 << 20,
		Lengths: Lengths{Name: Brief, Warmup: 3 * second, Window: 10 * second,
			Drain: 10 * second, Trial: 3 * second, Search: 75 * second,
			Limit: 30 * second, After: 2 * second}},
	{Confirm: 1, Tolerance: 0.05, BacklogBytes: 1 << 30, Lengths: Lengths{Name: Small,
		Warmup: 10 * second, Window: 30 * second,
		Drain: 30 * second, Trial: 10 * second, Search: 4 * minute,
		Limit: 2 * minute, After: 10 * second}},
	{Published: true, Confirm: 2, Tolerance: 0.03, Lengths: Lengths{Name: Full,
		Warmup: minute, Window: 10 * minute,
		Drain: 2 * minute, Trial: 2 * minute, Search: hour,
		Limit: 6 * hour, After: 5 * minute}},
}

// Scales returns the names of the scales.
func Scales() []string { return []string{Smoke, Brief, Small, Full} }

// Scale returns a scale by its name, with the study's own lengths and rounds. An unknown scale has
// the study's rounds.
func (s *Study) Scale(name string) (Scale, error) {
	at := slices.IndexFunc(scales, func(of Scale) bool { return of.Name == name })
	if at < 0 {
		return Scale{Lengths: Lengths{Rounds: s.Rounds}},
			errors.New(strict.Unknown("scale", name, Scales()))
	}
	scale := scales[at]
	scale.Rounds = s.Rounds
	for _, own := range s.Scales {
		if own.Name == name {
			scale.replace(own)
		}
	}
	return scale, nil
}

// RoundsAt returns how often a study with rounds measures each cell at a scale, before it looks at
// its claims.
func (s *Study) RoundsAt(name string) int {
	scale, _ := s.Scale(name) // of an unknown scale, the study's own
	return int(scale.Rounds)
}

// replace takes the lengths that a study has of its own.
func (l *Lengths) replace(own Lengths) {
	l.Warmup = cmp.Or(own.Warmup, l.Warmup)
	l.Window = cmp.Or(own.Window, l.Window)
	l.Drain = cmp.Or(own.Drain, l.Drain)
	l.Trial = cmp.Or(own.Trial, l.Trial)
	l.Search = cmp.Or(own.Search, l.Search)
	l.Limit = cmp.Or(own.Limit, l.Limit)
	l.After = cmp.Or(own.After, l.After)
	l.Rounds = cmp.Or(own.Rounds, l.Rounds)
}

// trialWarmup returns the warm-up of a search's trial: a third of its window, in whole seconds, and
// at most that of a run. The trials of a search follow one another on warm servers.
func (s Scale) trialWarmup() quantity.Span { return min(s.Warmup, s.Trial/3/second*second) }

// layer returns the keys of every run at the scale that is measured in a way.
func (s Scale) layer(m Measure) strict.Pairs {
	warmup := s.Warmup
	if m == MeasurePeak {
		warmup = s.trialWarmup()
	}
	return strict.Pairs{
		pair("warmup", warmup.String()),
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
