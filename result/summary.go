package result

// Add adds an interval of the measured window. Rates are sums until Finish.
func (s *Summary) Add(i Interval) {
	s.WindowNs += i.EndNs - i.StartNs
	s.OfferedRate += float64(i.Scheduled)
	s.AchievedRate += float64(i.Acked)
	s.ReceivedRate += float64(i.Received)
	s.MaxBacklog = max(s.MaxBacklog, i.Backlog)
	s.EndBacklog = i.Backlog
	g := &s.Generator
	g.CPUSeconds += i.CPUSeconds
	g.BlockedSeconds += float64(i.BlockedNs) / 1e9
	g.GCPauseMaxNs = max(g.GCPauseMaxNs, i.GCPauseNs)
	g.GCCount += i.GCCount
	g.ThrottledNs += i.ThrottledNs
	g.PeakRSSBytes = max(g.PeakRSSBytes, i.RSSBytes)
	g.HeapPeakBytes = max(g.HeapPeakBytes, i.HeapBytes)
}

// Finish turns the sums into rates, on a machine with this number of cores.
func (s *Summary) Finish(l Load, cores int) {
	seconds := float64(s.WindowNs) / 1e9
	if seconds <= 0 {
		return
	}
	// The last interval may end late; the offered load ends with the schedule.
	s.OfferedRate /= min(seconds, max(l.WindowSeconds, 1e-9))
	s.WorkRate = s.AchievedRate / seconds
	s.AchievedRate = l.Own(s.WorkRate, s.OfferedRate)
	s.ReceivedRate = l.Own(s.ReceivedRate/(seconds*float64(max(l.Subscriptions, 1))),
		s.OfferedRate)
	s.BytesPerS = s.AchievedRate * float64(l.MessageBytes)
	s.Generator.CPUShare = s.Generator.CPUSeconds / seconds / float64(max(cores, 1))
}

// Own returns a count, or a rate, of messages that were answered within the window, without those
// that cannot be the window's own: an answer to a message of the warm-up counts only in place of a
// message of the window that still waits when the window ends. So a steady wait lowers no rate,
// and no rate exceeds what was due. A closed loop offers what it is answered.
func (l Load) Own(answered, due float64) float64 {
	if l.Closed != nil {
		return answered
	}
	return min(answered, due)
}

// Work returns the messages per second that were acknowledged within the window, whenever they
// were due. Costs are divided by it, because they are of the same time.
func (s Summary) Work() float64 {
	if s.WorkRate > 0 {
		return s.WorkRate
	}
	return s.AchievedRate // of older runs
}

// PayloadBytes returns the mean payload of the acknowledged messages: of those of the window or,
// where there are none, of the load.
func (s Summary) PayloadBytes(l Load) float64 {
	if s.AchievedRate > 0 && s.BytesPerS > 0 {
		return s.BytesPerS / s.AchievedRate
	}
	return float64(l.MessageBytes)
}
