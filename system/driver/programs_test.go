package driver

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
)

// The folder that a target names comes first, and is not replaced when it lacks a program.
func TestPrograms(t *testing.T) {
	full, half, empty := t.TempDir(), t.TempDir(), t.TempDir()
	for _, path := range []string{
		filepath.Join(full, "serves"), filepath.Join(full, "makes"), filepath.Join(half, "serves"),
	} {
		if err := os.WriteFile(path, nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(full) // programs that the working directory has by chance are not meant
	for _, c := range []struct {
		given         string
		folders       []string
		onPath        string
		folder, wrong string
	}{
		{folders: []string{empty, half, full}, folder: full},
		{given: "auto", onPath: half + string(filepath.ListSeparator) + full, folder: full},
		{given: full, folders: []string{half}, folder: full},
		{given: half, folders: []string{full}, wrong: half + " has no program makes: name the " +
			"folder with the servers' programs"},
		{given: ".", folders: []string{full}, wrong: ". is no absolute path"},
		{folders: []string{half}, wrong: "this machine lacks it: install the package p"},
		{onPath: ".", wrong: "this machine lacks it"},
	} {
		t.Setenv("PATH", c.onPath)
		var given []target.Setting
		if c.given != "" {
			given = append(given, target.Setting{Name: SetPrograms, Value: c.given})
		}
		s, err := system.Resolve(ServerSettings(system.MustSettings(DeclarePrograms)), given)
		if err != nil {
			t.Fatal(err)
		}
		folder, err := Programs{
			Names: []string{"serves", "makes"}, Folders: c.folders,
			Missing: system.Missing{Software: "it", Packages: []string{"p"}},
		}.Find(s)
		switch {
		case folder != c.folder:
			t.Errorf("%+v: %q, %v", c, folder, err)
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%+v: %v", c, err)
		}
		var missing *system.Missing
		if errors.As(err, &missing) != strings.Contains(c.wrong, "lacks") {
			t.Errorf("%+v: %v must be skipped only where a package is missing", c, err)
		}
	}
}
