package maven

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var dist = Archive{Name: "dist-1", Coordinates: "g:dist:1:tar.gz:bin"}

// entry is one entry of an archive. The name of a folder ends with a slash.
type entry struct {
	name, content string
	kind          byte
	mode          int64
}

// packed returns an archive with the entries.
func packed(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	w := tar.NewWriter(zip)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: e.kind, Mode: e.mode, Size: int64(len(e.content))}
		if e.kind == 0 {
			h.Typeflag = tar.TypeReg
		}
		if h.Typeflag == tar.TypeSymlink {
			h.Linkname, h.Size, e.content = e.content, 0, ""
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var good = []entry{
	{name: "dist-1.0/", kind: tar.TypeDir, mode: 0o755},
	{name: "dist-1.0/README", content: "read me"},
	{name: "dist-1.0/bin/run it", content: "#!/bin/sh", mode: 0o755},
	{name: "./dist-1.0/lib/deep/a.jar", content: "jar"},
}

// fakeArchive is a fakeMaven that brings an archive.
func fakeArchive(t *testing.T, archive []byte) (calls func() []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "archive")
	if err := os.WriteFile(path, archive, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ARCHIVE", path)
	return fakeMaven(t, `cp "$ARCHIVE" "$out/dist-1-bin.tar.gz"`+"\n")
}

func TestArchiveOnce(t *testing.T) {
	calls := fakeArchive(t, packed(t, good...))
	var progress []string
	note := func(sentence string) { progress = append(progress, sentence) }
	dir, err := dist.Fetch(within(t), note)
	if err != nil {
		t.Fatal(err)
	}
	again, err := dist.Fetch(within(t), note)
	if err != nil || again != dir || len(progress) != 2 ||
		!strings.Contains(progress[0], "dist-1") {
		t.Errorf("the second fetch: %s, %v, progress %q", again, err, progress)
	}
	want := dependencyPlugin + ":copy|-Dartifact=" + dist.Coordinates
	if got := calls(); len(got) != 1 || !strings.Contains(got[0], want) {
		t.Errorf("mvn was called %q", got)
	}
	for name, want := range map[string]string{
		"README": "read me", "bin/run it": "#!/bin/sh", "lib/deep/a.jar": "jar",
	} {
		if raw, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(raw) != want {
			t.Errorf("%s: %q, %v", name, raw, err)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "bin/run it"))
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the executable file: %v, %v", info, err)
	}
	if names := left(t); len(names) != 1 {
		t.Errorf("the cache holds %v", names)
	}
}

func TestDamagedArchiveIsFetchedAgain(t *testing.T) {
	calls := fakeArchive(t, packed(t, good...))
	dir, err := dist.Fetch(within(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, damage := range []func() error{
		func() error { return os.Remove(filepath.Join(dir, "bin/run it")) },
		func() error { return os.Truncate(filepath.Join(dir, "lib/deep/a.jar"), 1) },
		func() error { return os.Truncate(filepath.Join(dir, listFile), 0) },
		func() error {
			return os.WriteFile(filepath.Join(dir, listFile), []byte("nonsense\n"), 0o644)
		},
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if _, err := dist.Fetch(within(t), nil); err != nil {
			t.Fatal(err)
		}
		if got := len(calls()); got != i+2 || !whole(dir) {
			t.Errorf("damage %d: %d calls, complete %t", i, got, whole(dir))
		}
	}
}

// An archive with an entry outside of its folder, or with an entry that is neither a file
// nor a folder, is refused as a whole.
func TestRefusedArchives(t *testing.T) {
	whole := packed(t, good...)
	for name, c := range map[string]struct {
		archive []byte
		says    string
	}{
		"up and out":   {packed(t, entry{name: "dist/../../out", content: "x"}), "outside"},
		"deep and out": {packed(t, entry{name: "dist/lib/../../../out", content: "x"}), "outside"},
		"absolute":     {packed(t, entry{name: "/etc/out", content: "x"}), "outside"},
		"symbolic link": {
			packed(t, entry{name: "dist/link", content: "/etc", kind: tar.TypeSymlink}),
			"neither a file nor a folder",
		},
		"a file twice": {
			packed(t, entry{name: "d/a", content: "x"}, entry{name: "d/a", content: "y"}),
			"exists",
		},
		"empty":          {packed(t), "it is empty"},
		"cut short":      {whole[:len(whole)/2], "EOF"},
		"not an archive": {[]byte("<html>not found</html>"), "gzip"},
	} {
		t.Run(name, func(t *testing.T) {
			fakeArchive(t, c.archive)
			dir, err := dist.Fetch(within(t), nil)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %s, %v", dir, err)
			}
			if len(left(t)) > 0 {
				t.Errorf("left behind: %v", left(t))
			}
		})
	}
}

func TestUnpackEndsWithItsContext(t *testing.T) {
	fakeArchive(t, packed(t, good...))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	archive := bytes.NewReader(packed(t, good...))
	if _, err := unpack(ctx, archive, t.TempDir()); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

func TestConcurrentArchiveFetchesCallMavenOnce(t *testing.T) {
	calls := fakeArchive(t, packed(t, good...))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := dist.Fetch(within(t), nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := calls(); len(got) != 1 {
		t.Errorf("mvn was called %q", got)
	}
}

func TestCoordinatesOfAnArchive(t *testing.T) {
	for _, c := range []string{
		"g:a:1", "g:a:1:zip:bin", "g:a:[1,2):tar.gz:bin", "g:a:1:tar.gz:bin -Dx=y", "",
	} {
		if _, err := (Archive{Name: "a", Coordinates: c}).Fetch(within(t), nil); err == nil {
			t.Errorf("%q was accepted", c)
		}
	}
	path := Archive{Name: "../a", Coordinates: dist.Coordinates}
	if _, err := path.Fetch(within(t), nil); err == nil {
		t.Error("a path was accepted as the name")
	}
}
