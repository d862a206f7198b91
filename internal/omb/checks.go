package omb

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// plain writes a number as a file has it: without the digits that a change of its unit adds, and
// without an exponent where people write none.
func plain(v float64) string { return strconv.FormatFloat(v, 'g', 15, 64) }

// refuseDuplicates rejects a key that stands twice in the file or in one of its distributions.
// JSON has no rule for which one counts, so either could be the one that was measured.
func (p *resultParser) refuseDuplicates() {
	lines := map[string]int{}
	keysOf(p.src, func(key string, end int) {
		line, column := place(p.src, max(end-len(strconv.Quote(key)), 0))
		if before, twice := lines[key]; twice {
			p.bad = append(p.bad, strict.Violation{File: p.file, Line: line, Column: column,
				Message: fmt.Sprintf("duplicate key %.60q: it is given on line %d already, keep "+
					"one", key, before)})
			return
		}
		lines[key] = line
	})
	for name := range allSeries {
		key, seen := aggregated(name)+"Quantiles", map[string]bool{}
		keysOf(p.fields[key], func(percentile string, _ int) {
			if seen[percentile] {
				p.reject(key, "has the percentile %.40q twice: keep one", percentile)
			}
			seen[percentile] = true
		})
	}
}

// keysOf calls found with each key of a JSON object, and the offset behind it. The text is valid
// JSON; of another value than an object there are no keys.
func keysOf(src []byte, found func(key string, end int)) {
	d := json.NewDecoder(bytes.NewReader(src))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return
		}
		found(key.(string), int(d.InputOffset()))
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return
		}
	}
}

// allSeries has the latency series of a file by name, and nanoseconds of their unit.
var allSeries = map[string]float64{sendName: millisecond, delayName: microsecond,
	endToEndName: millisecond, scheduleName: millisecond}

// lists returns the lists of a result by key, with the least and the greatest value that is
// possible, in the file's unit: value times unit is the value of the list.
func (r *Result) lists() map[string]boundedList {
	all := map[string]boundedList{
		"publishRate":      {r.Publish, 0, maxRatePerSecond, 1},
		"consumeRate":      {r.Consume, 0, maxRatePerSecond, 1},
		"publishErrorRate": {r.Failures, 0, maxRatePerSecond, 1},
		"backlog":          {r.Backlog, -1e15, 1e15, 1},
		"consumeFailed":    {r.PollErrors, 0, 1e15, 1},
	}
	for name, s := range r.series() {
		for suffix, values := range s.Periods {
			all[name+suffix] = boundedList{values, 0, maxNs, allSeries[name]}
		}
	}
	return all
}

type boundedList struct {
	values            []float64
	least, most, unit float64
}

func (r *Result) series() map[string]Series {
	return map[string]Series{sendName: r.Send, delayName: r.Delay, endToEndName: r.EndToEnd,
		scheduleName: r.Schedule}
}

// check checks that the file is an OMB result with at least one figure.
func (p *resultParser) check(r *Result) {
	n := len(r.Publish)
	unread := p.failed["publishRate"] || p.failed["sent"]
	switch {
	case n == 0 && !unread:
		p.bad = append(p.bad, strict.Violation{File: p.file,
			Message: "is not an OMB result, or has no period: publishRate is missing"})
		return
	case n > maxPeriods:
		p.reject("publishRate", "has %d values, but at most %d are read", n, maxPeriods)
	case r.PeriodSeconds > 3600:
		p.reject("sampleRateMillis", "is longer than an hour")
	}
	lists := r.lists()
	others := map[int][]string{} // keys of lists by their length, where it is another
	for _, key := range slices.Sorted(maps.Keys(lists)) {
		l := lists[key]
		if m := len(l.values); l.values != nil && m != n && !unread {
			others[m] = append(others[m], key)
		}
		for i, v := range l.values {
			if v < l.least || v > l.most {
				p.reject(key, "holds an impossible value, %s, at place %d", plain(v/l.unit), i+1)
				break
			}
		}
	}
	// One list of a wrong length makes all the others differ from it: that is one mistake.
	for _, m := range slices.Sorted(maps.Keys(others)) {
		first, more := others[m][0], ""
		if further := len(others[m]) - 1; further > 0 {
			more = fmt.Sprintf(", and so have %d more lists", further)
		}
		p.reject(first, "has %d values, but publishRate has %d%s", m, n, more)
	}
}

