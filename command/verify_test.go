package command

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/verify"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
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

// A verification that fails does not prevent the others, and an interrupt ends them.
func TestOneVerificationThatFailsLeavesTheOthersAlone(t *testing.T) {
	var all []verify.Options
	for _, name := range []string{"a", "b", "c"} {
		all = append(all, verify.Options{Job: &bench.Job{Target: &target.Target{Name: name},
			Workload: &workload.Workload{}}})
	}
	ctx, cancel := context.WithCancel(t.Context())
	tried := ""
	one := func(o verify.Options) (*verify.Saved, error) {
		name := o.Job.Target.Name
		if tried += name; name == "b" {
			return nil, errors.New("no servers")
		}
		return &verify.Saved{}, nil
	}
	found, err := verifyAll(ctx, all, one)
	if tried != "abc" || len(found) != 2 || err == nil || err.Error() != "target b: no servers" {
		t.Errorf("tried %s, %d verified, %v", tried, len(found), err)
	}
	cancel()
	if found, err = verifyAll(ctx, all, one); len(found) != 1 || err != nil {
		t.Errorf("after an interrupt %d verified, %v", len(found), err)
	}
}
