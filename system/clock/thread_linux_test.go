package clock

import "testing"

func TestTwoNumbers(t *testing.T) {
	for line, want := range map[string][2]int64{
		"962099 327164 3\n": {962099, 327164}, "1 0 1\n": {1, 0}, "1 5": {1, 5},
		"": {-1}, "17\n": {-1}, "17 ": {-1}, " 17 1": {-1}, "1 x 3": {-1}, "x 1 3": {-1},
		"-1 5 3": {-1},
	} {
		first, second, ok := twoNumbers([]byte(line))
		if !ok {
			first, second = -1, 0
		}
		if got := [2]int64{first, second}; got != want {
			t.Errorf("%q: %d, want %d", line, got, want)
		}
	}
}