// skew is the time between OMB's readings of its two counters, sent and received, at the most. Its
// backlog of up to 2020 is their difference: when consumers keep up, it falls below 0 by the
// messages of this time.
const skew = 0.1 // seconds

// doubt makes figures unknown that cannot be what they say, and notes each. A backlog slightly
// below 0 is none, where as much was received as was sent.
func (p *resultParser) doubt(r *Result) {
	for i, v := range r.Publish {
		if math.IsNaN(v) {
			p.reject("publishRate", "holds no number at place %d", i+1)
			return
		}
	}
	for _, l := range []struct {
		key    string
		values *[]float64
	}{{"consumeRate", &r.Consume}, {"publishErrorRate", &r.Failures}, {"backlog", &r.Backlog}} {
		unknown, negative, least := 0, 0, 0.0
		for _, v := range *l.values {
			switch {
			case math.IsNaN(v):
				unknown++
			case v < 0:
				negative, least = negative+1, min(least, v)
			}
		}
		n, sent := len(*l.values), averageOf(r.Publish)
		switch {
		case unknown == 0 && -least <= skew*sent && averageOf(r.Consume) >= 0.95*sent:
			continue
		case unknown > 0:
			r.Doubts = append(r.Doubts, fmt.Sprintf("%s is no number in %d of %d periods, so it "+
				"is not known", l.key, unknown, n))
		case negative > 0: // only a backlog's; negative rates are rejected
			r.Doubts = append(r.Doubts, fmt.Sprintf("%s is below 0 in %d of %d periods, %s at the "+
				"least: more was counted as received than as sent, so how many messages waited is "+
				"not known", l.key, negative, n, plain(least)))
		default:
			continue
		}
		*l.values = nil
	}
}

// resolution is by how much a histogram may round a percentile above the greatest value.
const resolution = 0.002

// refuseFalling rejects figures of a series that contradict each other: a percentile below a lower
// one, or a mean above the greatest latency. One of them is wrong, and nothing tells which.
func (p *resultParser) refuseFalling(r *Result) {
	all := r.series()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		p.refuseContradiction(aggregated(name), "", allSeries[name],
			func(suffix string) (float64, bool) {
				v, has := s.Whole[suffix]
				return v, has
			})
		for i := 0; len(s.Periods) > 0 && i < len(r.Publish); i++ {
			if p.refuseContradiction(name, fmt.Sprintf(" at place %d", i+1), allSeries[name],
				func(suffix string) (float64, bool) { return at(s.Periods[suffix], i) }) {
				break
			}
		}
	}
}

// refuseContradiction reports whether figures contradict each other, and rejects the first of them.
func (p *resultParser) refuseContradiction(name, where string, unit float64,
	value func(suffix string) (float64, bool),
) bool {
	below, least := "", 0.0
	reject := func(key string, v float64, above string, limit float64) bool {
		p.reject(key, "is %s%s, below the %s of %s: one of them is wrong, name the file as OMB "+
			"wrote it", plain(v/unit), where, plain(limit/unit), above)
		return true
	}
	for _, suffix := range []string{minSuffix, "50pct", "75pct", "95pct", "99pct", "999pct",
		"9999pct", "Max"} {
		v, has := value(suffix)
		if !has || v < 0 { // a negative one is rejected already
			continue
		}
		if v < least*(1-resolution) {
			return reject(name+suffix, v, name+below, least)
		}
		if v >= least {
			below, least = suffix, v
		}
	}
	mean, has := value("Avg")
	if most, both := value("Max"); has && both && most < mean*(1-resolution) {
		return reject(name+"Max", most, name+"Avg", mean)
	}
	if lowest, both := value(minSuffix); has && both && mean < lowest*(1-resolution) {
		return reject(name+"Avg", mean, name+minSuffix, lowest)
	}
	return false
}

// at returns a value of a list, and whether it is there and known.
func at(values []float64, i int) (v float64, known bool) {
	if i >= len(values) || math.IsNaN(values[i]) {
		return 0, false
	}
	return values[i], true
}
