package result

import (
	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

const minuteNs = 60_000_000_000

// Minute has the 95th percentiles of one minute of the measured window, by the time of the
// events. mqperf's figures were published in this form. Times are nanoseconds since the window
// began. A window shorter than a minute counts as one minute. The rest of a longer window after
// its last whole minute does not count.
type Minute struct {
	StartNs       int64 `json:"start_ns"`
	EndNs         int64 `json:"end_ns"`
	SendCallP95Ns int64 `json:"send_call_p95_ns"` // 0: no such event
	SendP95Ns     int64 `json:"send_p95_ns"`
	EndToEndP95Ns int64 `json:"end_to_end_p95_ns"`
}

// minuteSeries are the series that a Minute has.
var minuteSeries = []Series{SendCall, Send, EndToEnd}

// MinuteTally collects the minutes of a closed loop. Its zero value is ready.
type MinuteTally struct {
	whole   []Minute
	present int64 // minutes since the window began
	cells   map[Series]*hdr.Histogram
}

// Add adds the samples of a series in an interval; merge adds them to a histogram. middle is
// the middle of the interval since the window began. It must not decrease.
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

// Minutes ends the tally of a window of this length.
func (t *MinuteTally) Minutes(windowNs int64) []Minute {
	// An interval's end may be late by a little, and so may the window's.
	const nearly = minuteNs - minuteNs/100
	if t.cells != nil && (len(t.whole) == 0 || windowNs-t.present*minuteNs >= nearly) {
		t.end(windowNs)
	}
	return t.whole
}

// minutes returns the minutes of a saved run.
func (s *Saved) minutes() []Minute {
	from, to, ok := s.Run.Window()
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

// MinuteAt returns the middle of an interval since the window began. An interval after the
// window belongs to its end.
func MinuteAt(startNs, endNs, windowFromNs, windowToNs int64) int64 {
	return max(min(startNs/2+endNs/2, windowToNs-1)-windowFromNs, 0)
}

// Window returns the measured window, in ns since the run started. A window without an end on
// record never ends; ok is false when there is no window.
func (r *Run) Window() (from, to int64, ok bool) {
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
