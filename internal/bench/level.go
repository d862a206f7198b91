package bench

import (
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/stats"
)

// level says when a positive figure keeps its level.
type level struct {
	halves float64 // the medians of its halves differ by at most this share
	// No move greater than this share is shown at an error of alpha.
	alpha, move float64
	span        float64 // the middle half of its values spans at most this factor
}

// holds reports whether values in order of time keep the level.
func (l level) holds(values []float64) bool {
	logs, _, known := stats.LogsOf(values)
	if !known || len(logs) < 2 {
		return false
	}
	n := len(logs)
	sorted := slices.Sorted(slices.Values(logs))
	older, newer := stats.Median(logs[:n/2]), stats.Median(logs[n/2:])
	if math.Abs(newer-older) > math.Log1p(l.halves) ||
		sorted[n*3/4]-sorted[n/4] > math.Log(l.span) {
		return false
	}
	m, enough := stats.MoveOf(logs)
	return enough && (m.P > l.alpha || math.Abs(m.After-m.Before) <= math.Log1p(l.move))
}

func mean(values []float64) float64 { return total(values) / float64(len(values)) }

func total(values []float64) (sum float64) {
	for _, v := range values {
		sum += v
	}
	return sum
}
