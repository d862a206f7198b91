package command

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/nftables"

	"github.com/plimsoll-bench/plimsoll/internal/disk"
	"github.com/plimsoll-bench/plimsoll/internal/firewall"
)

// The mounts and the firewall table of a run that was killed in the middle of a fault are removed
// by the next command.
func TestLeftoversOfFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a cluster")
	}
	if err := firewall.Check(); err != nil {
		t.Skip(err)
	}
	dir := inDir(t, map[string]string{
		"bed.yaml": "name: bed\nsystem: nats\nsettings: {servers: processes}\n",
		"cut.yaml": "name: cut\nload: {rate: 500/s}\nwarmup: 0s\nduration: 60s\n" +
			"faults:\n  - {at: 500ms, do: partition, target: one, for: 20s}\n" +
			"  - {at: 40s, do: power-cut, target: one, for: 5s}\n",
	})
	if err := disk.Check(t.Context(), dir); err != nil {
		t.Skip(err)
	}
	home := t.TempDir()
	run := self(t, dir, "run", "-t", "bed.yaml", "--warm", "0s", "-w", "cut.yaml")
	run.Env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME=")
	start(t, run)
	waitForIntervals(t, dir)
	within(t, 20*time.Second, "a firewall table", func() bool { return len(tables(t, run)) > 0 })
	if n := mountsBelow(t, dir); n != 3 {
		t.Fatalf("%d disks are mounted", n)
	}
	signalTo(t, run, syscall.SIGKILL)
	_ = run.Wait()
	next := self(t, t.TempDir(), "version")
	next.Env = run.Env
	said, err := next.CombinedOutput()
	if err != nil || !strings.Contains(string(said), "removed the servers' data") {
		t.Errorf("%v: %s", err, said)
	}
	if left := tables(t, run); len(left) > 0 || mountsBelow(t, dir) > 0 {
		t.Errorf("left are the tables %q and %d mounts", left, mountsBelow(t, dir))
	}
}

// tables returns the firewall tables of a process.
func tables(t *testing.T, of *exec.Cmd) (names []string) {
	t.Helper()
	nft, err := nftables.New()
	if err != nil {
		t.Fatal(err)
	}
	all, err := nft.ListTablesOfFamily(nftables.TableFamilyIPv4)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if strings.HasPrefix(one.Name, fmt.Sprintf("plimsoll-%d-", of.Process.Pid)) {
			names = append(names, one.Name)
		}
	}
	return names
}

// mountsBelow returns how many file systems are mounted below a folder.
func mountsBelow(t *testing.T, dir string) int {
	t.Helper()
	raw, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	return len(slices.DeleteFunc(strings.Split(string(raw), "\n"),
		func(line string) bool { return !strings.Contains(line, " "+dir+"/") }))
}
