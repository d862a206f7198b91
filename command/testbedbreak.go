package command

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/fault"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// healLimit bounds the healing of the servers, which an interrupt does not stop.
const healLimit = 4 * time.Minute

type testbedBreakCommand struct {
	Name string        `arg:"" help:"The cluster's name, as testbed status shows it."`
	Do   string        `default:"kill" placeholder:"FAULT" help:"What to do: ${any_fault}; all but the first three need testbed up --breakable."`
	Node string        `default:"one" aliases:"whom" placeholder:"NODE" help:"A server's name there, such as n2, or one, or all."`
	For  time.Duration `placeholder:"10s" help:"Heal the fault after this time; without the flag it lasts until testbed heal."`
	Runs string        `default:"runs" type:"path" placeholder:"DIR" help:"The folder that the cluster was started with."`
}

// anyFault names the faults.
func anyFault() string {
	var names []string
	for _, kind := range workload.FaultKinds() {
		names = append(names, string(kind))
	}
	return strict.List("or", names...)
}

// Run injects the fault. With --for it heals the fault after that time.
func (c *testbedBreakCommand) Run(con console) error {
	if !slices.Contains(workload.FaultKinds(), workload.FaultKind(c.Do)) {
		return inputError{fmt.Errorf("--do: there is no fault %q: take %s", c.Do, anyFault())}
	}
	s, err := findTestbed(con, c.Runs, c.Name)
	if err != nil {
		return err
	}
	ctx, stop := untilTold()
	defer stop()
	done, err := testbed.Break(ctx, s,
		workload.Fault{Do: workload.FaultKind(c.Do), Target: workload.FaultTarget(c.Node)})
	switch {
	case ctx.Err() != nil: // the fault's state is unknown
	case err != nil && len(done.Nodes) > 0:
		return fmt.Errorf("%w: heal what was done so far with: plimsoll testbed heal %s", err,
			c.Name)
	case err != nil:
		return err
	case c.For == 0:
		fmt.Fprintf(con.out, "%s\nheal it with: plimsoll testbed heal %s\n", done.Sentence, c.Name)
		return nil
	default:
		fmt.Fprintln(con.out, done.Sentence)
		select {
		case <-time.After(c.For):
		case <-ctx.Done():
		}
	}
	healing, cancel := context.WithTimeout(context.WithoutCancel(ctx), healLimit)
	defer cancel()
	if err := testbed.Heal(healing, s); err != nil {
		return err
	}
	if ctx.Err() != nil {
		fmt.Fprintln(con.err, "interrupted; the fault was healed")
		return exitError(exitInterrupted)
	}
	fmt.Fprintf(con.out, "healed %s\n", strings.Join(done.Nodes, ", "))
	return nil
}

type testbedHealCommand struct {
	Name string `arg:"" help:"The cluster's name, as testbed status shows it."`
	Runs string `default:"runs" type:"path" placeholder:"DIR" help:"The folder that the cluster was started with."`
}

// Run heals the servers.
func (c *testbedHealCommand) Run(con console) error {
	s, err := findTestbed(con, c.Runs, c.Name)
	if err == nil {
		err = testbed.Heal(context.Background(), s)
	}
	if err == nil {
		fmt.Fprintf(con.out, "healed: nothing that testbed break did to %s is left\n", c.Name)
	}
	return err
}

// testbedNode names one server of a cluster that is up.
type testbedNode struct {
	Name string `arg:"" help:"The cluster's name, as testbed status shows it."`
	Node string `arg:"" help:"The server's name there, such as n2."`
	Runs string `default:"runs" type:"path" placeholder:"DIR" help:"The folder that the cluster was started with."`
}

type testbedKillCommand struct{ testbedNode }

// Run ends a server.
func (c *testbedKillCommand) Run(con console) error {
	n, err := c.ask(con, testbed.Kill)
	if err == nil {
		fmt.Fprintf(con.out,
			"%s of %s (pid %d) was killed; start it again with: plimsoll testbed start %s %s\n",
			n.Name, c.Name, n.PID, c.Name, n.Name)
	}
	return err
}

type testbedStartCommand struct{ testbedNode }

// Run restarts a server.
func (c *testbedStartCommand) Run(con console) error {
	n, err := c.ask(con, testbed.Start)
	if err == nil {
		fmt.Fprintf(con.out,
			"%s of %s runs again (pid %d) and joins the others by itself; its log: %s\n", n.Name,
			c.Name, n.PID, relative(n.Log))
	}
	return err
}

func (c *testbedNode) ask(con console,
	what func(context.Context, testbed.State, string) (testbed.Node, error)) (testbed.Node, error) {
	s, err := findTestbed(con, c.Runs, c.Name)
	if err != nil {
		return testbed.Node{}, err
	}
	return what(context.Background(), s, c.Node)
}

// findTestbed returns the testbed with a name.
func findTestbed(con console, runs, name string) (testbed.State, error) {
	all, err := listTestbeds(con, runs)
	if err != nil {
		return testbed.State{}, err
	}
	var names []string
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	up := "no testbed is up there"
	if len(names) > 0 {
		up = "running testbeds are: " + strings.Join(names, ", ")
	}
	return testbed.State{}, fmt.Errorf("no testbed called %s is up in %s: %s", name,
		relative(runs), up)
}

// breakable returns the reason why the servers of an order cannot be prepared for all faults. A
// slow disk that this machine cannot have is reported when that fault is requested.
func breakable(ctx context.Context, o testbed.Order, base string, elsewhere bool) error {
	faults := []workload.Fault{{Do: workload.FaultPowerCut, Target: workload.TargetOne},
		{Do: workload.FaultPartition, Target: workload.TargetOne}}
	c := fault.Cluster{System: o.System, Provisioner: o.Provisioner, Provision: o.Provision,
		Base: base, Elsewhere: elsewhere}
	if err := fault.Check(ctx, faults, c); err != nil {
		return fmt.Errorf("--breakable: %w", err)
	}
	return nil
}

// injectorOf returns the injector of a testbed's servers. Its random choices differ each time.
func injectorOf(bed *testbed.Testbed) system.Injector {
	return fault.New(bed, uint64(time.Now().UnixNano()))
}
