package result

// ScaleStep is a stretch of the measured window in which each subscription had the same number of
// consumers, from the moment at which consumers began to close or open.
type ScaleStep struct {
	AtNs      int64 `json:"at_ns"` // since the window began
	Consumers int   `json:"consumers"`
	// TookNs is the time until all consumers were closed or opened and, if the system reports it,
	// every partition had a consumer; zero: nothing changed.
	TookNs int64 `json:"took_ns,omitempty"`
	// Of all partitions of all subscriptions, the longest time from one arrival to the next that
	// ended in the stretch, or lasted at its end: the median partition's, and the greatest.
	MedianGapNs  int64 `json:"median_gap_ns"`
	LongestGapNs int64 `json:"longest_gap_ns"`
	// Copies are deliveries of messages that had arrived before.
	Copies int64 `json:"copies"`
	// Failure says why the number could not be changed; empty: it was changed.
	Failure string `json:"failure,omitempty"`
}
