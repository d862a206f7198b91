package result

// Sleep is a time at which the machine slept, as a laptop whose lid is closed. The clock of the
// run stands still meanwhile, so no latency and no interval includes it.
type Sleep struct {
	FromNs int64 `json:"from_ns"` // the reading before it
	ToNs   int64 `json:"to_ns"`   // the reading that found it
	Ns     int64 `json:"ns"`      // its length, which neither time includes
}

// MostSleeps bounds the sleeps that a run keeps.
const MostSleeps = 1000

// The gauges that a run reads of each node's folder, before the node's name.
const (
	DataOnDisk = "data on disk of " // bytes that its files take up
	DataFiles  = "data files of "   // a count: segments, tables and logs are files
)
