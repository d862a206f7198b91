package command

import (
	"context"
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/testbed"
)

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
