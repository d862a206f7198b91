package result

import (
	"encoding/json"
	"testing"
)

// Older runs call the target of a fault "whom".
func TestTheOldNameOfAFaultsTargetIsRead(t *testing.T) {
	for src, want := range map[string]Fault{
		`{"do":"kill","whom":"leader","nodes":["n1"]}`: {Do: "kill", Target: "leader",
			Nodes: []string{"n1"}},
		`{"do":"kill","target":"leader","nodes":["n1"]}`: {Do: "kill", Target: "leader",
			Nodes: []string{"n1"}},
	} {
		var got Fault
		if err := json.Unmarshal([]byte(src), &got); err != nil {
			t.Fatal(err)
		}
		if got.Do != want.Do || got.Target != want.Target || len(got.Nodes) != 1 {
			t.Errorf("%s: %+v", src, got)
		}
	}
}
