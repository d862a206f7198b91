package driver_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

const clientPort = 7410

// servers describes how the servers of a broker start, fail and stop.
var servers = driver.Servers{
	StartWithin: time.Minute, StopGrace: 10 * time.Second, AskEvery: 10 * time.Millisecond,
	LastComplaint: driver.LastLineWith("ERROR"),
}

// build describes a cluster of three nodes and starts it.
func build(ctx context.Context, c *driver.Cluster) (system.Provisioned, error) {
	addresses, err := process.Addresses(3, clientPort)
	if err != nil {
		return nil, err
	}
	c.SetCredentials(system.Credentials{User: "plimsoll", Password: driver.Secret()})
	for i, name := range driver.Numbered("n", len(addresses)) {
		n := c.Add(name, addresses[i][0])
		var conf driver.Properties
		conf.Set("listen", n.Address)
		conf.Set("password", c.Credentials().Password)
		files := map[string]string{"broker.conf": conf.String()}
		if err := c.Furnish(n, files, "data"); err != nil {
			return nil, err
		}
	}
	if err := c.Launch(c.Members(), command); err != nil {
		return nil, err
	}
	return c, c.AwaitEach(ctx, c.Members(), isReady)
}

// command returns the command line of a node. It runs in the node's folder.
func command(*driver.Node) process.Spec {
	return process.Spec{
		Path: driver.FindProgram("/usr/bin/sh", "/bin/sh"), Env: []string{"PATH=/usr/bin:/bin"},
		Args: []string{"-c", "grep -c password broker.conf; exec sleep 1000"},
	}
}

// isReady returns nil when a node can serve clients; otherwise the error says what is missing.
func isReady(_ context.Context, n *driver.Node) error {
	if said, _ := os.ReadFile(n.Log); strings.TrimSpace(string(said)) != "1" {
		return errors.New("it has not read its configuration")
	}
	return nil
}

func Example() {
	dir, err := os.MkdirTemp("", "plimsoll-example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	c, err := servers.Provision(ctx, system.Provision{
		DataDir: filepath.Join(dir, "data"), LogDir: filepath.Join(dir, "logs"),
	}, build)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range c.Nodes() {
		fmt.Println(n.Name)
	}
	fmt.Println("stopped:", c.Stop(ctx) == nil)
	// Output:
	// n1
	// n2
	// n3
	// stopped: true
}
