package plimsoll_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A driver needs no place in this repository: the example, moved to a module of its own, becomes a
// plimsoll that measures it.
func TestADriverCanLiveOutside(t *testing.T) {
	t.Parallel()
	const example, outside = module + "/docs/examples/memory", "example.com/memory"
	dir := t.TempDir()
	write := func(name, text string) {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) string {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	files := os.DirFS("docs/examples/memory")
	for _, pattern := range []string{"*.go", "plimsoll/*.go"} {
		names, err := fs.Glob(files, pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v, %v", pattern, names, err)
		}
		for _, name := range names {
			write(name, strings.ReplaceAll(read("docs/examples/memory/"+name), example, outside))
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	requirements := strings.Replace(read("go.mod"), "module "+module, "module "+outside, 1)
	write("go.mod", requirements+"\nrequire "+module+" v0.0.0\nreplace "+module+" => "+here+"\n")
	write("go.sum", read("go.sum"))
	program := filepath.Join(dir, "plimsoll-memory")
	run := func(name string, arguments ...string) string {
		command := exec.Command(name, arguments...)
		command.Dir = dir
		// With -trimpath, as make build has it, most packages are built already.
		command.Env = append(os.Environ(), "GOFLAGS=-mod=mod -trimpath", "GOPROXY=off", "CGO_ENABLED=0")
		said, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, arguments, err, said)
		}
		return string(said)
	}
	run("go", "vet", "./...")
	run("go", "build", "-o", program, "./plimsoll")
	said := run(program, "run", "-t", "memory", "--durability", "4", "--rate", "1k/s",
		"--duration", "1s", "--warm", "0s", "--runs", filepath.Join(dir, "runs"))
	if !strings.Contains(said, "; lost 0 of 4,000") {
		t.Error(said)
	}
}
