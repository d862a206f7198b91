package result

import hdr "github.com/HdrHistogram/hdrhistogram-go"

// Instrument is plimsoll's own error during the measured window, measured with the twin, a system
// that takes no time. It gets a small load from the same pacers, through a hand-over between
// goroutines like that of a client library.
type Instrument struct {
	Publish  Latency `json:"publish"`    // due -> acknowledged
	EndToEnd Latency `json:"end_to_end"` // due -> received
}

// OwnError is plimsoll's own error at a percentile, and what the system caused at that percentile.
type OwnError struct {
	Percentile float64 `json:"percentile"`
	OwnLagNs   int64   `json:"own_lag_ns"`
	// LessOwnLagNs is that of publish latency less own lag; 0: no message was acknowledged.
	LessOwnLagNs    int64 `json:"publish_less_own_lag_ns,omitempty"`
	SimulatedLateNs int64 `json:"simulated_late_ns,omitempty"`
}

// Generator has plimsoll's figures of itself during the measured window.
type Generator struct {
	Limited      bool    `json:"limited"`        // see internal/verdict
	OwnLagP99Ns  int64   `json:"own_lag_p99_ns"` // lag that the system did not cause
	OwnLagMeanNs float64 `json:"own_lag_mean_ns,omitempty"`
	OwnLagCount  int64   `json:"own_lag_count,omitempty"` // messages that it is known of
	// LessOwnLagP99Ns is the p99 of publish latency less own lag (see LessOwnLag).
	LessOwnLagP99Ns int64 `json:"publish_less_own_lag_p99_ns,omitempty"`
	// SimulatedLateP99Ns is for the simulated system only (see SimulatedLate).
	SimulatedLateP99Ns int64 `json:"simulated_late_p99_ns,omitempty"`
	// OwnErrors has the same three figures at each percentile that tables print.
	OwnErrors      []OwnError `json:"own_errors,omitempty"`
	BlockedSeconds float64    `json:"blocked_seconds"` // producers waiting for the system, summed
	CPUSeconds     float64    `json:"cpu_seconds"`     // this process: embedded servers included
	CPUShare       float64    `json:"cpu_share"`       // of all cores
	GCPauseMaxNs   int64      `json:"gc_pause_max_ns"`
	GCCount        int64      `json:"gc_count"`
	PeakRSSBytes   int64      `json:"peak_rss_bytes"`
	HeapPeakBytes  int64      `json:"heap_peak_bytes"`
	// As those of a Worker, summed over the workers of a fleet.
	CPULimitCores    float64 `json:"cpu_limit_cores,omitempty"`
	MemoryLimitBytes int64   `json:"memory_limit_bytes,omitempty"`
	ThrottledNs      int64   `json:"throttled_ns,omitempty"`
}

// Accuse sets the figures of plimsoll's own error from the histograms of own lag, of publish
// latency less own lag and of the simulated system's lateness; nil: there is none.
func (g *Generator) Accuse(own, lessOwn, late *hdr.Histogram) {
	at := func(h *hdr.Histogram, percentile float64) int64 {
		if h == nil || h.TotalCount() == 0 {
			return 0
		}
		return h.ValueAtPercentile(percentile)
	}
	g.OwnLagP99Ns, g.LessOwnLagP99Ns, g.SimulatedLateP99Ns = at(own, 99), at(lessOwn, 99),
		at(late, 99)
	if own == nil {
		return
	}
	g.OwnLagMeanNs, g.OwnLagCount, g.OwnErrors = own.Mean(), own.TotalCount(), nil
	for _, p := range Percentiles {
		if Supported(p, own.TotalCount()) {
			g.OwnErrors = append(g.OwnErrors, OwnError{Percentile: p, OwnLagNs: at(own, p),
				LessOwnLagNs: at(lessOwn, p), SimulatedLateNs: at(late, p)})
		}
	}
}
