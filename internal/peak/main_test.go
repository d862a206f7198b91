package peak_test

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A folder or file that is not a search is an error.
func TestReadRefusesWhatIsNoSearch(t *testing.T) {
	for name, content := range map[string]string{"no JSON": "{", "no version": `{"kind": "peak"}`,
		"a later version": `{"kind": "peak", "schema_version": 99}`, "a list": "[]", "another kind": `{"kind": "other", "schema_version": 2}`} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, experiment.File), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if s, err := peak.Read(dir); err == nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if _, err := peak.Read(t.TempDir()); err == nil {
		t.Error("an empty folder is a search")
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, experiment.File), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := peak.Read(dir); err == nil || peak.Is(dir) {
		t.Error("a folder called experiment.json is a search")
	}
}
