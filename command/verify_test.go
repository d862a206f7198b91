package command

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// A matrix leaves out the fault that one node cannot have, and says so.
func TestMatrixOfOneNode(t *testing.T) {
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("the other faults of a matrix need root on Linux")
	}
	all := parsed(t, "verify", "-t", "nats", "--nodes", "1", "--durability", "4", "--matrix",
		"--runs", t.TempDir())
	var said bytes.Buffer
	options, err := all.Verify.options(console{io.Discard, &said})
	if err != nil {
		t.Fatal(err)
	}
	var faults []string
	for _, o := range options {
		f := o.Job.Workload.Faults[0]
		faults = append(faults, string(f.Do)+" "+string(f.Target))
	}
	want := slices.DeleteFunc(slices.Clone(matrixFaults),
		func(f string) bool { return strings.HasPrefix(f, "partition") })
	const says = "target nats: left out: fault partition leader: one node has no other"
	if !slices.Equal(faults, want) || !strings.Contains(said.String(), says) {
		t.Errorf("%q, and it says %q", faults, said.String())
	}
}
