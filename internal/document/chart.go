package document

// Chart is a drawing as data. A missing value is NaN, which JSON shows as null.
type Chart struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Note  string `json:"note,omitempty"`
	Label string `json:"label"`           // describes the content for readers who cannot see it
	Empty string `json:"empty,omitempty"` // why there is nothing to draw
	Small bool   `json:"small,omitempty"` // one of many side by side

	X      Axis     `json:"x"`
	Y      Axis     `json:"y"`
	Series []Series `json:"series,omitempty"`
	Heat   *Heat    `json:"heat,omitempty"`
	Spans  []Span   `json:"spans,omitempty"`
}

// Axis is a scale with its title.
type Axis struct {
	Title string   `json:"title"`
	Unit  Unit     `json:"unit"`
	Scale Scale    `json:"scale,omitempty"`
	From  *float64 `json:"from,omitempty"` // nil: from the data
	To    *float64 `json:"to,omitempty"`
	// Names are words in place of the numbers 0, 1, 2, …; the axis is then linear.
	Names []string `json:"names,omitempty"`
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
	Moment     Unit = "unix_s"     // a date
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
	Name string `json:"name"`
	// Color is 0, 1, … among the colours of the page, or Grey. Those of tones are others.
	Color int    `json:"color"`
	Faint bool   `json:"faint,omitempty"` // the requested value, beside the achieved one
	Dash  int    `json:"dash,omitempty"`  // 0: none; 1, 2, 3: patterns
	Step  bool   `json:"step,omitempty"`
	Dots  bool   `json:"dots,omitempty"`  // points; with X in ascending order also joined
	Alone bool   `json:"alone,omitempty"` // points that are not joined
	X     Values `json:"x"`
	Y     Values `json:"y"`
	Low   Values `json:"low,omitempty"` // with High: an interval about each point
	High  Values `json:"high,omitempty"`
	Marks []Mark `json:"marks,omitempty"`
}

// Mark annotates the point at an index of its series.
type Mark struct {
	At     int    `json:"at"`
	Words  string `json:"words,omitempty"` // beside the point
	Tip    string `json:"tip,omitempty"`   // shown on request
	Tone   Tone   `json:"tone,omitempty"`
	Cross  bool   `json:"cross,omitempty"`  // a cross in place of a dot: beyond, or failed
	Hollow bool   `json:"hollow,omitempty"` // a dot that is not filled
	Above  bool   `json:"above,omitempty"`  // the true value lies above: an arrow
}

// Span is a stretch of the horizontal axis, or, where From equals To, a line across it.
type Span struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Words string  `json:"words,omitempty"`
	Tone  Tone    `json:"tone,omitempty"`
	// Color is that of the series to which it belongs; nil: that of its tone.
	Color *int `json:"color,omitempty"`
	// Level draws a line along the horizontal axis at From of the vertical axis instead.
	Level bool `json:"level,omitempty"`
}

// Heat is a grid of counts: Counts[i][j] lies between X[i] and X[i+1], Y[j] and Y[j+1].
type Heat struct {
	X      Values    `json:"x"`
	Y      Values    `json:"y"`
	Counts [][]int64 `json:"counts"`
}
