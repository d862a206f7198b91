package driver

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

// names returns the names of nodes.
func names(nodes []system.Node) string {
	var all []string
	for _, n := range nodes {
		all = append(all, n.Name)
	}
	return strings.Join(all, " ")
}

// oneStage is building with all of its nodes in one stage, whether they start or not.
func oneStage(servers int) Build {
	return func(ctx context.Context, c *Cluster) (system.Provisioned, error) {
		var stage []*Node
		for i, name := range Numbered("n", servers) {
			n := c.Add(name, At("127.0.0.1", 7000+i))
			n.Program("grow", script(n, "echo more >> grown"))
			stage = append(stage, n)
			if err := c.Furnish(n, map[string]string{"secret": "geheim"}); err != nil {
				return nil, err
			}
		}
		err := c.Launch(stage, func(n *Node) process.Spec { return script(n, runs) })
		if err == nil {
			err = c.AwaitEach(ctx, stage, isReady)
		}
		return c, err
	}
}

// Two servers stay, one more is there from the start, and one starts later. Both leave for good.
func TestServersJoinAndLeave(t *testing.T) {
	p := provision(t)
	p.Nodes, p.Extra, p.Later = 2, 2, 1
	c := start(t, p, oneStage(p.All()))
	expect := func(now, joining, leaving string) {
		t.Helper()
		if names(c.Nodes()) != now || names(c.Joining()) != joining ||
			names(c.Leaving()) != leaving || len(c.Endpoints()) != len(c.Nodes()) {
			t.Fatalf("nodes %q, joining %q, leaving %q, %v", names(c.Nodes()), names(c.Joining()),
				names(c.Leaving()), c.Endpoints())
		}
	}
	expect("n1 n2 n3", "n4", "n3")
	if err := c.Restart("n4"); err != nil {
		t.Fatal(err)
	}
	expect("n1 n2 n3 n4", "", "n4")
	for _, leaving := range []string{"n4", "n3"} {
		pid := c.Leaving()[0].PID
		if err := c.Retire(t.Context(), leaving); err != nil || runsNow(pid) {
			t.Errorf("%s has not left: %v", leaving, err)
		}
		if err := c.Restart(leaving); err == nil {
			t.Errorf("%s left for good, and starts again", leaving)
		}
	}
	expect("n1 n2", "", "")
}

// More servers of a kind than nodes were asked for are no extra ones.
func TestServersBesideTheNodesStart(t *testing.T) {
	p := provision(t)
	p.Nodes = 2
	if c := start(t, p, oneStage(4)); len(c.Nodes()) != 4 || len(c.Leaving()) != 0 {
		t.Errorf("of four servers %s run", names(c.Nodes()))
	}
}

// An operator's programs are those that the driver named, run to their end, and end with the
// caller.
func TestOperate(t *testing.T) {
	c := start(t, provision(t), oneStage(1))
	n := c.Members()[0]
	n.Program("fail", script(n, ends))
	n.Program("hang", script(n, deaf))
	if err := c.Operate(t.Context(), "n1", "grow"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(n.Path("grown")); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for want, err := range map[string]error{
		"fail of n1: exit status 3: [ERR] the disk is on fire": c.Operate(t.Context(), "n1", "fail"),
		"n1 has no program \"rm\"":                             c.Operate(t.Context(), "n1", "rm"),
		"there is no node n2":                                  c.Operate(t.Context(), "n2", "grow"),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := c.Operate(ctx, "n1", "hang"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
