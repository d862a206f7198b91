// Package peak finds the highest rate that a system carries and goes on carrying:
// its peak stable throughput, as a bracket between a rate that was stable, and
// confirmed, and one that was not.
//
// It promises that every probe is a whole run in a directory of its own, judged
// by internal/verdict; that the search is a pure function of what its probes
// came to (Search), makes at most the planned number of them, and says why it
// ended; and that what was found is on disk after each probe (peak.json), so that
// a search which is stopped keeps it.
//
// It judges no run itself, and shows nothing (internal/report). A bracket is of
// one workload, one cluster, one machine and one hour: it says nothing of how
// much the peak differs from day to day.
package peak
