package result

// Trends say which figures of a long window rose or fell, as internal/verdict finds it.
type Trends struct {
	// Why says why they were not judged; empty: they were.
	Why     string `json:"not_judged,omitempty"`
	Blocks  int    `json:"blocks,omitempty"` // with figures
	BlockNs int64  `json:"block_ns,omitempty"`
	// LeftOutNs is the part of the window in which the machine slept or plimsoll stood still.
	LeftOutNs int64   `json:"left_out_ns,omitempty"`
	Figures   []Trend `json:"figures,omitempty"`
}

// Trend is what one figure did over the window.
type Trend struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit,omitempty"` // ns, msgs_per_s, bytes, s; empty: a count
	Level float64 `json:"level"`          // the median of the blocks
	// PerHour is the slope, with its interval of 95%.
	PerHour     float64 `json:"per_hour"`
	PerHourLow  float64 `json:"per_hour_low"`
	PerHourHigh float64 `json:"per_hour_high"`
	Course      Course  `json:"course"`
	// SecondHalf says that the slope is that of the window's second half, because the figure grew
	// faster before.
	SecondHalf bool `json:"of_second_half,omitempty"`
	// PerSent is the growth by byte of payload sent, of bytes, or by message sent, of a count.
	PerSent float64 `json:"per_sent,omitempty"`
	// FullNs is the time in which growth at this pace fills what bounds it; 0: not known.
	FullNs int64 `json:"full_in_ns,omitempty"`
	// Own marks a figure of plimsoll's own process.
	Own bool `json:"own,omitempty"`
}

// Course is the way in which a figure went.
type Course string

// The courses. Only Grows, Slows and MayGrow tell of growth whose end was not seen and that
// messages do not explain.
const (
	Steady Course = "steady" // no change that matters is shown
	Grows  Course = "grows"  // throughout the window
	Slows  Course = "slows"  // grew, and more slowly in the second half
	// MayGrow: it grew by its own interval, which includes growth that matters; growth is not shown
	// for all figures together.
	MayGrow      Course = "may_grow"
	LevelledOff  Course = "levelled_off"  // grew, and stopped
	Saws         Course = "saws"          // grew, and fell again
	WithMessages Course = "with_messages" // grows as messages are sent: nothing is deleted
	WithTime     Course = "with_time"     // a time that passes, such as that since a vacuum
	Falls        Course = "falls"
)

// The units of a Trend that a gauge does not have.
const (
	UnitNs         = "ns"
	UnitMsgsPerSec = "msgs_per_s"
	UnitBytes      = "bytes"
	UnitSeconds    = "s"
)
