package system

// LatenessReporter is a Cluster that lives in this process and gives its answers
// and deliveries by a schedule of its own, so that it knows how late it was. That
// lateness is plimsoll's own error and no latency of the system.
type LatenessReporter interface {
	// ReportLateness has add told, for each answer and each delivery, how many
	// nanoseconds after its own due time the cluster gave it. It is called at most
	// once, before the first Send. add is called by one goroutine at a time, right
	// before the message is answered or delivered, and must not block.
	ReportLateness(add func(lateNs int64))
}
