package experiment

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// Notes that cannot be read may be mended by hand, so nothing is saved over them.
func TestTornNotesStay(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"torn": func(path string) error {
			return os.WriteFile(path, []byte(`{"note": "x`), 0o600)
		},
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"a link":   func(path string) error { return os.Symlink("elsewhere", path) },
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, NotesFile)
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		was, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		n := Notes{Note: "new"}
		if err := n.Save(dir); err == nil || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("%s: %v", name, err)
		}
		is, err := os.Lstat(path)
		if err != nil || is.Mode() != was.Mode() || is.Size() != was.Size() {
			t.Errorf("%s was replaced: %v", name, err)
		}
	}
}
