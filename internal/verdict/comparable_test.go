package verdict

import (
	"reflect"
	"slices"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// noLoad lists the fields of a load in which comparable runs may differ: its name, fields about
// the time before the measured window, and the rate, which follows from the segments.
var noLoad = []string{"Workload", "WarmupSeconds", "DropPageCache", "TargetRate"}

// openLoop is a load of an open loop in which every field has a value.
func openLoop() *result.Run {
	r := observed()
	r.SchemaVersion = result.SchemaVersion
	r.Load.Handling = &result.Handling{Time: "5ms", Fails: 0.1}
	r.Load.Keys, r.Load.KeyExponent, r.Load.Backlog = "none", 1.2, "{for: 10s}"
	r.Load.Segments = []result.Segment{{From: 1, To: 2, Seconds: 3}, {From: 4, To: 5, Seconds: 6}}
	return r
}

// closedLoop is a load of a closed loop. It has no rate, arrivals or bound of messages in flight.
func closedLoop() *result.Run {
	r := observed()
	r.SchemaVersion = result.SchemaVersion
	r.Load.Closed = &result.Closed{InFlight: 1, BatchLeast: 1, BatchMost: 2}
	return r
}

// visitingLoad is a load on existing topics.
func visitingLoad() *result.Run {
	r := openLoop()
	r.Load.Existing = []string{"orders"}
	return r
}

// unlikeLoad is a load of classes with topics of their own.
func unlikeLoad() *result.Run {
	r := openLoop()
	r.Load.TopicKinds = []result.TopicKind{{Class: "order", Topics: 2, Partitions: 12}}
	return r
}

// changed returns changed copies of a value. It changes the fields of a struct, of a pointer's
// target and of a slice's first element one by one, by their names.
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

// Runs without a saved workload are comparable only if every field of their loads is equal.
func TestEveryFieldOfALoadIsCompared(t *testing.T) {
	for name, c := range map[string]struct {
		run   func() *result.Run
		only  string // the field that this load adds; empty: all fields that no other load adds
		least int    // changes
	}{
		"open loop": {openLoop, "", 3}, "closed loop": {closedLoop, "Closed", 3},
		"topics that exist": {visitingLoad, "Existing", 1},
		"topics of classes": {unlikeLoad, "TopicKinds", 3},
	} {
		other, seen := c.run(), 0
		load := reflect.ValueOf(&other.Load).Elem()
		for i := range load.NumField() {
			field := load.Type().Field(i).Name
			if c.only != "" && field != c.only ||
				c.only == "" && (field == "Closed" || field == "Existing" || field == "TopicKinds") {
				continue
			}
			changed(field, load.Field(i), func(part string) {
				seen++
				comparable := len(Comparable([]*result.Run{c.run(), other})) == 0
				// A window whose length depends on the readers is not part of the load.
				follows := slices.Contains(noLoad, field) || field == "WindowSeconds"
				if comparable != follows {
					t.Errorf("%s: runs that differ in %s are comparable: %v", name, part,
						comparable)
				}
			})
		}
		if left := Comparable([]*result.Run{c.run(), other}); seen < c.least || len(left) > 0 {
			t.Errorf("%s: %d changes, and these are left: %v", name, seen, left)
		}
	}
	for _, field := range []string{"TargetRate", "WindowSeconds"} {
		a, b := observed(), observed()
		changed(field, reflect.ValueOf(&b.Load).Elem().FieldByName(field), func(string) {
			if len(Comparable([]*result.Run{a, b})) == 0 {
				t.Errorf("runs of one rate that differ in %s are comparable", field)
			}
		})
	}
}

// bases are workloads that together have every key.
var bases = []string{
	"description: a base", "keys: {kind: zipf}", "keys: {kind: shares, shares: 50% 1 + 50% 9}",
	"load: {steps: [{rate: 1k/s, for: 9s}, {rate: 2k/s, for: 9s}]}",
	"load: {ramp: {from: 1k/s, to: 2k/s}}", "load: {rate: 1k/s, burst: 5}",
	"load: {closed: {in_flight: 2, batch: 3}}",
	"backlog: {size: 2GB}", "backlog: {messages: 1M}", "backlog: {for: 10m}",
	"backlog: {for: 9m, after: 0s, producers: stop}",
	"audit: true", "faults: [{do: kill, at: 2s, for: 1s}]",
	"{load: {rate: 1k/s}, handling: {time: 1ms, fails: 1%}}",
	"scaling: [{at: 5s, consumers: 1}]", "isolate: {cpus: split}", "existing_topics: [orders]",
	"classes: [{name: a, share: 50%, size: 1KB}, {name: b, share: 50%, size: 2KB}]",
	"clients: throughput", "objectives: [publish.p99 < 20ms]",
}

// otherValues are values of which at least one changes any key.
var otherValues = []string{
	"7", "6", "3", "2M", "1.5", "2KB", "3GB", "25%", "random", "round_robin", "poisson", "9k/s",
	"3k/s", "21s", "500us", "11m", "auto",
	"exactly_once", "go_on", "latency", "shared", "[others]", "[lost < 1]", "true", "false", "replay", "1..9", "other",
	"[{name: a, share: 50%, size: 1KB}, {name: b, share: 50%, size: 3KB}]",
	"[{at: 6s, consumers: 1}]", "[{rate: 1k/s, for: 9s}, {rate: 3k/s, for: 9s}]", "[{do: pause, at: 2s, for: 1s}]",
}

// with returns a workload and its copy with another value of a key; nil if no base has the key.
func with(t *testing.T, f workload.Field) (before, after *workload.Workload) {
	for _, base := range bases {
		before, err := workload.Parse("base", []byte(base))
		if err != nil {
			t.Fatal(err)
		}
		if before.Values()[f.Path] == "" {
			continue
		}
		for _, other := range otherValues {
			src, err := strict.Set([]byte(base), f.Path, other)
			if err != nil {
				continue
			}
			after, err := workload.Parse("other", []byte(src))
			if err == nil && after.Values()[f.Path] != before.Values()[f.Path] {
				return before, after
			}
		}
	}
	return nil, nil
}

func runOf(w *workload.Workload) *result.Run {
	return &result.Run{
		SchemaVersion: result.SchemaVersion, Load: w.Record(), Seed: w.Seed,
		Resolved:   result.Resolved{Workload: w.YAML()},
		Durability: result.Durability{Asked: int(w.Durability), Level: int(w.Durability)},
	}
}

// Every changed key of a workload is among the differences, and decides comparability as the table
// declares. The same holds for an older run without the resolved workload, except for keys that
// are not in its figures.
func TestEveryKeyOfAWorkloadIsCompared(t *testing.T) {
	notInFigures := []string{"classes", "description", "drain", "faults", "isolate.cpus", "objectives",
		"scaling"}
	for _, f := range workload.Fields() {
		before, after := with(t, f)
		if before == nil {
			t.Errorf("%s: no base has it, or no other value means something else", f.Path)
			continue
		}
		for _, older := range []bool{false, true} {
			a, b := runOf(before), runOf(after)
			if older {
				a.Resolved, b.Resolved = result.Resolved{}, result.Resolved{}
			}
			if older && slices.Contains(notInFigures, f.Path) {
				continue
			}
			found := workload.Differing(
				[]workload.Values{workload.Recorded(a), workload.Recorded(b)})
			if !slices.ContainsFunc(found,
				func(d workload.Field) bool { return d.Path == f.Path }) {
				t.Errorf("%s, older %v: not among the differences", f.Path, older)
			}
			if why := Comparable([]*result.Run{a, b}); (len(why) == 0) != f.Comparable() {
				t.Errorf("%s, older %v: declared comparable %v: %v", f.Path, older, f.Comparable(),
					why)
			}
			a.Resolved, b.Resolved = result.Resolved{}, result.Resolved{Workload: before.YAML()}
			b.Load = before.Record()
			// Older runs had no classes.
			if b.Seed = before.Seed; f.Path == "durability" || f.Path == "classes" {
				continue
			}
			if why := Comparable([]*result.Run{a, b}); len(why) > 0 {
				t.Errorf("%s: a run without its resolved workload differs from the same with it: %v",
					f.Path, why)
			}
		}
	}
}

// A different number of keys makes runs incomparable, and is named.
func TestRunsThatDifferInTheNumberOfKeysAreNotComparable(t *testing.T) {
	of := func(count string) *result.Run {
		w, err := workload.Parse("w", []byte("keys: {kind: random, count: "+count+"}"))
		if err != nil {
			t.Fatal(err)
		}
		return runOf(w)
	}
	why := Comparable([]*result.Run{of("100"), of("1M")})
	want := "these runs are not comparable: their workloads differ in number of keys"
	if len(why) != 1 || why[0].Sentence != want {
		t.Errorf("%v, want %s", why, want)
	}
}

// A field that an older run did not record is no difference. But it is known that plimsoll then
// sent messages without a key to the partitions one by one.
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
		a, b := older(), openLoop()
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

// A run with a single copy of each message is ranked beside runs with a single copy only.
func TestSingleCopiesAreNotRankedBesideSeveral(t *testing.T) {
	of := func(copies int) *result.Run {
		r := openLoop()
		r.Durability.Copies = copies
		return r
	}
	for _, c := range []struct {
		copies []int
		ranked bool
	}{
		{[]int{1, 1}, true}, {[]int{3, 3}, true}, {[]int{3, 5}, true},
		{[]int{1, 3}, false}, {[]int{3, 1, 1}, false}, {[]int{1, 0}, false},
	} {
		var runs []*result.Run
		for _, n := range c.copies {
			runs = append(runs, of(n))
		}
		why := Comparable(runs)
		if c.ranked != (len(why) == 0) ||
			!c.ranked && (len(why) != 1 || why[0].Code != "copies_differ") {
			t.Errorf("%v copies: %v", c.copies, why)
		}
	}
}
