package bench

import (
	"reflect"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/workload"
)

// The loads of a warm-up are workloads that a file can have, since workers get them as text.
func TestWarmUpsReadBack(t *testing.T) {
	isolated, slow := workload.Default(), workload.Default()
	isolated.Isolate = workload.Isolate{CPUs: workload.CPUsSplit, DropPageCache: true}
	slow.SetRate(1)
	closed, err := workload.Parse("closed.yaml",
		[]byte("load: {closed: {in_flight: 2, batch: 1..10}}"))
	if err != nil {
		t.Fatal(err)
	}
	for name, w := range map[string]*workload.Workload{"default": workload.Default(),
		"isolated": isolated, "slow": slow, "closed": closed} {
		j := &Job{Workload: w, WarmUp: WarmUp{Auto: true}}
		first, rate := j.heatLoad()
		later := (&heat{compiles: true, rate: rate}).passLoad(&first, 7*time.Second)
		for pass, load := range map[string]workload.Workload{"first": first, "later": later} {
			read, err := workload.Parse("plan", []byte(load.YAML()))
			if err != nil || !reflect.DeepEqual(*read, load) {
				t.Errorf("%s, the %s pass: %v; sent %+v, read %+v", name, pass, err, load, read)
			}
		}
	}
}
