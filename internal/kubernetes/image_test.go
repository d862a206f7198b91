package kubernetes

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// image is the last stage of the Dockerfile: the files from the stage before, and the entry point.
type image struct {
	copies     map[string]string // from -> to
	user       string
	entrypoint []string
	env        []string
	more       map[string][]byte // files beside those of the Dockerfile, by path
}

// readDockerfile reads the last stage. It knows the instructions of that stage, and refuses
// others.
func readDockerfile(t *testing.T) (i image) {
	t.Helper()
	raw, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	_, last, found := strings.Cut(string(raw), "\nFROM scratch\n")
	if !found {
		t.Fatal("the last stage of the Dockerfile does not begin with nothing")
	}
	i.copies = map[string]string{}
	for line := range strings.Lines(last) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0] == "COPY" && len(words) == 4 && words[1] == "--from=build":
			i.copies[words[2]] = words[3]
		case words[0] == "USER" && len(words) == 2:
			i.user = words[1]
		case words[0] == "ENTRYPOINT":
			list := strings.TrimPrefix(strings.TrimSpace(line), "ENTRYPOINT ")
			if err := json.Unmarshal([]byte(list), &i.entrypoint); err != nil {
				t.Fatal(err)
			}
		default:
			t.Fatalf("the test does not know the instruction %q", line)
		}
	}
	return i
}

// save writes the image as docker save does. files has the files that the stage before builds.
func (i image) save(t *testing.T, name, archive string, files map[string][]byte) {
	t.Helper()
	layer := maps.Clone(i.more)
	if layer == nil {
		layer = map[string][]byte{}
	}
	for from, to := range i.copies {
		raw, has := files[from]
		if !has {
			t.Fatalf("the image takes %s, which the test does not build", from)
		}
		layer[strings.TrimPrefix(to, "/")] = raw
	}
	packed := tarOf(t, layer)
	config := encoded(t, map[string]any{
		"architecture": runtime.GOARCH, "os": "linux",
		"config": map[string]any{"Entrypoint": i.entrypoint, "User": i.user, "Env": i.env},
		"rootfs": map[string]any{"type": "layers",
			"diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(packed))}},
	})
	manifest := encoded(t, []map[string]any{{"Config": "config.json",
		"RepoTags": []string{name}, "Layers": []string{"layer.tar"}}})
	all := tarOf(t, map[string][]byte{"config.json": config, "manifest.json": manifest,
		"layer.tar": packed})
	if err := os.WriteFile(archive, all, 0o600); err != nil {
		t.Fatal(err)
	}
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func tarOf(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	folders := map[string]bool{".": true}
	var folder func(name string)
	folder = func(name string) {
		if folders[name] {
			return
		}
		folder(path.Dir(name))
		folders[name] = true
		header := &tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
	}
	for name, raw := range files {
		folder(path.Dir(name))
		header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755, Size: int64(len(raw))}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(raw); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The image's user is that of the pods, and its entry point is the program for the pods'
// arguments.
func TestDockerfile(t *testing.T) {
	i := readDockerfile(t)
	text, err := example().YAML()
	if err != nil {
		t.Fatal(err)
	}
	user, group, _ := strings.Cut(i.user, ":")
	pod := decode(t, text).reader.Spec.Template.Spec
	if fmt.Sprint(*pod.SecurityContext.RunAsUser) != user ||
		fmt.Sprint(*pod.SecurityContext.RunAsGroup) != group {
		t.Errorf("the image's user is %s, that of the pods %d:%d", i.user,
			*pod.SecurityContext.RunAsUser, *pod.SecurityContext.RunAsGroup)
	}
	if len(i.entrypoint) != 1 || i.copies["/src/bin/plimsoll"] != i.entrypoint[0] {
		t.Errorf("the image starts %q, and has %v", i.entrypoint, i.copies)
	}
}

// A release's program becomes the image's, and is not built again.
func TestTheImageTakesTheProgramOfARelease(t *testing.T) {
	raw, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	_, command, _ := strings.Cut(string(raw), "\nRUN ")
	command, _, _ = strings.Cut(command, "\n")
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "linux/arm64"), 0o755); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "linux/arm64/plimsoll")
	if err := os.WriteFile(program, []byte("built"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TARGETPLATFORM=linux/arm64")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "bin/plimsoll")); string(got) != "built" {
		t.Errorf("%s: the image has %q, %v", command, got, err)
	}
}
