package observe

import (
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/target"
)

// A server's use includes that of its children, which lead sessions of their own, also when they
// begin between two readings.
func TestDescendantsAreTheServers(t *testing.T) {
	cmd := exec.Command("sh", "-c", "read go; setsid timeout 40 sh -c 'while :; do :; done' & wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	tell, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	o, err := New([]target.Process{{Name: "n1", PID: cmd.Process.Pid}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, p := range o.processes[0].descendants {
			_ = syscall.Kill(p.PID, syscall.SIGKILL)
		}
		_ = cmd.Wait() // it ends with its child
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := tell.Write([]byte("go\n")); err != nil {
		t.Fatal(err)
	}
	const enough = 0.05 // seconds of CPU time
	used := 0.0
	for end := time.Now().Add(20 * time.Second); used < enough; time.Sleep(10 * time.Millisecond) {
		r, _, _ := o.Read()
		used += r.Processes[0].CPUSeconds
		if time.Now().After(end) {
			t.Fatalf("only %.2f s of CPU time", used)
		}
	}
	if own, err := o.processes[0].proc.Stat(); err != nil || own.CPUTime() >= enough {
		t.Errorf("the server itself used %.2f s: %v", own.CPUTime(), err)
	}
}
