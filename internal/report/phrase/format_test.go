package phrase

import "testing"

func TestTheFirstLetterIsWhole(t *testing.T) {
	for given, want := range map[string]string{"": "", "a cell": "A cell", "élan": "Élan"} {
		if got := Upper(given); got != want {
			t.Errorf("%q becomes %q, want %q", given, got, want)
		}
	}
}
