package result

// Backlog is what came of messages that waited before they were read. Times are
// since the run started; counts of messages are for each subscription.
type Backlog struct {
	// drain: the run's own subscriptions read it; replay: one more does
	Then     string `json:"then"`
	Messages int64  `json:"messages"`
	Bytes    int64  `json:"bytes"` // payload
	// BuiltNs is when the backlog was there and consumers began to open; 0: it
	// never was.
	BuiltNs int64 `json:"built_ns"`
	// FirstNs is when the first message was read; 0: none was.
	FirstNs int64 `json:"first_read_ns"`
	// CaughtUpNs is when the readers had read all but what is always under way;
	// 0: they never had.
	CaughtUpNs int64      `json:"caught_up_ns"`
	End        BacklogEnd `json:"end"`
	Rule       string     `json:"rule"` // when readers have caught up, and when they never will

	// What was read from the first message until they had caught up, or until the
	// run gave up on them, and what was acknowledged to producers in that time.
	ReadMessages  int64   `json:"read_msgs"`
	ReadRate      float64 `json:"read_rate_msgs_per_s"`
	ReadBytesPerS float64 `json:"read_rate_bytes_per_s"`
	PublishedRate float64 `json:"published_rate_msgs_per_s"`
	LeftMessages  int64   `json:"left_msgs"` // unread at the end of that time

	// Stretches are before, during and after the reading, those that there were.
	Stretches []Stretch `json:"stretches"`
}

// BacklogEnd is how far a backlog came.
type BacklogEnd string

// The ends of a backlog.
const (
	BacklogBuilding BacklogEnd = "building" // the run ended before it was there
	BacklogReading  BacklogEnd = "reading"  // the run ended before it was read
	// it was not there in time: less was acknowledged than offered
	BacklogNotBuilt BacklogEnd = "not_built"
	BacklogCaughtUp BacklogEnd = "caught_up"
	BacklogNever    BacklogEnd = "never"    // it did not shrink
	BacklogTooLong  BacklogEnd = "too_long" // it was not read within the limit
)

// CatchUpNs is how long readers took to catch up since their first message; 0:
// they did not.
func (b *Backlog) CatchUpNs() int64 {
	if b.CaughtUpNs == 0 {
		return 0
	}
	return b.CaughtUpNs - b.FirstNs
}

// Stretch is a part of the measured window. Its latencies are those of what was
// acknowledged or received in it; end-to-end latencies are of the workload's own
// subscriptions.
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

// Stretch is the stretch of a name; false when there was none.
func (b *Backlog) Stretch(name StretchName) (Stretch, bool) {
	for _, s := range b.Stretches {
		if s.Name == name {
			return s, true
		}
	}
	return Stretch{}, false
}

// Effect is how many times as long a percentile of a series was during the
// reading as before it; false when one of the two is not known.
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
