package verify_test

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/verify"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A folder or a file that is not a verification is an error.
func TestReadRefusesOtherContent(t *testing.T) {
	for name, content := range map[string]string{
		"no JSON": "{", "no version": `{"kind": "verify"}`, "a later version": `{"kind": "verify", "schema_version": 99}`,
		"a list": "[]", "another kind": `{"kind": "other", "schema_version": 2}`,
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, experiment.File)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if s, err := verify.Read(dir); err == nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if _, err := verify.Read(t.TempDir()); err == nil {
		t.Error("an empty folder was read as a verification")
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, experiment.File), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := verify.Read(dir); err == nil || verify.Is(dir) {
		t.Error("a folder called experiment.json was read as a verification")
	}
}
