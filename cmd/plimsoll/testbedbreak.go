package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/fault"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// healLimit bounds the mending of the servers, which an interrupt does not stop.
const healLimit = 4 * time.Minute

type testbedBreakCommand struct {
	Name string        `arg:"" help:"The cluster's name, as testbed status shows it."`
	Do   string        `default:"kill" placeholder:"FAULT" help:"What to do: kill, pause, restart, partition, cut-clients, slow-disk, full-disk or power-cut; all but the first three need testbed up --breakable."`
	Node string        `default:"one" aliases:"whom" placeholder:"NODE" help:"A server's name there, such as n2, or one, or all."`
	For  time.Duration `placeholder:"10s" help:"Mend it after so long; without it, it lasts until testbed heal."`
	Runs string        `default:"runs" type:"path" placeholder:"DIR" help:"The folder that the cluster was started with."`
}

// Run breaks servers. With --for it mends them after that time.
func (c *testbedBreakCommand) Run(con console) error {
	if !slices.Contains(workload.FaultKinds(), workload.FaultKind(c.Do)) {
		return inputError{fmt.Errorf("--do: there is no fault %q: those that are: %s", c.Do,
			strings.Trim(fmt.Sprint(workload.FaultKinds()), "[]"))}
	}
	s, err := findTestbed(con, c.Runs, c.Name)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	done, err := testbed.Break(ctx, s,
		workload.Fault{Do: workload.FaultKind(c.Do), Target: workload.FaultTarget(c.Node)})
	switch {
	case ctx.Err() != nil: // how far it got is not known
	case err != nil && len(done.Nodes) > 0:
		return fmt.Errorf("%w: mend what was done so far with: plimsoll testbed heal %s", err,
			c.Name)
	case err != nil:
		return err
	case c.For == 0:
		fmt.Fprintf(con.out, "%s\nmend it with: plimsoll testbed heal %s\n", done.Sentence, c.Name)
		return nil
	default:
		fmt.Fprintln(con.out, done.Sentence)
		timer := time.NewTimer(c.For)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	healing, cancel := context.WithTimeout(context.WithoutCancel(ctx), healLimit)
	defer cancel()
	if err := testbed.Heal(healing, s); err != nil {
		return err
	}
	if ctx.Err() != nil {
		fmt.Fprintln(con.err, "interrupted; mended what was broken")
		return exitError(exitInterrupted)
	}
	fmt.Fprintf(con.out, "mended %s\n", strings.Join(done.Nodes, ", "))
	return nil
}

type testbedHealCommand struct {
	Name string `arg:"" help:"The cluster's name, as testbed status shows it."`
	Runs string `default:"runs" type:"path" placeholder:"DIR" help:"The folder that the cluster was started with."`
}

// Run mends servers.
func (c *testbedHealCommand) Run(con console) error {
	s, err := findTestbed(con, c.Runs, c.Name)
	if err == nil {
		err = testbed.Heal(context.Background(), s)
	}
	if err == nil {
		fmt.Fprintf(con.out, "mended: nothing that testbed break did to %s is left\n", c.Name)
	}
	return err
}

// findTestbed is the testbed of a name.
func findTestbed(con console, runs, name string) (testbed.State, error) {
	all, err := listTestbeds(con, runs)
	if err == nil {
		all, err = namedTestbed(all, runs, name)
	}
	if err != nil {
		return testbed.State{}, err
	}
	return all[0], nil
}

// breakable says why the servers of an order cannot be prepared to be broken in
// every way. That disks cannot be slow here is said when that is asked for.
func breakable(ctx context.Context, o testbed.Order, base string) error {
	faults := []workload.Fault{{Do: workload.FaultPowerCut, Target: workload.TargetOne},
		{Do: workload.FaultPartition, Target: workload.TargetOne}}
	c := fault.Cluster{System: o.System, Provisioner: o.Provisioner, Provision: o.Provision,
		Base: base}
	if err := fault.Check(ctx, faults, c); err != nil {
		return fmt.Errorf("--breakable: %w", err)
	}
	return nil
}

// injectorOf breaks a testbed's servers at somebody's wish, so that what is left to
// chance is drawn anew each time.
func injectorOf(bed *testbed.Testbed) system.Injector {
	return fault.New(bed, uint64(time.Now().UnixNano()))
}
