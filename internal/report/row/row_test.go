package row

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/result"
)

// notShown are the fields of a load without a row: each follows from a field that has one.
var notShown = []string{
	"TargetRate of a closed loop", // it has none
	"TargetRate",                  // it follows from the segments
}

// Every difference between two loads is among the differences of their runs.
func TestEveryFieldOfALoadIsShownWhereItDiffers(t *testing.T) {
	run := func() *result.Saved {
		return &result.Saved{Run: result.Run{SchemaVersion: result.SchemaVersion, Load: result.Load{
			Segments: []result.Segment{{From: 100, To: 200, Seconds: 3},
				{From: 400, To: 500, Seconds: 6}},
			TopicKinds: []result.TopicKind{{Class: "order"}}, Backlog: "{for: 10s}", Handling: &result.Handling{Time: "5ms"},
			Closed: &result.Closed{InFlight: 1, BatchLeast: 1, BatchMost: 2},
		}}}
	}
	check := func(name string, closed bool, change func(*result.Load)) {
		a, b := run(), run()
		if !closed {
			a.Run.Load.Closed, b.Run.Load.Closed = nil, nil
		}
		change(&b.Run.Load)
		shown := len(Differing([]*result.Saved{a, b})) > 0
		if closed {
			name += " of a closed loop"
		}
		if shown == slices.Contains(notShown, name) {
			t.Errorf("%s differs: shown %v", name, shown)
		}
	}
	of := reflect.TypeFor[result.Load]()
	for i := range of.NumField() {
		if of.Field(i).Name == "MessageSizes" {
			continue // it must be readable: see below
		}
		check(of.Field(i).Name, of.Field(i).Name == "Closed", func(l *result.Load) {
			alter(reflect.ValueOf(l).Elem().Field(i))
		})
	}
	for i := range reflect.TypeFor[result.Segment]().NumField() {
		check("Segment", false, func(l *result.Load) {
			alter(reflect.ValueOf(&l.Segments[0]).Elem().Field(i))
		})
	}
	for i := range reflect.TypeFor[result.Closed]().NumField() {
		check("Closed", true,
			func(l *result.Load) { alter(reflect.ValueOf(l.Closed).Elem().Field(i)) })
	}
	check("MessageSizes", false, func(l *result.Load) { l.MessageSizes = "100B..300B" })
	check("TargetRate", true, func(l *result.Load) { l.TargetRate = 7 })
}

// alter gives a value another one.
func alter(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "other")
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 7)
	case reflect.Float64:
		v.SetFloat(v.Float() + 7)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Pointer:
		alter(v.Elem().Field(0))
	case reflect.Slice:
		if names, is := v.Interface().([]string); is {
			v.Set(reflect.ValueOf(append(names, "other")))
			return
		}
		alter(v.Index(0).Field(0))
	default:
		panic("another kind of field: " + v.Kind().String())
	}
}

func TestBarsLeaveBoundsOut(t *testing.T) {
	s := fixture.Bounded(t)
	for _, f := range latencyFigures(ofPublish, result.Publish) {
		if f.number == nil {
			continue
		}
		_, ok := f.number(&s.Run)
		if exact := strings.HasSuffix(f.name, "p50"); ok != exact {
			t.Errorf("%s has a bar: %v", f.name, ok)
		}
	}
}
