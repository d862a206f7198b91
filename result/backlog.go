package result

// Backlog is the result of a backlog that was built on purpose. Times are nanoseconds since the
// run started. Counts of messages are for each subscription.
type Backlog struct {
	// drain: the run's own subscriptions read it; replay: one more does
	Then     string `json:"then"`
	Messages int64  `json:"messages"`
	Bytes    int64  `json:"bytes"` // payload
	// BuiltNs is the time at which the backlog was complete and consumers began to open; 0: it
	// was never complete.
	BuiltNs int64 `json:"built_ns"`
	// FirstNs is the time at which the first message was read; 0: none was.
	FirstNs int64 `json:"first_read_ns"`
	// CaughtUpNs is the time at which the readers had caught up: they had read all messages
	// except those in flight; 0: they never did.
	CaughtUpNs int64      `json:"caught_up_ns"`
	End        BacklogEnd `json:"end"`
	Rule       string     `json:"rule"` // when readers have caught up, and when they never will

	// The messages read from the first one until the readers had caught up, or until the run
	// gave up on them, and the messages acknowledged to producers in that time.
	ReadMessages  int64   `json:"read_msgs"`
	ReadRate      float64 `json:"read_rate_msgs_per_s"`
	ReadBytesPerS float64 `json:"read_rate_bytes_per_s"`
	PublishedRate float64 `json:"published_rate_msgs_per_s"`
	LeftMessages  int64   `json:"left_msgs"` // unread at the end of that time

	// Stretches are the parts of the window before, during and after the reading, up to the run's
	// end.
	Stretches []Stretch `json:"stretches"`
}

// BacklogEnd says how far a backlog came.
type BacklogEnd string

// The ends of a backlog.
const (
	BacklogBuilding BacklogEnd = "building" // the run ended before it was there
	BacklogReading  BacklogEnd = "reading"  // the run ended before it was read
	// it was not complete in time: less was acknowledged than offered.
	BacklogNotBuilt BacklogEnd = "not_built"
	BacklogCaughtUp BacklogEnd = "caught_up"
	BacklogNever    BacklogEnd = "never"    // it did not shrink
	BacklogTooLong  BacklogEnd = "too_long" // it was not read within the limit
)

// CatchUpNs returns the time from the first read message until the readers had caught up; 0:
// they did not.
func (b *Backlog) CatchUpNs() int64 {
	if b.CaughtUpNs == 0 {
		return 0
	}
	return b.CaughtUpNs - b.FirstNs
}

// Stretch is a part of the measured window. Its latencies are of the messages that were
// acknowledged or received in it. End-to-end latencies are of the workload's own subscriptions.
type Stretch struct {
	Name      StretchName `json:"name"`
	StartNs   int64       `json:"start_ns"`
	EndNs     int64       `json:"end_ns"`
	AckedRate float64     `json:"acked_rate_msgs_per_s"`
	Latency   []Latency   `json:"latency"` // publish and end-to-end
}

// StretchName names a stretch.
type StretchName string

// The stretches, in order.
const (
	Before StretchName = "before"
	During StretchName = "during"
	After  StretchName = "after"
)

// Stretch returns the stretch with a name; false: the run has none.
func (b *Backlog) Stretch(name StretchName) (Stretch, bool) {
	for _, s := range b.Stretches {
		if s.Name == name {
			return s, true
		}
	}
	return Stretch{}, false
}

// Effect returns the ratio of a percentile of a series during the reading to the percentile
// before it; false: one of the two is not known.
func (b *Backlog) Effect(series Series, percentile float64) (float64, bool) {
	before, _ := b.Stretch(Before)
	during, _ := b.Stretch(During)
	was, known := Summary{Latency: before.Latency}.Series(series).At(percentile)
	is, knownToo := Summary{Latency: during.Latency}.Series(series).At(percentile)
	if !known || !knownToo || was <= 0 {
		return 0, false
	}
	return float64(is) / float64(was), true
}
