package clock

import "testing"

func TestSecondNumber(t *testing.T) {
	for line, want := range map[string]int64{
		"962099 327164 3\n": 327164, "1 0 1\n": 0, "1 5": 5,
		"": -1, "17\n": -1, "1 x 3": -1, "-1 5 3": -1,
	} {
		got, ok := secondNumber([]byte(line))
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %d, want %d", line, got, want)
		}
	}
}
