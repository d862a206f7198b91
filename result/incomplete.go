package result

// markIncomplete marks a run whose process ended without a final state as incomplete, so that
// it can be reported.
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
}

// summarizeFromIntervals computes the summary of a run that has not written one, from the
// intervals that reached the disk.
func (s *Saved) summarizeFromIntervals() {
	r := &s.Run
	r.Summary, r.Counters = Summary{}, Counters{}
	r.Observation = Observation{Servers: r.Observation.Servers, Methods: r.Observation.Methods,
		Limits: r.Observation.Limits}
	clamped, negative := map[Series]int64{}, map[Series]int64{}
	unsent := int64(0)
	for _, i := range s.Intervals {
		if i.Phase != PhaseConnect {
			unsent = max(0, unsent+i.Scheduled-i.Sent)
		}
		if i.Phase != PhaseMeasure {
			continue
		}
		r.Summary.Add(i)
		r.Counters.Scheduled += i.Scheduled
		r.Counters.Acked += i.Acked
		r.Counters.Failed += i.Failed
		r.Counters.Received += i.Received
		for _, l := range i.Latency {
			clamped[l.Series] += l.Clamped
			negative[l.Series] += l.Negative
		}
	}
	r.Summary.Finish(r.Load, r.LoadCores())
	for _, u := range s.Resources {
		if u.Phase == PhaseMeasure {
			r.Observation.Add(u)
		}
	}
	r.Observation.Finish(r.Summary, r.Load, r.Environment.Cores)
	r.Summary.Generator.Accuse(s.Total(OwnLag), s.Total(LessOwnLag), s.Total(SimulatedLate))
	if twin := s.Total(Twin); twin != nil {
		r.Summary.Instrument = &Instrument{
			Publish: Summarize(Twin, twin, 0, 0), EndToEnd: Summarize(TwinReceive,
				s.Total(TwinReceive), 0, 0),
		}
	}
	r.Summary.Minutes = s.minutes()
	for _, name := range r.Load.Series() {
		// Messages in flight when the process ended are not known to be missing, nor are those
		// that a run under way may still send.
		missing := Missing{}
		if name == Publish || name == Send {
			missing.Refused = r.Counters.Failed
		}
		if (name == Publish || name == Lag) && r.State != Running {
			missing.Unsent = unsent
		}
		r.Summary.Latency = append(r.Summary.Latency,
			Censored(name, s.Total(name), nil, missing, clamped[name], negative[name]))
	}
}
