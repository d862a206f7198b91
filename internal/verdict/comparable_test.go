package verdict

import (
	"reflect"
	"slices"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

// noLoad are the fields of a load in which comparable runs may differ: its name,
// and what was done before the measured window.
var noLoad = []string{"Workload", "WarmupSeconds", "DropPageCache"}

// wholeLoad is a load in which every field has a value.
func wholeLoad() *result.Run {
	r := observed()
	r.SchemaVersion = result.SchemaVersion
	r.Load.Segments = []result.Segment{{From: 1, To: 2, Seconds: 3}, {From: 4, To: 5, Seconds: 6}}
	r.Load.Closed = &result.Closed{InFlight: 1, BatchLeast: 1, BatchMost: 2}
	return r
}

// changed gives a value another one; fields of a struct, of what a pointer points to
// and of the first element of a slice are changed one by one, by their names.
func changed(name string, v reflect.Value, each func(name string)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			changed(name+"."+v.Type().Field(i).Name, v.Field(i), each)
		}
		return
	case reflect.Pointer:
		changed(name, v.Elem(), each)
		return
	case reflect.Slice:
		changed(name, v.Index(0), each)
		return
	}
	old := reflect.New(v.Type()).Elem()
	old.Set(v)
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + " changed")
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 7)
	case reflect.Float64:
		v.SetFloat(v.Float() + 0.7)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	default:
		panic("a load has a field of another kind: " + v.Kind().String())
	}
	each(name)
	v.Set(old)
}

// Runs are comparable only when every field of their loads is the same.
func TestEveryFieldOfALoadIsCompared(t *testing.T) {
	other, seen := wholeLoad(), 0
	load := reflect.ValueOf(&other.Load).Elem()
	for i := range load.NumField() {
		field := load.Type().Field(i).Name
		changed(field, load.Field(i), func(name string) {
			seen++
			comparable := len(Comparable([]*result.Run{wholeLoad(), other})) == 0
			if comparable != slices.Contains(noLoad, field) {
				t.Errorf("runs that differ in %s are comparable: %v", name, comparable)
			}
		})
	}
	if left := Comparable([]*result.Run{wholeLoad(), other}); seen < load.NumField() || len(left) > 0 {
		t.Errorf("%d changes of %d fields, and these are left: %v", seen, load.NumField(), left)
	}
}

// What an older run did not record is no difference; that plimsoll then dealt
// messages without a key one by one is known.
func TestOlderRunsAreComparedByWhatTheyRecorded(t *testing.T) {
	older := func() *result.Run { r := observed(); r.SchemaVersion = 1; return r }
	for name, c := range map[string]struct {
		keys, spread string
		comparable   bool
	}{
		"zipf":            {"zipf", "", true},
		"dealt in turn":   {"none", "round_robin", true},
		"dealt otherwise": {"none", "client", false},
	} {
		a, b := older(), wholeLoad()
		a.Load.Keys = c.keys
		b.Load = a.Load
		b.Load.Keys, b.Load.Spread = c.keys, c.spread
		if c.keys != "none" {
			b.Load.KeyCount, b.Load.KeyExponent, b.Load.Audit = 1000, 1.1, true
		}
		if got := Comparable([]*result.Run{a, b}); (len(got) == 0) != c.comparable {
			t.Errorf("%s: %v", name, got)
		}
		if got := Comparable([]*result.Run{b, a}); (len(got) == 0) != c.comparable {
			t.Errorf("%s, the other way round: %v", name, got)
		}
	}
}
