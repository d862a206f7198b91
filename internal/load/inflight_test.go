package load

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
)

// change is a message handed over (+1) or answered (-1).
type change struct {
	ns int64
	by int64
}

// flown holds the changes of the number of messages in flight that the system saw.
type flown []change

// mean returns the least and the greatest mean number in flight that watchers can find in a
// window. They sample at times given by the seed. A sample at the time of a change may come before
// or after it, so the two means may differ.
func (f flown) mean(seed uint64, fromNs int64, in Window) (bounds [2]float64) {
	rest := slices.SortedFunc(slices.Values(f), func(a, b change) int {
		return cmp.Compare(a.ns, b.ns)
	})
	measured := func(ns int64) bool { return ns >= in.MeasureNs && ns < in.EndNs }
	looks := measure.NewLooks(seed)
	var now, watched int64
	var before [2]int64
	for last := fromNs; last < in.EndNs; {
		look := looks.Next(last)
		for len(rest) > 0 && rest[0].ns < look {
			now += rest[0].by
			rest = rest[1:]
		}
		after := [2]int64{now, now}
		for i := 0; i < len(rest) && rest[i].ns == look; i++ {
			after[0] += min(rest[i].by, 0)
			after[1] += max(rest[i].by, 0)
		}
		if measured(last) && measured(look) {
			watched += look - last
			for i := range bounds {
				bounds[i] += float64(before[i]+after[i]) / 2 * float64(look-last)
			}
		}
		last, before = look, after
	}
	for i := range bounds {
		bounds[i] /= float64(max(watched, 1))
	}
	return bounds
}

// holds reports whether a number is within bounds, except for rounding.
func holds(bounds [2]float64, x float64) bool {
	const rounding = 1e-9
	return x >= bounds[0]*(1-rounding) && x <= bounds[1]*(1+rounding)
}

// A sample at the moment of a change may see the number before or after it. All other samples see
// one number.
func TestMeanOfFlownMessages(t *testing.T) {
	looks := measure.NewLooks(1)
	var at [4]int64
	for i := range at {
		at[i] = looks.Next(at[max(i-1, 0)])
	}
	in := Window{MeasureNs: at[0], EndNs: at[3]}
	first, second := float64(at[1]-at[0]), float64(at[2]-at[1])
	for _, c := range []struct {
		name  string
		flown flown
		want  [2]float64 // messages x ns
	}{
		{"nothing", nil, [2]float64{}},
		{"all the time", flown{{1, 1}}, [2]float64{first + second, first + second}},
		{"between two looks", flown{{at[0] + 1, 1}, {at[1] - 1, -1}}, [2]float64{}},
		{"from between", flown{{at[1] + 1, 2}}, [2]float64{second, second}},
		{"from a look", flown{{at[1], 2}}, [2]float64{second, first + 2*second}},
		{"until a look", flown{{at[1], -1}, {1, 1}}, [2]float64{first / 2, first + second/2}},
	} {
		for i := range c.want {
			c.want[i] /= first + second
		}
		if got := c.flown.mean(1, 0, in); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// difference names the first fields that differ, with the values of both.
func difference(a, b any) string {
	return differing("", reflect.ValueOf(a), reflect.ValueOf(b))
}

func differing(path string, a, b reflect.Value) string {
	if reflect.DeepEqual(a.Interface(), b.Interface()) {
		return ""
	}
	switch {
	case a.Kind() == reflect.Struct:
		for i := range a.NumField() {
			if !a.Type().Field(i).IsExported() {
				continue
			}
			field := path + "." + a.Type().Field(i).Name
			if found := differing(field, a.Field(i), b.Field(i)); found != "" {
				return found
			}
		}
	case a.Kind() == reflect.Pointer && !a.IsNil() && !b.IsNil():
		return differing(path, a.Elem(), b.Elem())
	case (a.Kind() == reflect.Slice || a.Kind() == reflect.Array) && a.Len() == b.Len():
		for i := range a.Len() {
			found := differing(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i))
			if found != "" {
				return found
			}
		}
	}
	return fmt.Sprintf("%s is %+v, not %+v", path, b, a)
}

// The text about a difference names the field and both values.
func TestDifferenceNamesTheField(t *testing.T) {
	one := told{Dues: []int64{1, 2}, Samples: []Sample{{}, {AtNs: 4}}, Proofs: 1}
	for _, c := range []struct {
		change func(*told)
		want   string
	}{
		{func(*told) {}, ""},
		{func(o *told) { o.Proofs = 3 }, ".Proofs is 3, not 1"},
		{func(o *told) { o.Dues = []int64{1, 3} }, ".Dues[1] is 3, not 2"},
		{func(o *told) { o.Dues = nil }, ".Dues is [], not [1 2]"},
		{func(o *told) { o.InFlight[1] = 0.5 }, ".InFlight[1] is 0.5, not 0"},
		{func(o *told) { o.Samples = []Sample{{}, {AtNs: 4, Counters: Counters{Fresh: 7}}} },
			".Samples[1].Counters.Fresh is 7, not 0"},
	} {
		other := one
		c.change(&other)
		if got := difference(one, other); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
