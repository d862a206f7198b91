package process

import (
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// children returns the numbers that a child's script has printed, one a line.
func children(t *testing.T, spec Spec, n int) []int {
	t.Helper()
	var all []int
	found := poll(func() bool {
		raw, _ := os.ReadFile(spec.Log)
		all = all[:0]
		for line := range strings.Lines(string(raw)) {
			if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
				all = append(all, pid)
			}
		}
		return len(all) == n
	})
	if !found {
		t.Fatalf("%d of %d children", len(all), n)
	}
	return all
}

// A child's children that lead groups of their own belong to its family: Kill ends them too,
// even when they are stopped.
func TestKillReachesOtherGroups(t *testing.T) {
	const script = `for i in 1 2; do
		setsid sh -c 'sleep 1000 & echo $!; echo $$; wait' &
	done; wait`
	spec := shell(t.TempDir(), "groups", script)
	s := start(t, spec)
	pids := children(t, spec, 4)
	family := Family(s.PID())
	if family[0] != s.PID() {
		t.Errorf("%v does not begin with %d", family, s.PID())
	}
	found := Descendants(s.PID(), os.Getpid())
	for _, pid := range pids {
		if found[pid] != s.PID() {
			t.Errorf("%d descends from %d, want %d", pid, found[pid], s.PID())
		}
	}
	if err := Signal(family, syscall.SIGSTOP); err != nil {
		t.Error(err)
	}
	if err := s.Kill(); err != nil {
		t.Error(err)
	}
	for _, pid := range pids {
		if running(pid) {
			t.Errorf("%d runs after Kill", pid)
		}
	}
}

func TestQuit(t *testing.T) {
	spec := shell(t.TempDir(), "quits",
		`trap 'echo interrupted; exit 0' INT; echo ready; while :; do sleep 0.05; done`)
	spec.Quit = syscall.SIGINT
	s := start(t, spec)
	logged(t, spec, "ready")
	if err := s.Stop(t.Context(), patience); err != nil {
		t.Error(err)
	}
	logged(t, spec, "interrupted")
}

// A child with another user can use its folder below a folder that only root may enter, and dies
// with the thread that forked it, like other children.
func TestAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skipf("%s: only root may start a process of another user", t.Name())
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Skipf("%s: %v", t.Name(), err)
	}
	uid, _ := strconv.Atoi(nobody.Uid)
	gid, _ := strconv.Atoi(nobody.Gid)
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	spec := shell(dir, "other", `id -u; id -g; cat /proc/self/status; cd "$HERE" && pwd`)
	spec.Env = append(spec.Env, "HERE="+dir)
	spec.User, spec.Group = uid, gid
	s := start(t, spec)
	await(t, s)
	raw, err := os.ReadFile(spec.Log)
	if err != nil || s.Err() != nil {
		t.Fatal(err, s.Err(), string(raw))
	}
	lines := strings.Split(string(raw), "\n")
	if lines[0] != nobody.Uid || lines[1] != nobody.Gid || !strings.Contains(string(raw), dir) {
		t.Errorf("%s", raw)
	}
	if !strings.Contains(string(raw), "CapEff:\t0000000000000002\n") {
		t.Errorf("more rights than one: %s", raw)
	}
}
