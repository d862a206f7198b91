package nats

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// settings has an ack_timeout that a machine full of other tests keeps, unless one is given.
func settings(t testing.TB, given ...target.Setting) system.Settings {
	t.Helper()
	if !slices.ContainsFunc(given, func(s target.Setting) bool { return s.Name == setAckTimeout }) {
		given = append([]target.Setting{{Name: setAckTimeout, Value: "30s"}}, given...)
	}
	s, err := system.Resolve(declared, given)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// provision starts a cluster that the test's end stops.
func provision(t testing.TB, level workload.Level, s system.Settings) *embedded {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	p, err := natsSystem{}.Provision(ctx, system.Provision{
		Nodes: 3, DataDir: t.TempDir(), LogDir: t.TempDir(), Durability: level, Settings: s,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := p.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return p.(*embedded)
}

func optionsOf(e *embedded, level workload.Level, s system.Settings) system.Options {
	return system.Options{Endpoints: e.Endpoints(), Credentials: e.Credentials(), Settings: s,
		Durability: level}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	s := settings(t)
	systemtest.Run(t, systemtest.Harness{
		System: New(),
		Options: func(t *testing.T, level workload.Level) (system.Options, []system.Node) {
			e := provision(t, level, s)
			return optionsOf(e, level, s), e.Nodes()
		},
	})
}

func TestSingleCopy(t *testing.T) {
	for where, level := range map[string]workload.Level{
		"embedded": workload.AsyncSync, valueProcesses: workload.AsyncAsync,
	} {
		t.Run(where, func(t *testing.T) {
			systemtest.SingleCopy(t, New(), level,
				"only 1 server answers, and it is in no cluster", setServers, where)
		})
	}
}
