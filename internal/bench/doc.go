// Package bench is the life of a run: connect, warm up, measure, drain,
// account.
//
// It promises that a run which measured anything leaves a run directory, and a run
// which measured nothing leaves none; that a first request to stop ends the run
// cleanly and keeps what was measured; and that everything it started has ended when
// it returns.
//
// A session has the run directory, the cluster and the workers (internal/load); a run is its load,
// drain and account. Everything else that a run does is an activity: settling, a backlog, faults,
// an audit (activities.go).
//
// It measures and counts; it judges nothing (internal/verdict) and shows
// nothing (internal/report).
//
// # The end of a run
//
// The order is fixed: halt, close the clients, collect the last interval, read the
// counters, account. Whatever a counter holds by then, a histogram holds too.
//
// # Missing messages
//
// When the drain's length is over and messages are missing, the run asks what shows that they are
// lost (measure.Evidence). While something is missing that may still come, and nothing was arriving
// that slow consumers would explain, it goes on waiting: until nothing has come for missingWait or
// the declared redelivery time, and for at most mostMissing (missing.go).
//
// # Faults
//
// One goroutine injects and heals faults, and the meter ends it before it accounts.
// However a run ends, faults are healed first. The time of a fault is a pure function of workload
// and seed (workload.Strikes); the target is drawn by the system.Injector. Only the meter writes
// what happened. The effect of a fault is found from the saved run (internal/verdict), never while
// it runs.
//
// # Audits
//
// An audit is one more subscription of each topic. It is created before the load, stays unread
// during the load, and is read when the load is over and every fault is healed. It finds messages
// that a tailing reader had and that a power cut removed, on every system. Its latencies mean
// nothing and are in no series.
//
// # Backlogs
//
// A consumer that opens and closes before the load creates each subscription of a backlog; the
// conformance suite shows for every system that this is enough. The readers open on a separate
// goroutine while intervals go on. An interval ends at each change of the backlog's state, so the
// stretches (before, during, after) are merged from whole histograms by the time of the event, and
// can be recomputed from latency.hlog. Catching up is counted in first arrivals.
//
// # Crowds
//
// Work on topics and clients is done many at a time (system.Each), with a bound, progress reports,
// and a limit that grows with the crowd. A system.BatchAdmin creates and deletes many topics in a
// request.
//
// # Clusters
//
// Servers that were just started are given load before a search or a study measures
// them (Warm), and none of it is kept: a virtual machine that compiles while it runs
// carries a fraction of its later rate at first. A cluster that plimsoll did not start
// is left as it was found: the run's topics are deleted. After a kill -9 they remain,
// named plimsoll-….
//
// GOMAXPROCS is raised by one for the run, and by two more for servers in this process:
// docs/design/waiting.md.
//
// # Refusals and bounds
//
// Job.Check refuses what cannot work before anything starts: levels, deliveries,
// memory in the worst case, and what only the system knows (its Check). Every
// wait has a limit that is named beside it.
package bench
