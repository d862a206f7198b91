package result

import (
	"cmp"
	"slices"
)

// Worker is one of a fleet's processes, and its part in a run. Counts are of the measured window.
type Worker struct {
	Name  string `json:"name"`
	Host  string `json:"host"`
	Cores int    `json:"cores"`
	// Lost says why the run had to end without the worker; empty: it did its part.
	Lost      string `json:"lost,omitempty"`
	Scheduled int64  `json:"scheduled"`
	Received  int64  `json:"received"`
	// OwnLagP99Ns is the worker's own lag, of OwnLagCount messages.
	OwnLagP99Ns  int64   `json:"own_lag_p99_ns"`
	OwnLagCount  int64   `json:"own_lag_count"`
	CPUSeconds   float64 `json:"cpu_seconds"` // since the load began
	PeakRSSBytes int64   `json:"peak_rss_bytes"`
	// The limits of the worker's container or service, 0: there is none; and how long its threads
	// waited because the CPU limit was exhausted, summed over cores.
	CPULimitCores    float64 `json:"cpu_limit_cores,omitempty"`
	MemoryLimitBytes int64   `json:"memory_limit_bytes,omitempty"`
	ThrottledNs      int64   `json:"throttled_ns,omitempty"`
	// SameClock: the worker reads the coordinator's own clock. Otherwise ClockOffsetNs is the last
	// correction of its clock, and ClockBoundNs the largest possible difference from the
	// coordinator's.
	SameClock     bool  `json:"same_clock,omitempty"`
	ClockOffsetNs int64 `json:"clock_offset_ns,omitempty"`
	ClockBoundNs  int64 `json:"clock_bound_ns,omitempty"`
	// Chrony is what chrony said of the clock of the worker's machine when it joined; nil: the
	// worker reads the coordinator's own clock, or chrony did not answer.
	Chrony *Chrony `json:"chrony,omitempty"`
}

// Chrony is what chrony says of a machine's wall clock. No figure depends on it.
type Chrony struct {
	Synchronised bool `json:"synchronised"` // with a source beyond the machine
	Stratum      int  `json:"stratum"`
	// BehindNs is by how much the clock is behind chrony's estimate of the time, and BoundNs how
	// far that is from the time at most: root dispersion and half of root delay.
	BehindNs int64 `json:"behind_ns"`
	BoundNs  int64 `json:"bound_ns"`
}

// LoadCores returns the number of cores of the machines that offered the load: of the workers'
// hosts, each name once, or of the machine of the run.
func (r *Run) LoadCores() int {
	cores, seen := 0, map[string]bool{}
	for _, w := range r.Workers {
		if !seen[w.Host] {
			seen[w.Host], cores = true, cores+w.Cores
		}
	}
	return cmp.Or(cores, r.Environment.Cores)
}

// ErrorShare is the least ratio of a percentile to the error of clocks.
const ErrorShare = 5

// WithError returns the latency with the error of its two clocks, and without the percentiles of
// which that is more than a fifth.
func (l Latency) WithError(ns int64) Latency {
	if ns <= 0 {
		return l
	}
	l.ErrorNs = ns
	blurred := func(p Percentile) bool { return p.LatencyNs < ErrorShare*ns }
	l.Percentiles = slices.DeleteFunc(slices.Clone(l.Percentiles), blurred)
	l.Answered = slices.DeleteFunc(slices.Clone(l.Answered), blurred)
	return l
}
