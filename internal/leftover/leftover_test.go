package leftover

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const ownerVariable = "PLIMSOLL_TEST_OWNER"

// TestMain is also a process that makes a folder and waits to be killed.
func TestMain(m *testing.M) {
	if parent := os.Getenv(ownerVariable); parent != "" {
		dir, err := Dir(parent, "left-")
		if err != nil {
			panic(err)
		}
		fmt.Println(dir.Path)
		select {}
	}
	os.Exit(m.Run())
}

func home(t *testing.T) string {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CACHE_HOME", "")
	return dir
}

// owner starts a process that owns a folder.
func owner(t *testing.T, parent string) (dir string, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), ownerVariable+"="+parent)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	kill = func() {
		once.Do(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
	}
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), kill
}

func sweep() (said []string) {
	Sweep(map[Kind]Remover{Folder: RemoveFolder}, func(s string) { said = append(said, s) })
	return said
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func entries(t *testing.T) int {
	t.Helper()
	dir, err := registry(true)
	if err != nil {
		t.Fatal(err)
	}
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// What a killed process left is removed once, and what a living one owns stays.
func TestSweepOfKilledOwners(t *testing.T) {
	home(t)
	parent := t.TempDir()
	dead, kill := owner(t, parent)
	living, _ := owner(t, parent)
	mine, err := Dir(parent, "mine-")
	if err != nil {
		t.Fatal(err)
	}
	if said := sweep(); len(said) > 0 || !exists(dead) || !exists(living) || !exists(mine.Path) {
		t.Errorf("with living owners %q is said", said)
	}
	kill()
	var together sync.WaitGroup
	said := make([][]string, 5)
	for i := range said {
		together.Go(func() { said[i] = sweep() })
	}
	together.Wait()
	all := slices.Concat(said...)
	if len(all) != 1 || !strings.Contains(all[0], dead) || exists(dead) {
		t.Errorf("of a dead owner %q is said", all)
	}
	if !exists(living) || !exists(mine.Path) {
		t.Error("the folder of a living owner is gone")
	}
	if err := mine.Remove(); err != nil || exists(mine.Path) {
		t.Errorf("%v", err)
	}
	if n := entries(t); n != 1 {
		t.Errorf("%d entries are left", n)
	}
}

// Things with locks of their own are looked at until nothing is left of them. What cannot be
// removed stays registered.
func TestSharedThings(t *testing.T) {
	home(t)
	Watch("beds", "/a")
	Watch("beds", "/a")
	Watch("beds", "/b")
	left, failed := true, errors.New("no")
	var said []string
	look := func() {
		said = nil
		Sweep(map[Kind]Remover{"beds": func(name string) ([]string, bool, error) {
			if name == "/b" {
				return nil, false, failed
			}
			return []string{name}, left, nil
		}}, func(s string) { said = append(said, s) })
		slices.Sort(said)
	}
	look()
	look()
	if len(said) != 2 || said[0] != "/a" || !strings.HasSuffix(said[1], "cannot be removed: no") {
		t.Errorf("%q", said)
	}
	left, failed = false, nil
	if look(); entries(t) != 0 {
		t.Errorf("%d entries are left", entries(t))
	}
}

// A registry that cannot be written, or that another user could write, stops nobody.
func TestWithoutRegistry(t *testing.T) {
	dir := home(t)
	registered := filepath.Join(dir, ".cache", "plimsoll", "owned")
	if err := os.MkdirAll(registered, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(registered, 0o777); err != nil { //nolint:gosec // it is the danger
		t.Fatal(err)
	}
	mine, err := Dir(t.TempDir(), "x-")
	if err != nil || !exists(mine.Path) {
		t.Fatal(err)
	}
	Watch("beds", "/a")
	if said := sweep(); len(said) > 0 {
		t.Errorf("%q", said)
	}
	if err := mine.Remove(); err != nil || exists(mine.Path) {
		t.Errorf("%v", err)
	}
}
