package kubernetes

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestPack(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a-run", "run.json"), "{}\n")
	write(t, filepath.Join(dir, "a-run", "empty"), "")
	for name, to := range map[string]string{"latest": "a-run", "out": "../..", "up/away": "../../x"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := Pack(&b, dir); err != nil {
		t.Fatal(err)
	}
	got := unpack(t, b.Bytes())
	want := map[string]string{"a-run/": "", "a-run/run.json": "{}\n", "a-run/empty": "",
		"latest": "-> a-run", "up/": ""}
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s is %q, want %q", name, got[name], text)
		}
	}
	if len(got) != len(want) {
		t.Errorf("packed %v, want %v", got, want)
	}
}

// An archive whose end is missing is noticed, wherever it was cut.
func TestCutArchivesAreNoticed(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "f"), "some text\n")
	var b bytes.Buffer
	if err := Pack(&b, dir); err != nil {
		t.Fatal(err)
	}
	for n := range b.Len() {
		z, err := gzip.NewReader(bytes.NewReader(b.Bytes()[:n]))
		if err == nil {
			_, err = io.Copy(io.Discard, z)
		}
		if err == nil {
			t.Errorf("nobody notices that %d of %d bytes are missing", b.Len()-n, b.Len())
		}
	}
}

func TestPackingWhatIsNotThere(t *testing.T) {
	if err := Pack(io.Discard, filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("packed")
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// unpack returns the texts of an archive's files, by their names.
func unpack(t *testing.T, raw []byte) map[string]string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeSymlink {
			text = []byte("-> " + h.Linkname)
		}
		all[h.Name] = string(text)
	}
}
