package result

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A run whose file has numbers that no run has is refused by name, so that nothing is printed of
// them.
func TestNumbersThatNoRunHas(t *testing.T) {
	for text, want := range map[string]string{
		`"environment":{"proof":{"held":34,"missed":9223372036854775740}}`: "missed is 9223372036854775740",
		`"environment":{"proof":{"held":34,"missed":-40}}`:                 "34, -40 and 0 planted truths",
		`"counters":{"acked":-1}`:                                          "a count is -1",
		`"subscriptions":[{"lost":-5}]`:                                    "",
		`"ledger":{"subscriptions":[{"lost":-5}]}`:                         "a count is -5",
		`"errors":[{"count":4611686018427387904,"message":"x"}]`:           "count is 4611686018427387904",
		`"phases":[{"end_ns":-9223372036854775808}]`:                       "",
		`"workers":[{"clock_bound_ns":4611686018427387903}]`:               "",
	} {
		dir := t.TempDir()
		text = `{"schema_version":1,` + text + "}"
		if err := os.WriteFile(filepath.Join(dir, RunFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Read(dir)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestNumbersInLines(t *testing.T) {
	s := hostile(t, intervalsFile, `{"acked":-9223372036854775808}`, 1)
	if len(s.Intervals) > 0 || len(s.Damage) != 1 {
		t.Errorf("%+v, %q", s.Intervals, s.Damage)
	}
}
