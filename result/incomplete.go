package result

// markIncomplete turns a run whose process ended without a word into one that
// can be reported: its summary is made anew from what had reached the disk.
func (s *Saved) markIncomplete() {
	r := &s.Run
	r.State = Incomplete
	if r.StateReason == "" {
		r.StateReason = "the process that measured it ended without finishing"
	}
	last := int64(0)
	if n := len(s.Intervals); n > 0 {
		last = s.Intervals[n-1].EndNs
	}
	for i := range r.Phases {
		if r.Phases[i].EndNs == 0 {
			r.Phases[i].EndNs = max(last, r.Phases[i].StartNs)
		}
	}
	s.summarizeFromIntervals()
}

// summarizeFromIntervals fills the summary from the saved intervals of the
// measured window.
func (s *Saved) summarizeFromIntervals() {
	r := &s.Run
	r.Summary = Summary{FirstMessageNs: r.Summary.FirstMessageNs}
	r.Counters = Counters{}
	var scheduled, acked, received int64
	clamped, negative := map[Series]int64{}, map[Series]int64{}
	for _, i := range s.Intervals {
		if i.Phase != PhaseMeasure {
			continue
		}
		r.Summary.WindowNs += i.EndNs - i.StartNs
		scheduled += i.Scheduled
		acked += i.Acked
		received += i.Received
		r.Counters.Failed += i.Failed
		r.Summary.MaxBacklog = max(r.Summary.MaxBacklog, i.Backlog)
		r.Summary.EndBacklog = i.Backlog
		r.Summary.Generator.CPUSeconds += i.CPUSeconds
		r.Summary.Generator.PeakRSSBytes = max(r.Summary.Generator.PeakRSSBytes, i.RSSBytes)
		for _, l := range i.Latency {
			clamped[l.Series] += l.Clamped
			negative[l.Series] += l.Negative
		}
	}
	r.Counters.Scheduled, r.Counters.Acked, r.Counters.Received = scheduled, acked, received
	if seconds := float64(r.Summary.WindowNs) / 1e9; seconds > 0 {
		r.Summary.OfferedRate = float64(scheduled) / seconds
		r.Summary.AchievedRate = float64(acked) / seconds
		r.Summary.ReceivedRate = float64(received) / seconds / float64(max(r.Load.Subscriptions, 1))
		r.Summary.BytesPerS = r.Summary.AchievedRate * float64(r.Load.MessageBytes)
	}
	if own := s.Total(OwnLag); own != nil {
		r.Summary.Generator.OwnLagP99Ns = own.ValueAtPercentile(99)
	}
	for _, name := range AllSeries {
		r.Summary.Latency = append(r.Summary.Latency, Summarize(name, s.Total(name), clamped[name], negative[name]))
	}
}
