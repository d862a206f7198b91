package result

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unsafe"
)

// Bounds of what is read from a run directory, which may have been made by anyone. A run writes
// less than 100 MB in all.
const (
	maxFile     = 100 << 20 // bytes of a file
	maxValues   = 64 << 20  // bytes of memory of the values of a directory's JSON files
	maxSqueezed = 80 << 20  // bytes of memory of its histograms
	maxInflated = 192 << 20 // bytes of all histograms, which are inflated one by one
	maxEvents   = 50_000
	// maxIntervals is more than fit into a directory. A long run has long intervals.
	maxIntervals = 100_000
	// Beside an interval a second, or the shorter ones of faults, each change of phase ends one.
	spareIntervals = 1_000
	// seriesMost is more than the histograms of an interval.
	seriesMost = 40
	// histogramBytes is the memory of a histogram beside its bytes.
	histogramBytes = int64(unsafe.Sizeof(IntervalLatency{}) + unsafe.Sizeof(squeezed{}))
)

// FaultInterval is the longest time between two readings of a run around a fault.
const FaultInterval = 100 * time.Millisecond

var errTooMuch = errors.New("more than a run can have")

// bounds are the bounds of a run, and what was read of it so far.
type bounds struct {
	intervals, histograms int
	values, squeezed      int64 // bytes of memory
	inflated              int64 // bytes
	store                 store
}

// bounds follow from the length of the run and its faults, where it has ended.
func (r *Run) bounds() *bounds {
	b := &bounds{intervals: maxIntervals}
	if n := len(r.Phases); n > 0 && r.Phases[n-1].EndNs > 0 {
		most := r.Phases[n-1].EndNs / 1e9
		if len(r.Faults) > 0 {
			most = r.Phases[n-1].EndNs / int64(FaultInterval)
		}
		b.intervals = int(min(maxIntervals, most+most/8+spareIntervals))
	}
	b.histograms = b.intervals * seriesMost
	return b
}

// lines bounds how many lines of JSON are parsed, and how much memory their values take.
func (b *bounds) lines(most int, parse func([]byte) (int64, error)) func([]byte) error {
	return bounded(most, &b.values, maxValues, parse)
}

// logged is lines for lines of histograms.
func (b *bounds) logged(parse func([]byte) (int64, error)) func([]byte) error {
	return bounded(b.histograms, &b.squeezed, maxSqueezed, parse)
}

func bounded(lines int, kept *int64, most int64, parse func([]byte) (int64, error),
) func([]byte) error {
	n := 0
	return func(line []byte) error {
		if n++; n > lines || *kept > most {
			return errTooMuch
		}
		more, err := parse(line)
		*kept += more
		return err
	}
}

// store keeps bytes side by side.
type store struct{ block []byte }

func (s *store) keep(b []byte) []byte {
	const blockBytes = 256 << 10
	if len(b) > cap(s.block)-len(s.block) {
		s.block = make([]byte, 0, max(len(b), blockBytes))
	}
	from := len(s.block)
	s.block = append(s.block, b...)
	return s.block[from:len(s.block):len(s.block)]
}

// memoryOf returns about how many bytes a value points to.
func memoryOf(v reflect.Value) (n int64) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			n = int64(v.Type().Elem().Size()) + memoryOf(v.Elem())
		}
	case reflect.String:
		n = int64(v.Len())
	case reflect.Slice:
		n = int64(v.Cap()) * int64(v.Type().Elem().Size())
		for i := range v.Len() {
			n += memoryOf(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += memoryOf(v.Field(i))
		}
	case reflect.Map:
		const entry = 16 // beside key and value
		for key, value := range v.Seq2() {
			n += entry + int64(key.Type().Size()+value.Type().Size()) + memoryOf(key) +
				memoryOf(value)
		}
	}
	return n
}

// mostNumber bounds the whole numbers of a file, times left out, so that a few of them have a sum.
const mostNumber = int64(1) << 59

// CheckNumbers refuses a value that was read from a file and has a whole number which no run has.
func CheckNumbers(v any) error {
	if at, n := strange(reflect.ValueOf(v), ""); at != "" {
		return fmt.Errorf("%s is %d, which no run has", strings.TrimPrefix(at, "."), n)
	}
	return nil
}

// strange returns the place of a number that is out of bounds; "": there is none.
func strange(v reflect.Value, at string) (place string, n int64) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return strange(v.Elem(), at)
		}
	case reflect.Int, reflect.Int64, reflect.Int32:
		if n = v.Int(); (n > mostNumber || n < -mostNumber) && !strings.HasSuffix(at, timeUnit) {
			return at, n
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if place, n = strange(v.Index(i), at); place != "" {
				return place, n
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				continue
			}
			place, n = strange(v.Field(i), at+"."+nameOf(v.Type().Field(i)))
			if place != "" {
				return place, n
			}
		}
	case reflect.Map:
		for _, value := range v.Seq2() {
			if place, n = strange(value, at); place != "" {
				return place, n
			}
		}
	}
	return "", 0
}

// timeUnit ends the names of times.
const timeUnit = "_ns"

// nameOf is the name of a field in a file.
func nameOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return cmp.Or(name, f.Name)
}

// mostCount bounds a count of messages: a week at the highest rate has fewer.
const mostCount = int64(1) << 50

// checkCounts refuses counts that no run has.
func (r *Run) checkCounts() error {
	counts := []any{r.Counters, r.Warmup, r.Errors}
	for _, l := range r.Ledger.Subscriptions {
		l.LostRanges, l.DuplicateRanges, l.ReorderedRanges = nil, nil, nil
		counts = append(counts, l)
	}
	for _, c := range counts {
		if n, is := uncountable(reflect.ValueOf(c)); is {
			return fmt.Errorf("a count is %d", n)
		}
	}
	return r.Environment.Proof.Check()
}

// uncountable returns a whole number of a value that is no count.
func uncountable(v reflect.Value) (n int64, is bool) {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		return v.Int(), v.Int() < 0 || v.Int() > mostCount
	case reflect.Slice, reflect.Array:
		for i := 0; i < v.Len() && !is; i++ {
			n, is = uncountable(v.Index(i))
		}
	case reflect.Struct:
		for i := 0; i < v.NumField() && !is; i++ {
			n, is = uncountable(v.Field(i))
		}
	}
	return n, is
}
