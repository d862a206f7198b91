package kubernetes

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/maven"
	"github.com/plimsoll-bench/plimsoll/systems/kafka"
)

// withKafka returns the image with Java and Kafka's jars, as docs/examples/Dockerfile.hosts has
// them: those of this machine. It skips the test by name where they are missing.
func (i image) withKafka(t *testing.T) image {
	t.Helper()
	java, err := maven.Java()
	if err == nil {
		java, err = filepath.EvalSymlinks(java)
	}
	if err != nil {
		t.Skipf("Java is missing: %v", err)
	}
	settings, err := system.Resolve(kafka.New().Describe().Settings, nil)
	if err == nil {
		err = kafka.New().(system.Fetcher).Fetch(t.Context(), settings, nil)
	}
	if err != nil {
		t.Skipf("Kafka is missing: %v", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	jars, err := filepath.Glob(filepath.Join(cache, "plimsoll/maven/kafka-"+
		settings.Text(system.SettingVersion)+"-*"))
	if err != nil {
		t.Fatal(err)
	}
	i.more = map[string][]byte{}
	home := filepath.Dir(filepath.Dir(java))
	i.takeFolder(t, home, "java")
	for _, dir := range jars {
		if name := filepath.Base(dir); !strings.HasSuffix(name, ".lock") {
			i.takeFolder(t, dir, "opt/cache/plimsoll/maven/"+name)
		}
	}
	for _, name := range []string{"bin/java", "lib/libjli.so", "lib/libjava.so", "lib/libnio.so",
		"lib/libnet.so", "lib/libzip.so", "lib/libmanagement.so", "lib/server/libjvm.so"} {
		i.takeLibraries(t, filepath.Join(home, name))
	}
	i.env = []string{"JAVA_HOME=/java", "XDG_CACHE_HOME=/opt/cache"}
	return i
}

// takeFolder takes the files of a folder, without those of a development kit.
func (i image) takeFolder(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{"jmods", "demo", "man", "include"}, d.Name()) {
			return filepath.SkipDir
		}
		raw, err := os.ReadFile(path)
		if d.IsDir() || d.Type()&fs.ModeSymlink != 0 && err != nil {
			return nil //nolint:nilerr // a link may point to a folder, or to what is not installed
		}
		name, failed := filepath.Rel(from, path)
		i.more[to+"/"+name] = raw
		return errors.Join(err, failed)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// takeLibraries takes the libraries that a program or a library is linked with.
func (i image) takeLibraries(t *testing.T, program string) {
	t.Helper()
	out, err := exec.Command("ldd", program).Output()
	if err != nil {
		t.Fatalf("ldd %s: %v", program, err)
	}
	for line := range strings.Lines(string(out)) {
		for _, word := range strings.Fields(line) {
			if !strings.HasPrefix(word, "/") || strings.Contains(word, "/jvm/") {
				continue
			}
			raw, err := os.ReadFile(word)
			if err != nil {
				t.Fatal(err)
			}
			i.more[strings.TrimPrefix(word, "/")] = raw
		}
	}
}
