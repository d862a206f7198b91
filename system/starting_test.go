package system_test

import (
	"context"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
)

// named is a provisioner of nodes with given names.
type named []string

func (n named) NodeNames(system.Provision) []string { return n }

func (named) Provision(context.Context, system.Provision) (system.Provisioned, error) {
	return nil, nil
}

func TestNodesOf(t *testing.T) {
	for _, c := range []struct {
		names named
		want  string
	}{{nil, "3 nodes"}, {named{"n1"}, "1 node"}, {named{"n1", "n2"}, "2 nodes"}} {
		if got := system.NodesOf(c.names, system.Provision{Nodes: 3}); got != c.want {
			t.Errorf("%v: %s, want %s", c.names, got, c.want)
		}
	}
}
