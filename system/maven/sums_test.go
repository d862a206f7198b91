package maven

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// flip changes one byte of a file and leaves its size and time of modification.
func flip(t *testing.T, file string) {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)/2] ^= 1
	if err := os.WriteFile(file, raw, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
}

// refused fails the test unless the error is one sentence that has the words.
func refused(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error; it should have %q", words)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q is not a sentence with %q", err, w)
		}
	}
}

func TestFlippedByteIsRefused(t *testing.T) {
	for name, jars := range map[string]struct {
		fetch func() (string, error)
		files []string
	}{
		"jars": {
			func() (string, error) { return some.Fetch(within(t), nil) },
			[]string{"a.jar", "b.jar"},
		},
		"archive": {
			func() (string, error) { return dist.Fetch(within(t), nil) },
			[]string{"lib/deep/a.jar", "bin/run it"},
		},
	} {
		for _, file := range jars.files {
			t.Run(name+" "+filepath.Base(file), func(t *testing.T) {
				calls := fakeMaven(t, works)
				if name == "archive" {
					calls = fakeArchive(t, packed(t, good...))
				}
				dir, err := jars.fetch()
				if err != nil {
					t.Fatal(err)
				}
				checkAll(t, dir)
				flip(t, filepath.Join(dir, file))
				_, err = jars.fetch()
				refused(t, err, filepath.Join(dir, file)+" has changed since it was fetched",
					"delete the folder "+dir+" and start again")
				if len(calls()) != 1 {
					t.Errorf("mvn was called %q", calls())
				}
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
				if _, err := jars.fetch(); err != nil {
					t.Errorf("after the folder was deleted: %v", err)
				}
			})
		}
	}
}

// checkAll notes every file of a folder as checked, as a Fetch does some seconds later.
func checkAll(t *testing.T, dir string) {
	t.Helper()
	files, _ := readList(dir)
	if err := verify(dir, files, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if got := readChecked(dir); len(got) != len(files) || len(files) == 0 {
		t.Fatalf("%d of %d files are noted", len(got), len(files))
	}
}

// A file is read once, and again when it has changed.
func TestFilesAreReadOnce(t *testing.T) {
	fakeMaven(t, works)
	dir, err := some.Fetch(within(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	files, _ := readList(dir)
	if err := verify(dir, files, time.Now()); err != nil || len(readChecked(dir)) > 0 {
		t.Errorf("files that have just changed are noted as checked: %v", err)
	}
	// With a sum that the file does not have, only a check that reads the file fails.
	files[0].sum = strings.Repeat("0", 64)
	jar := filepath.Join(dir, files[0].path)
	note, _, err := noteOf(jar, files[0].sum)
	if err != nil {
		t.Fatal(err)
	}
	writeChecked(dir, map[string]string{files[0].path: note})
	if err := verify(dir, files, time.Now().Add(time.Hour)); err != nil {
		t.Errorf("a file that was checked is read again: %v", err)
	}
	if err := os.Chtimes(jar, time.Now(), time.Now()); err != nil {
		t.Fatal(err)
	}
	refused(t, verify(dir, files, time.Now().Add(time.Hour)), jar)
}

func TestAddedJarIsRefused(t *testing.T) {
	fakeArchive(t, packed(t, good...))
	dir, err := dist.Fetch(within(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	added := filepath.Join(dir, "lib", "added.jar")
	if err := os.WriteFile(added, []byte("jar"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = dist.Fetch(within(t), nil)
	refused(t, err, added+" was not fetched with the other files", "delete the folder "+dir)
}

// What mvn brings must have the pinned sums, and so must a folder that was fetched without them.
func TestPinnedSums(t *testing.T) {
	fakeMaven(t, works)
	pins, err := some.Pins(within(t))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(pins, "\n")
	if len(lines) != 3 || !strings.HasSuffix(lines[0], "  some-1/a.jar\n") {
		t.Fatalf("pins:\n%s", pins)
	}
	other := strings.Repeat("0", 64) + "  "
	var progress []string
	note := func(sentence string) { progress = append(progress, sentence) }
	for name, c := range map[string]struct{ sums, says string }{
		"another content": {lines[0] + other + "some-1/b.jar\n",
			"mvn brought b.jar, whose SHA-256 is"},
		"a jar too many": {lines[0], "mvn brought b.jar, which is not one of the pinned files"},
		"a jar too few":  {pins + other + "some-1/c.jar\n", "mvn did not bring c.jar"},
	} {
		t.Run(name, func(t *testing.T) {
			pinned := some
			pinned.Sums = c.sums
			_, err := pinned.Fetch(within(t), note)
			refused(t, err, c.says, "settings.xml")
			if names := left(t); len(names) > 0 {
				t.Errorf("left: %v", names)
			}
		})
	}
	if strings.Contains(strings.Join(progress, ""), "no checksums") {
		t.Errorf("progress of pinned jars: %q", progress)
	}
	pinned := some
	pinned.Sums = "1234  other/a.jar\n" + pins
	if _, err := pinned.Fetch(within(t), nil); err != nil || pinned.Pinned() != pins {
		t.Errorf("%v, pins\n%s", err, pinned.Pinned())
	}
	pinned.Sums = other + "some-1/a.jar\n"
	_, err = pinned.Fetch(within(t), nil)
	refused(t, err, "does not list the pinned files: delete the folder")
}

func TestPinnedArchive(t *testing.T) {
	fakeArchive(t, packed(t, good...))
	pins, err := dist.Pins(within(t))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(pins, "\n") != 2 ||
		!strings.Contains(pins, "  dist-1/dist-1-bin.tar.gz\n") {
		t.Fatalf("pins:\n%s", pins)
	}
	pinned := dist
	pinned.Sums = pins
	dir, err := pinned.Fetch(within(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	// Whoever changes a file and its sum in the folder's list changes the list's sum.
	flip(t, filepath.Join(dir, "README"))
	flip(t, filepath.Join(dir, listFile))
	_, err = pinned.Fetch(within(t), nil)
	refused(t, err, "does not list the pinned files")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ARCHIVE", filepath.Join(t.TempDir(), "another"))
	if err := os.WriteFile(os.Getenv("ARCHIVE"), packed(t, good[:2]...), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = pinned.Fetch(within(t), nil)
	refused(t, err, "mvn brought dist-1-bin.tar.gz, whose SHA-256 is")
}

func TestUnpinnedVersionIsNamed(t *testing.T) {
	calls := fakeMaven(t, works)
	var progress []string
	_, err := some.Fetch(within(t), func(s string) { progress = append(progress, s) })
	if err != nil || len(progress) != 2 ||
		!strings.Contains(progress[1], "no checksums of some-1 are pinned") {
		t.Errorf("%v, progress %q", err, progress)
	}
	if got := calls(); len(got) != 1 || !strings.Contains(got[0], "|-C|") {
		t.Errorf("mvn does not check its repository's checksums: %q", got)
	}
}
