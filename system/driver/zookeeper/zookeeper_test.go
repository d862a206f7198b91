package zookeeper

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/maven"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
)

var servers = driver.Servers{
	StartWithin: time.Minute, StopGrace: 10 * time.Second,
	AskEvery: 20 * time.Millisecond, AskWithin: time.Second,
	LastComplaint: maven.LastComplaint,
}

func TestServer(t *testing.T) {
	systemtest.NeedJava(t)
	java, err := Fetch(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var c *driver.Cluster
	place := system.Provision{DataDir: dir, LogDir: filepath.Join(dir, "logs")}
	_, err = servers.Provision(t.Context(), place,
		func(ctx context.Context, made *driver.Cluster) (system.Provisioned, error) {
			c = made
			hosts, err := made.Hosts(1, Port)
			if err != nil {
				return nil, err
			}
			return c, Launch(ctx, c, java, c.Add(Name, driver.At(hosts[0], Port)), 64<<20)
		})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	n := c.Members()[0]
	if err := c.Kill(Name); err != nil {
		t.Fatal(err)
	}
	if err := IsReady(t.Context(), n); err == nil {
		t.Error("a server that was killed is ready")
	}
	if err := c.Restart(Name); err != nil {
		t.Fatal(err)
	}
	if err := c.AwaitEach(t.Context(), []*driver.Node{n}, IsReady); err != nil {
		t.Error(err)
	}
}
