package bench

// mostBytes is the budget of a run directory for intervals, histograms, events and resources.
// The other files of the directory fit into the rest of 100 MB: run.json, the report and, in most
// runs, the servers' logs.
const mostBytes = 90 << 20

// spacingLooks is the number of intervals whose size decides the spacing.
const spacingLooks = 8

// spacing is the length of a run's intervals. It doubles whenever the directory would exceed its
// budget at the current rate, so a run of a day has long intervals and a run of an hour has
// intervals of a second. Histograms merge, so longer intervals lose no message.
type spacing struct {
	everyNs int64
	from    int64 // bytes at the first look at this length
	looks   int64
}

// look updates the spacing from the directory's bytes at the end of an interval and the time that
// is left.
func (s *spacing) look(bytes, leftNs int64) {
	if s.looks++; s.looks == 1 {
		s.from = bytes
	}
	if s.looks <= spacingLooks {
		return
	}
	each := float64(bytes-s.from) / float64(s.looks-1)
	if float64(bytes)+each*float64(leftNs)/float64(s.everyNs) > mostBytes {
		s.everyNs, s.looks = 2*s.everyNs, 0
	}
}
