package system

// LatenessReporter is a Cluster that runs in this process. It answers and delivers by its own
// schedule, so it knows its own lateness. That lateness is plimsoll's error, not the system's
// latency.
type LatenessReporter interface {
	// ReportLateness registers add, which the cluster calls with the lateness, in
	// nanoseconds, of each answer and each delivery. ReportLateness is called at most
	// once, before the first Send. One goroutine at a time calls add, right before
	// the answer or the delivery, and add must not block.
	ReportLateness(add func(lateNs int64))
}
