package omb

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// MaxResultBytes is the largest result file that is read: a day of OMB's
// periods takes about 3 MB.
const MaxResultBytes = 8 << 20

// Result is an OMB result file. A value that the file lacks is zero, nil or NaN.
type Result struct {
	Workload, Driver           string
	MessageBytes               int64
	Topics, Partitions         int64
	Producers, Consumers       int64 // of a topic, of a subscription
	Version                    string
	Begin, End                 string
	PeriodSeconds              float64   // nominal: OMB does not store how long a period was
	Publish, Consume, Failures []float64 // messages per second, by period
	Backlog                    []float64 // messages, by period
	PollErrors                 []float64 // failed calls of consumers, by period; of Redpanda's fork
	// Send is from the hand-over to the acknowledgement (publishLatency in the file), Delay
	// from the due time to the hand-over (publishDelayLatency). Schedule, of Redpanda's fork, is
	// from the due time to the moment at which its generator was ready to send.
	Send, Delay, EndToEnd, Schedule Series
	Unread                          []string // keys with data that have no place in a run
	Doubts                          []string // sentences on figures that are taken to be unknown
}

// Series is one latency series of a result, in nanoseconds.
type Series struct {
	Periods   map[string][]float64 // by OMB's suffix, and minSuffix
	Whole     map[string]float64
	Quantiles []Quantile // ascending
}

// Quantile is a point of a distribution: a percentage of all values, and the latency that they
// do not exceed.
type Quantile struct{ Percentile, Ns float64 }

// column is a figure of each latency series: its suffix in OMB, and its percentile, or 0 when
// it is not a percentile.
type column struct {
	suffix     string
	percentile float64
}

var columns = []column{{"Avg", 0}, {"50pct", 50}, {"75pct", 75}, {"95pct", 95}, {"99pct", 99},
	{"999pct", 99.9}, {"9999pct", 99.99}, {"Max", 100}}

// The names of the series in result files, and nanoseconds of their unit.
const (
	sendName, delayName, endToEndName = "publishLatency", "publishDelayLatency", "endToEndLatency"
	scheduleName                      = "scheduleLatency"
	minSuffix                         = "Min"
	millisecond, microsecond          = 1e6, 1e3

	defaultPeriod = 10 // seconds
	maxPeriods    = 1_000_000
	// A value above this limit is no measurement. The limit bounds counts and sums.
	maxRatePerSecond, maxNs = 1e9, 1e18
)

// ReadResult reads a result file.
func ReadResult(path string) (*Result, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder: name the result files in it (%s)", path,
			filepath.Join(path, "*.json"))
	}
	src, err := strict.ReadUpTo(path, MaxResultBytes, "name an OMB result file")
	if err != nil {
		return nil, err
	}
	return ParseResult(path, src)
}

// ParseResult parses a result file. Unknown keys that carry data are in Result.Unread. The error
// is a strict.Violations with everything that is wrong.
func ParseResult(fileName string, src []byte) (*Result, error) {
	src = bytes.TrimPrefix(src, []byte("\uFEFF"))
	p := resultParser{file: fileName, src: src, known: map[string]bool{}, failed: map[string]bool{}}
	if err := json.Unmarshal(src, &p.fields); err != nil {
		return nil, p.broken(err)
	}
	p.refuseDuplicates()
	r := &Result{
		Workload: p.text("workload"), Driver: p.text("driver"), Version: p.text("version"),
		Begin: p.text("beginTime"), End: p.text("endTime"),
		MessageBytes: p.count("messageSize"), Topics: p.count("topics"),
		Partitions: p.count("partitions"), Producers: p.count("producersPerTopic"),
		Consumers: p.count("consumersPerTopic"), PeriodSeconds: defaultPeriod,
		Backlog: p.list("backlog"), PollErrors: p.list("consumeFailed"),
		Send: p.series(sendName, millisecond), Delay: p.series(delayName, microsecond),
		EndToEnd: p.series(endToEndName, millisecond),
		Schedule: p.series(scheduleName, millisecond),
	}
	if ms := p.count("sampleRateMillis"); ms > 0 {
		r.PeriodSeconds = float64(ms) / 1e3
	}
	r.Publish = p.rate("publishRate", "sent", r.PeriodSeconds)
	r.Consume = p.rate("consumeRate", "consumed", r.PeriodSeconds)
	r.Failures = p.rate("publishErrorRate", "publishFailed", r.PeriodSeconds)
	r.Unread = p.unread()
	p.check(r)
	p.refuseFalling(r)
	p.doubt(r)
	if len(p.bad) > 0 {
		return nil, p.bad.Sorted()
	}
	return r, nil
}

// resultParser takes fields out of a result file and collects the violations.
type resultParser struct {
	file   string
	src    []byte
	fields map[string]json.RawMessage
	known  map[string]bool // keys that were asked for
	failed map[string]bool // keys whose value cannot be read
	bad    strict.Violations
}

func (p *resultParser) reject(key, format string, args ...any) {
	const most = 20
	if len(p.bad) >= most {
		return
	}
	line, column := 0, 0
	if at := bytes.Index(p.src, []byte(strconv.Quote(key))); at >= 0 {
		line, column = place(p.src, at)
	}
	p.bad = append(p.bad, strict.Violation{File: p.file, Line: line, Column: column, Message: key +
		" " + fmt.Sprintf(format, args...)})
}

