package driver

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// LeastCopies returns the fewest copies of each message with which a level can be given: where a
// majority has it, three, so that a majority outlives the loss of one.
func LeastCopies(l workload.Level) int {
	if l.Majority() {
		return 3
	}
	return 1
}

// Copies is the number of copies of each message that a target asks for.
type Copies struct {
	Settings system.Settings
	Setting  string // with the number
	Level    workload.Level
}

// Fixed reports whether the number is the setting's. Otherwise the level needs no copies, the
// target does not give the setting, and there are as many copies as servers, up to its default.
func (c Copies) Fixed() bool { return c.Level.Majority() || c.Settings.Given(c.Setting) }

// On returns the number on a cluster with so many servers.
func (c Copies) On(servers int) int {
	want := int(c.Settings.Count(c.Setting))
	if c.Fixed() {
		return want
	}
	return max(min(want, servers), 1)
}

// Enough returns an error unless there are servers for all copies. found says what there is, such
// as "1 broker answers".
func (c Copies) Enough(servers int, found string) error {
	want := c.On(servers)
	switch {
	case servers >= want:
		return nil
	case c.Level.Majority():
		return fmt.Errorf("%s, and durability level %d needs %d copies of each message (%s): add "+
			"servers, or ask for --durability %d or %d, for which a single copy suffices", found,
			c.Level, want, c.Setting, workload.AsyncSync, workload.AsyncAsync)
	}
	return fmt.Errorf("%s, and %s asks for %d copies of each message: add servers, or write "+
		"%s: %d", found, c.Setting, want, c.Setting, servers)
}

// Check returns the violations of the number, wherever the servers are.
func (c Copies) Check() strict.Violations {
	n, least := c.Settings.Count(c.Setting), LeastCopies(c.Level)
	if c.Level.Majority() && n < int64(least) {
		return strict.Violations{c.Settings.Wrong(c.Setting, fmt.Sprintf("is %d, and durability "+
			"level %d needs %d copies or more: raise it, or ask for --durability %d or %d", n,
			c.Level, least, workload.AsyncSync, workload.AsyncAsync))}
	}
	return nil
}

// CheckNodes returns the violations of the number on a testbed with so many nodes, but for those
// that Check finds; 0: the servers run already.
func (c Copies) CheckNodes(nodes int) strict.Violations {
	if nodes == 0 || len(c.Check()) > 0 {
		return nil
	}
	err := c.Enough(nodes, "the testbed has "+quantity.Plural(nodes, "node", "nodes"))
	if err != nil {
		return strict.Violations{c.Settings.Wrong(c.Setting, err.Error())}
	}
	return nil
}

// RefuseResize returns why the number of servers must not change: there are as many copies as
// servers. "": there are more servers than that, or as many copies as the setting says.
func (c Copies) RefuseResize(nodes int) string {
	if want := int(c.Settings.Count(c.Setting)); nodes > 0 && nodes < want {
		return fmt.Sprintf("with fewer than %d servers (%s) there are as many copies as servers: "+
			"start %d", want, c.Setting, want)
	}
	return ""
}

// CheckPrimary is CheckNodes for a primary that copies everything to every other server: there are
// as many copies as nodes.
func (c Copies) CheckPrimary(nodes int) strict.Violations {
	bad := c.CheckNodes(nodes)
	if want := c.On(nodes); bad == nil && nodes > want && len(c.Check()) == 0 {
		bad = strict.Violations{c.Settings.Wrong(c.Setting, fmt.Sprintf("asks for %d servers, one "+
			"of them the primary, and the testbed has %d nodes: make them the same", want, nodes))}
	}
	return bad
}
