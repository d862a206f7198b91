package result

// Series names a latency series; it is also its tag in latency.hlog.
type Series string

// The latency series. Warm-up messages have the same series with the prefix
// WarmupPrefix in latency.hlog.
const (
	Publish  Series = "publish"      // due -> acknowledged
	EndToEnd Series = "end_to_end"   // due -> received
	Send     Series = "send"         // handed over -> acknowledged: uncorrected
	Lag      Series = "schedule_lag" // due -> handed over
	Hiccup   Series = "hiccup"       // this process not running when it should
	// OwnLag is the schedule lag that the system did not cause: that of
	// messages handed over late although no producer waited for the system.
	// It is how the generator accuses itself, and part of no table.
	OwnLag Series = "own_lag"
	// LessOwnLag is Publish less the message's own lag: what of it the system caused.
	LessOwnLag Series = "publish_less_own_lag"
	// SendCall is of closed loops only: a whole send, from the moment its first
	// message was handed over to the acknowledgement of its last.
	SendCall Series = "send_call"

	// Copies is the end-to-end latency of second and later deliveries, which are
	// no part of EndToEnd.
	Copies Series = "copies"
	// Waited is for how long messages were waited for that were never answered,
	// from their due time: the lower bounds of their publish latency.
	Waited Series = "waited"
	// Twin and TwinReceive are Publish and EndToEnd of the twin: a system that takes
	// no time, beside the measured one in the same process.
	Twin        Series = "instrument_publish"
	TwinReceive Series = "instrument_end_to_end"
	// TwinWaited is Waited of the twin.
	TwinWaited Series = "instrument_waited"
	// SimulatedLate is how late the simulated system gave its answers, by its own
	// schedule: plimsoll's error and not the simulated system's latency.
	SimulatedLate Series = "simulated_late"

	WarmupPrefix = "warmup."
)

// Beside are the series that each run records beside those of its tables.
var Beside = []Series{OwnLag, LessOwnLag, Waited, Copies, Twin, TwinReceive, TwinWaited,
	SimulatedLate}

// AllSeries is every series that each run has, in the order of tables.
var AllSeries = []Series{Publish, EndToEnd, Send, Lag, Hiccup}

// Series is every series of a run with this load, in the order of tables.
func (l Load) Series() []Series {
	if l.Closed != nil {
		return []Series{SendCall, Publish, EndToEnd, Send, Lag, Hiccup}
	}
	return AllSeries
}