// broken records the place of the error if a text is not a JSON object.
func (p *resultParser) broken(err error) error {
	v := strict.Violation{File: p.file,
		Message: "is not an OMB result, which is one JSON object: name the file that OMB wrote"}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		v.Line, v.Column = place(p.src, min(int(max(syntax.Offset-1, 0)), len(p.src)))
		v.Message = "is not valid JSON, as an OMB result is: name the complete file that OMB wrote"
	}
	return strict.Violations{v}
}

// place returns the line and the column, in characters, of an offset.
func place(src []byte, offset int) (line, column int) {
	before := src[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte{'\n'}) + 1, len([]rune(string(before[start:]))) + 1
}

// take decodes a field, and reports whether it exists and is valid.
func (p *resultParser) take(key string, into any, what string) bool {
	raw, has := p.fields[key]
	p.known[key] = true
	if !has || string(raw) == "null" {
		return false
	}
	if json.Unmarshal(raw, into) != nil {
		p.reject(key, "is not %s", what)
		p.failed[key] = true
		return false
	}
	return true
}

func (p *resultParser) text(key string) (s string) {
	p.take(key, &s, "a text")
	const most = 1000
	if len(s) > most {
		p.reject(key, "is too long: it has %s bytes, and at most %s are read: shorten it",
			quantity.Count(int64(len(s))), quantity.Count(most))
		return ""
	}
	if !strict.IsText(s) {
		p.reject(key, "is not a text of printable characters")
		return ""
	}
	return s
}

func (p *resultParser) count(key string) (n int64) {
	if p.take(key, &n, "a whole number") && n < 0 {
		p.reject(key, "is negative")
	}
	return max(n, 0)
}

func (p *resultParser) list(key string) []float64 {
	var values []number
	if !p.take(key, &values, "a list of numbers") {
		return nil
	}
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}

// rate takes messages per second. A file that has only the number of messages in each period, in
// the key counts, gives them by the length of a period.
func (p *resultParser) rate(key, counts string, seconds float64) []float64 {
	rates, numbers := p.list(key), p.list(counts)
	if rates != nil || numbers == nil {
		return rates
	}
	for i := range numbers {
		numbers[i] /= seconds
	}
	return numbers
}

// unread returns the keys that carry data and were not asked for, in order.
func (p *resultParser) unread() []string {
	var keys []string
	for key, raw := range p.fields {
		switch string(bytes.Join(bytes.Fields(raw), nil)) {
		case "null", "[]", "{}", `""`:
			continue
		}
		if !p.known[key] {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// series takes the figures of one latency series. In the names of aggregated figures a capital
// follows the prefix.
func (p *resultParser) series(name string, unit float64) Series {
	s := Series{Periods: map[string][]float64{}, Whole: map[string]float64{}}
	for _, c := range append(columns[:len(columns):len(columns)], column{suffix: minSuffix}) {
		if values := p.list(name + c.suffix); values != nil {
			for i := range values {
				values[i] *= unit
			}
			s.Periods[c.suffix] = values
		}
		var whole number
		if key := aggregated(name) + c.suffix; p.take(key, &whole, "a number") {
			if v := float64(whole) * unit; v < 0 || v > maxNs {
				p.reject(key, "is impossible: %s", plain(float64(whole)))
			} else if !math.IsNaN(float64(whole)) {
				s.Whole[c.suffix] = float64(whole) * unit
			}
		}
	}
	s.Quantiles = p.quantiles(aggregated(name)+"Quantiles", unit)
	return s
}

// recorded reports whether the file has any figure of the series.
func (s Series) recorded() bool { return len(s.Quantiles)+len(s.Whole)+len(s.Periods) > 0 }

func aggregated(name string) string { return "aggregated" + string(name[0]-'a'+'A') + name[1:] }

// quantiles takes a distribution, in the numeric order of its percentiles.
func (p *resultParser) quantiles(key string, unit float64) []Quantile {
	var raw map[string]number
	if !p.take(key, &raw, "an object of percentiles and latencies") {
		return nil
	}
	var out []Quantile
	for text, v := range raw {
		percentile, err := strconv.ParseFloat(text, 64)
		if err != nil || !(percentile >= 0 && percentile <= 100) {
			p.reject(key, "holds %.40q, which is not a percentile from 0 to 100", text)
			return nil
		}
		if ns := float64(v) * unit; !(ns >= 0 && ns <= maxNs) {
			p.reject(key, "holds an impossible latency, %s, at %.40q", plain(float64(v)), text)
			return nil
		}
		out = append(out, Quantile{percentile, float64(v) * unit})
	}
	slices.SortFunc(out, func(a, b Quantile) int {
		return cmp.Or(cmp.Compare(a.Percentile, b.Percentile), cmp.Compare(a.Ns, b.Ns))
	})
	for i := 1; i < len(out); i++ {
		if out[i].Ns < out[i-1].Ns {
			p.reject(key,
				"falls from %v ms to %v ms at percentile %v: latencies must rise with the "+
					"percentile", out[i-1].Ns/millisecond, out[i].Ns/millisecond, out[i].Percentile)
			return nil
		}
	}
	return out
}

// number is a number as Java writes it: NaN and infinity are quoted.
type number float64

// UnmarshalJSON reads a number, or "NaN" and its like as NaN.
func (n *number) UnmarshalJSON(src []byte) error {
	switch string(src) {
	case `"NaN"`, `"Infinity"`, `"-Infinity"`, "null":
		*n = number(math.NaN())
		return nil
	}
	v, err := strconv.ParseFloat(string(src), 64)
	if err != nil {
		return fmt.Errorf("not a number: %w", err)
	}
	*n = number(v)
	return nil
}
