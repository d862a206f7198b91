package system

// Simulation is a Cluster that runs in this process. It answers and delivers by its own schedule,
// so it knows its own lateness, which is plimsoll's error and not the system's latency.
type Simulation interface {
	// ReportLateness registers add, which the cluster calls with the lateness, in
	// nanoseconds, of each answer and each delivery. ReportLateness is called at most
	// once, before the first Send. One goroutine at a time calls add, right before
	// the answer or the delivery, and add must not block.
	ReportLateness(add func(lateNs int64))
	// CPUSeconds returns the CPU time of the simulated servers since the connection; known is false
	// if there is none.
	CPUSeconds() (seconds float64, known bool)
}
