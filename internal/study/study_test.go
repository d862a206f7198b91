package study

import "testing"

func TestLibrary(t *testing.T) {
	for _, name := range Names() {
		if _, err := Find(name); err != nil {
			t.Errorf("%s:\n%v", name, err)
		}
	}
}
