package export

import (
	"bytes"
	"encoding/csv"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Each class of messages has rows of its own, beside those of all messages.
func TestClassesHaveRows(t *testing.T) {
	s := fixture.NatsInside.Load(t)
	l := result.Latency{Count: 7, MinNs: 5, MaxNs: 9,
		Percentiles: []result.Percentile{{Percentile: 50, LatencyNs: 6}}}
	s.Run.Classes = []result.Class{{Name: "order", Publish: l}}
	var out bytes.Buffer
	if err := CSV(&out, []*result.Saved{s}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	got := map[string][2]string{}
	for _, row := range rows[1:] {
		got[row[column["series"]]] = [2]string{row[column["count"]], row[column["p50_ns"]]}
	}
	if got["publish_of_order"] != [2]string{"7", "6"} ||
		got["end_to_end_of_order"] != [2]string{"0", ""} || got["publish"][0] == "" {
		t.Errorf("%v", got)
	}
}
