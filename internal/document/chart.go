package document

// Chart is a drawing as data. A missing value is NaN, which JSON shows as null.
type Chart struct {
	ID    string
	Title string
	Note  string
	Label string // describes the content for readers who cannot see it
	Empty string // why there is nothing to draw
	Small bool   // one of many side by side

	X      Axis
	Y      Axis
	Series []Series
	Heat   *Heat
	Spans  []Span
}

// Axis is a scale with its title.
type Axis struct {
	Title string
	Unit  Unit
	Scale Scale
	From  *float64 // nil: from the data
	To    *float64
	// Names are words in place of the numbers 0, 1, 2, …; the axis is then linear.
	Names []string
}

// Unit is what the numbers of an axis are, and so how they are printed.
type Unit string

// The units.
const (
	Count      Unit = "count"
	PerSecond  Unit = "per_s"      // messages
	Bytes      Unit = "bytes"      //
	BytesRate  Unit = "bytes_s"    // bytes per second
	Nanos      Unit = "ns"         // latencies
	Seconds    Unit = "s"          // time since the start
	Cores      Unit = "cores"      //
	Share      Unit = "share"      // 1 is the whole
	Percentile Unit = "percentile" // 0 to 100
)

// Scale is the form of an axis; the zero value is linear.
type Scale string

// The scales.
const (
	Linear Scale = ""
	Log    Scale = "log"
	// Tail is log(1 − p): as much room from 99 to 99.9 as from 90 to 99.
	Tail Scale = "tail"
	// Signed is nearly linear about zero and logarithmic on both sides of it.
	Signed Scale = "signed"
)

// Grey is the colour of a series with which the others are compared.
const Grey = -1

// Series is a line, or points.
type Series struct {
	Name string
	// Color is 0, 1, … among the colours of the page, or Grey. Those of tones are others.
	Color int
	Faint bool // the requested value, beside the achieved one
	Dash  int  // 0: none; 1, 2, 3: patterns
	Dots  bool // points; with X in ascending order also joined
	Alone bool // points that are not joined
	X     Values
	Y     Values
	Low   Values // with High: an interval about each point
	High  Values
	Marks []Mark
}

// Mark annotates the point at an index of its series.
type Mark struct {
	At     int
	Words  string // beside the point
	Tip    string // shown on request
	Tone   Tone
	Cross  bool // a cross in place of a dot: beyond, or failed
	Hollow bool // a dot that is not filled
	Above  bool // the true value lies above: an arrow
}

// Span is a stretch of the horizontal axis, or, where From equals To, a line across it.
type Span struct {
	From  float64
	To    float64
	Words string
	Tone  Tone
	// Color is that of the series to which it belongs; nil: that of its tone.
	Color *int
	// Level draws a line along the horizontal axis at From of the vertical axis instead.
	Level bool
}

// Heat is a grid of counts: Counts[i][j] lies between X[i] and X[i+1], Y[j] and Y[j+1].
type Heat struct {
	X      Values
	Y      Values
	Counts [][]int64
}

// Values are the numbers of a chart. A missing value is NaN.
type Values []float64

// Sparkline draws values as a line of little bars, on a scale from 0 to top.
func Sparkline(values []float64, top float64) string {
	bars := []rune("▁▂▃▄▅▆▇█")
	out := make([]rune, len(values))
	for i, v := range values {
		share := 0.0
		if top > 0 {
			share = v / top
		}
		out[i] = bars[min(max(int(share*float64(len(bars)-1)+0.5), 0), len(bars)-1)]
	}
	return string(out)
}
