package observe

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The bytes that a process adds to the file of its standard output are counted, from the second
// reading on. A file that was cut counts as one that has not grown, and one of another kind as
// unknown.
func TestLogsAreMeasured(t *testing.T) {
	const how = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	log, err := os.OpenFile(filepath.Join(t.TempDir(), "log"), how, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.CommandContext(t.Context(), "sleep", "1000")
	cmd.Stdout = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	write := func(n int) {
		if _, err := log.Write(make([]byte, n)); err != nil {
			t.Fatal(err)
		}
	}
	write(1000)
	piped := newChild(t)
	o := watching(t, &child{t: t, cmd: cmd}, piped)
	for _, step := range []struct {
		do   func()
		want int64
	}{
		{func() { write(300) }, 300},
		{func() {}, 0},
		{func() { _ = log.Truncate(10) }, 0},
		{func() { write(20) }, 20},
	} {
		step.do()
		r, _, _ := o.Read()
		if got := useOf(t, r, "n1").LogBytes; got == nil || *got != step.want {
			t.Errorf("logged %v, want %d", got, step.want)
		}
		if got := useOf(t, r, "n2").LogBytes; got != nil {
			t.Errorf("a pipe counts as a log of %d bytes", *got)
		}
	}
}
