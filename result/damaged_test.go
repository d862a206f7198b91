package result

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A damaged file is named, with what is wrong in it and what to do.
func TestDamagedRunIsNamed(t *testing.T) {
	for content, why := range map[string]string{
		``:                                 "it ends too early",
		`{"schema_version": 2, "na`:        "it ends too early",
		`nonsense`:                         "it is not JSON from byte 2 on",
		`[]`:                               "it is a JSON array and not an object",
		`{"summary": {"window_ns": "1s"}}`: "its summary.window_ns must not be a JSON string",
		`{"started_at": "yesterday"}`:      "it holds what plimsoll does not write: ",
	} {
		path := filepath.Join(t.TempDir(), RunFile)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Read(filepath.Dir(path))
		if err == nil || !strings.HasPrefix(err.Error(), path+" is damaged, "+why) ||
			!strings.HasSuffix(err.Error(), ": restore it from a copy, or remove it") {
			t.Errorf("%s: %v", content, err)
		}
	}
}

func TestUnreadableFileSaysWhatToDo(t *testing.T) {
	err := unreadable("run.json", fmt.Errorf("open: %w",
		&fs.PathError{Op: "open", Path: "run.json", Err: fs.ErrPermission}))
	if want := "run.json may not be read: give this user the right to read it"; err.Error() != want {
		t.Error(err)
	}
}
