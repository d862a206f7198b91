package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What a killed command left is removed by the next command, whichever it is and wherever it runs.
func TestLeftoversOfKilledCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a cluster and a fleet")
	}
	t.Parallel()
	files := map[string]string{
		"bed.yaml": "name: bed\nsystem: nats\nsettings: {servers: processes}\n",
		"long.yaml": "name: long\nproducers: 1\ntopics: 2\nload: {rate: 500/s}\nwarmup: 0s\n" +
			"duration: 60s\n",
	}
	for name, c := range map[string]struct {
		args []string
		left string // below the folder of its run, or of temporary files
		says string
	}{
		"data of servers": {[]string{"run", "-t", "bed.yaml", "--warm", "0s", "-w", "long.yaml"},
			"runs/.testbed/p*", "removed the servers' data of a killed plimsoll, "},
		"join token": {[]string{"run", "-t", "sim", "-w", "long.yaml", "--workers", "2"},
			"tmp/plimsoll-fleet-*/join-token", "which a killed plimsoll left"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkSwept(t, inDir(t, files), c.args, c.left, c.says)
		})
	}
}

// checkSwept kills a command and checks that the next one removes what it left below a folder.
func checkSwept(t *testing.T, dir string, args []string, below, says string) {
	t.Helper()
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	of := func(cmd *exec.Cmd) *exec.Cmd {
		cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME=",
			"TMPDIR="+filepath.Join(dir, "tmp"))
		return cmd
	}
	run := of(self(t, dir, args...))
	start(t, run)
	var left []string
	within(t, 30*time.Second, below, func() bool {
		left, _ = filepath.Glob(filepath.Join(dir, below))
		return len(left) > 0
	})
	next := func() string {
		said, err := of(self(t, t.TempDir(), "version")).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		return string(said)
	}
	if said := next(); len(left) != 1 || strings.Contains(said, "removed") {
		t.Fatalf("%q is there while its owner lives, and the next command says %s", left,
			said)
	}
	signalTo(t, run, syscall.SIGKILL)
	_ = run.Wait()
	if said := next(); !strings.Contains(said, says) {
		t.Errorf("the next command says %s", said)
	}
	if _, err := os.Stat(left[0]); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", left[0], err)
	}
	if said := next(); strings.Contains(said, "removed") {
		t.Errorf("it is removed twice: %s", said)
	}
}
