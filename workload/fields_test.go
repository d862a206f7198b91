package workload

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// everything is workloads that use every field of the struct between them.
func everything() []*Workload {
	open, ramp, closed := Default(), Default(), Default()
	drain, replay, lasting, existing := Default(), Default(), Default(), Default()
	existing.Existing, existing.Objectives = []string{"orders"}, []string{"lost < 1"}
	histogram, lognormal := Default(), Default()
	histogram.Message.Sizes = &Sizes{Parts: []SizePart{{0.5, 100, 200}, {0.5, 300, 300}}}
	lognormal.Message.Sizes = &Sizes{Median: 100, P99: 1000, Most: 2000}
	open.Keys = Keys{Kind: KeysZipf, Count: 10, Exponent: 1.2}
	open.Load.Segments = []Segment{{1, 2, time.Second}, {3, 4, time.Second}}
	open.Faults = []Fault{{Do: FaultKill, Target: TargetOne, Within: 1, Every: 1, For: 1,
		ToVersion: "1.2"}}
	ramp.Load.Segments = []Segment{{1, 2, time.Second}}
	closed.Load = Load{Closed: &Closed{InFlight: 1, Batch: Batch{1, 2}}}
	drain.Backlog = &Backlog{Bytes: 10, Then: BacklogDrain}
	replay.Backlog = &Backlog{Messages: 10, Then: BacklogReplay}
	lasting.Backlog = &Backlog{For: 10, Then: BacklogDrain}
	shares := &Workload{Keys: Keys{Kind: KeysShares, Shares: []KeyPart{{0.2, 3}}}}
	working := Default()
	working.Handling.Time.Parts = []TimePart{{Share: 0.5, Time: 3}}
	working.Classes = []Class{{Name: "order", Share: 0.5, Least: 100, Most: 200,
		Keys: Keys{Kind: KeysZipf, Count: 9, Exponent: 2}, Topics: 1, Partitions: 2},
		{Name: "event", Share: 0.5, Least: 300, Most: 300, Topics: 1}}
	working.Scaling = []GroupSize{{At: 1, Consumers: 1}}
	return []*Workload{shares, working, open, ramp, closed, drain, replay, lasting,
		existing, histogram, lognormal}
}

// leaves calls each with every single value of a struct, of its pointers' targets, and of the
// first elements of its slices, by name.
func leaves(name string, v reflect.Value, each func(name string, v reflect.Value)) {
	switch {
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			leaves(strings.TrimPrefix(name+"."+v.Type().Field(i).Name, "."), v.Field(i), each)
		}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		leaves(name, v.Elem(), each)
	case v.Kind() == reflect.Slice && v.Len() > 0:
		leaves(name, v.Index(0), each)
	case v.Kind() != reflect.Pointer && v.Kind() != reflect.Slice:
		each(name, v)
	}
}

// Every change of a workload changes its printed keys, so differences between two runs are always
// reported.
func TestEveryFieldOfAWorkloadIsAmongTheDifferences(t *testing.T) {
	told := map[string][]string{}
	for _, w := range everything() {
		before := w.Values()
		leaves("", reflect.ValueOf(w).Elem(), func(name string, v reflect.Value) {
			old := reflect.New(v.Type()).Elem()
			old.Set(v)
			switch v.Kind() {
			case reflect.String:
				v.SetString("changed")
			case reflect.Bool:
				v.SetBool(!v.Bool())
			case reflect.Int, reflect.Int64:
				v.SetInt(v.Int() + 7)
			case reflect.Uint64:
				v.SetUint(v.Uint() + 7)
			case reflect.Float64:
				v.SetFloat(v.Float() + 0.5)
			default:
				t.Fatalf("%s is of another kind: %s", name, v.Kind())
			}
			for _, f := range Differing([]Values{before, w.Values()}) {
				told[name] = append(told[name], f.Path)
			}
			if told[name] == nil {
				told[name] = []string{}
			}
			v.Set(old)
		})
	}
	paths := map[string]bool{}
	for name, differing := range told {
		if len(differing) == 0 {
			t.Errorf("a change of %s is no difference", name)
		}
		for _, path := range differing {
			paths[path] = true
		}
	}
	for _, f := range Fields() {
		if !paths[f.Path] {
			t.Errorf("no field of the struct changes %s", f.Path)
		}
		if f.Name == "" || !strings.HasSuffix(f.Means, ".") {
			t.Errorf("%s lacks a name, or a sentence on what it means", f.Path)
		}
	}
}

func TestOldNamesOfKeysAreRead(t *testing.T) {
	read := func(key string) *Workload {
		w, err := Parse("w.yaml", []byte("faults: [{do: kill, "+key+": leader, at: 2s, for: 1s}]"))
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	was, is := read("whom"), read("target")
	if !slices.Equal(was.Faults, is.Faults) || was.Faults[0].Target != TargetLeader {
		t.Errorf("whom: %v, target: %v", was.Faults, is.Faults)
	}
	_, err := Parse("w.yaml",
		[]byte("faults: [{do: kill, whom: one, target: leader, at: 2s, for: 1s}]"))
	if err == nil || !strings.Contains(err.Error(), `duplicate key "faults[0].target"`) {
		t.Errorf("both names: %v", err)
	}
}

func TestFieldAt(t *testing.T) {
	for path, want := range map[string]string{
		"name": "name", "load.steps[0].rate": "load.steps", "message": "",
		"message.size": "message.size", "topicss": "", "": "",
	} {
		if f, ok := FieldAt(path); f.Path != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", path, f.Path, ok)
		}
	}
}
