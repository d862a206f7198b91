package result

import (
	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

const minuteNs = 60_000_000_000

// Minute is the 95th percentiles of one minute of the measured window, by the
// time of the events: the form in which mqperf's figures were published. Times
// are nanoseconds since the window began. A window shorter than a minute is
// one; what is left of a longer one after its last whole minute is none.
type Minute struct {
	StartNs       int64 `json:"start_ns"`
	EndNs         int64 `json:"end_ns"`
	SendCallP95Ns int64 `json:"send_call_p95_ns"` // 0: no such event
	SendP95Ns     int64 `json:"send_p95_ns"`
	EndToEndP95Ns int64 `json:"end_to_end_p95_ns"`
}

// minuteSeries are the series that a Minute has.
var minuteSeries = []Series{SendCall, Send, EndToEnd}

// MinuteTally sums up a closed loop's minutes. Its zero value is ready.
type MinuteTally struct {
	whole   []Minute
	present int64 // minutes since the window began
	cells   map[Series]*hdr.Histogram
}

// Add adds what an interval recorded of a series; merge adds it to a histogram.
// The interval's middle is since the window began, and must not go back.
func (t *MinuteTally) Add(series Series, middleNs int64, merge func(into *hdr.Histogram)) {
	if t.cells == nil {
		t.cells = make(map[Series]*hdr.Histogram)
		for _, s := range minuteSeries {
			t.cells[s] = NewHistogram()
		}
	}
	cell := t.cells[series]
	if cell == nil {
		return
	}
	for t.present < middleNs/minuteNs {
		t.end((t.present + 1) * minuteNs)
	}
	merge(cell)
}

// end closes the present minute.
func (t *MinuteTally) end(atNs int64) {
	p95 := func(s Series) int64 { return t.cells[s].ValueAtPercentile(95) }
	t.whole = append(t.whole, Minute{
		StartNs: t.present * minuteNs, EndNs: atNs,
		SendCallP95Ns: p95(SendCall), SendP95Ns: p95(Send), EndToEndP95Ns: p95(EndToEnd),
	})
	for _, h := range t.cells {
		h.Reset()
	}
	t.present++
}

// Minutes ends the tally of a window of that length.
func (t *MinuteTally) Minutes(windowNs int64) []Minute {
	// An interval's end may be late by a little, and so may the window's.
	const nearly = minuteNs - minuteNs/100
	if t.cells != nil && (len(t.whole) == 0 || windowNs-t.present*minuteNs >= nearly) {
		t.end(windowNs)
	}
	return t.whole
}

// minutes are those of a run as it was saved.
func (s *Saved) minutes() []Minute {
	from, to, ok := s.Run.window()
	if !ok || s.Run.Load.Closed == nil {
		return nil
	}
	var t MinuteTally
	for _, l := range s.Latency {
		if !l.Warmup {
			t.Add(l.Series, MinuteAt(l.StartNs, l.EndNs, from, to),
				func(into *hdr.Histogram) { l.Histogram.MergeInto(into) })
		}
	}
	return t.Minutes(s.Run.Summary.WindowNs)
}

// MinuteAt is an interval's middle since the window began. What comes after the
// window belongs to its end.
func MinuteAt(startNs, endNs, windowFromNs, windowToNs int64) int64 {
	return max(min(startNs/2+endNs/2, windowToNs-1)-windowFromNs, 0)
}

// window is when the run measured; ok is false when it never did.
func (r *Run) window() (from, to int64, ok bool) {
	for _, p := range r.Phases {
		if p.Name == PhaseMeasure {
			if p.EndNs == 0 {
				p.EndNs = 1<<63 - 1
			}
			return p.StartNs, p.EndNs, true
		}
	}
	return 0, 0, false
}
