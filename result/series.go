package result

import (
	"bytes"
	"slices"
	"strings"
)

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
	// OwnLag is the schedule lag that the system did not cause: that of messages handed over
	// late while no producer waited for the system. It is plimsoll's own error, and part of no
	// table.
	OwnLag Series = "own_lag"
	// LessOwnLag is Publish less the message's own lag: the part that the system caused.
	LessOwnLag Series = "publish_less_own_lag"
	// SendCall is for closed loops only: a whole send, from the hand-over of its first message
	// to the acknowledgement of its last.
	SendCall Series = "send_call"

	// Request is the part of publish latency after the client library has waited: a request
	// written -> answered, once for each request. Most libraries do not tell it.
	Request Series = "request"
	// Copies is the end-to-end latency of second and later deliveries, which EndToEnd excludes.
	Copies Series = "copies"
	// Redelivered is the time from a consumer's giving a message back to its next delivery.
	Redelivered Series = "redelivery"
	// CatchUp is the end-to-end latency at subscriptions that were without consumers, until they
	// have caught up. EndToEnd excludes it: these messages waited for consumers that were away.
	CatchUp Series = "catch_up"
	// Waited is the time for which unanswered messages were waited for, from their due time:
	// the lower bounds of their publish latency.
	Waited Series = "waited"
	// Twin and TwinReceive are Publish and EndToEnd of the twin: a system that takes no time,
	// beside the measured system in the same process.
	Twin        Series = "instrument_publish"
	TwinReceive Series = "instrument_end_to_end"
	// TwinWaited is Waited of the twin.
	TwinWaited Series = "instrument_waited"
	// SimulatedLate is the lateness of the simulated system's answers against its own schedule.
	// It is plimsoll's error and not the simulated system's latency.
	SimulatedLate Series = "simulated_late"

	WarmupPrefix = "warmup."
)

// OfClass names the part of a series that belongs to one class of messages.
func OfClass(s Series, class string) Series { return s + "_of_" + Series(class) }

// ClassOf returns the series of all messages that a series is of, and the class; empty: all.
func ClassOf(s Series) (of Series, class string) {
	if all, class, _ := strings.Cut(string(s), "_of_"); class != "" {
		return Series(all), class
	}
	return s, ""
}

// Beside are the series that each run records in addition to those of its tables.
var Beside = []Series{OwnLag, LessOwnLag, Waited, Request, Copies, Redelivered, CatchUp, Twin,
	TwinReceive, TwinWaited, SimulatedLate}

// AllSeries are the series that every run has, in the order of tables.
var AllSeries = []Series{Publish, EndToEnd, Send, Lag, Hiccup}

// Series returns every series of a run with this load, in the order of tables.
func (l Load) Series() []Series {
	if l.Closed != nil {
		return []Series{SendCall, Publish, EndToEnd, Send, Lag, Hiccup}
	}
	return AllSeries
}

// byTag are all series by their tags, so that a series read from a log takes no memory of its own.
var byTag = func() map[string]Series {
	all := make(map[string]Series)
	for _, s := range slices.Concat(AllSeries, Beside, []Series{SendCall}) {
		all[string(s)] = s
	}
	return all
}()

// seriesOf returns the series of a tag, and whether it is of the warm-up.
func seriesOf(tag []byte) (s Series, warmup bool) {
	tag, warmup = bytes.CutPrefix(tag, []byte(WarmupPrefix))
	if s, is := byTag[string(tag)]; is {
		return s, warmup
	}
	return Series(tag), warmup
}
