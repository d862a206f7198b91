package experiment

import (
	"slices"
	"testing"
)

func FuzzNotes(f *testing.F) {
	f.Add("a, b", "note")
	f.Fuzz(func(t *testing.T, tags, note string) {
		n, err := NewNotes(tags, note)
		if err != nil {
			return
		}
		dir := t.TempDir()
		if err := n.Save(dir); err != nil {
			t.Fatal(err)
		}
		if got := ReadNotes(dir); got.Note != n.Note || !slices.Equal(got.Tags, n.Tags) {
			t.Errorf("%+v, want %+v", got, n)
		}
	})
}
