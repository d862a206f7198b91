package rocketmq

import (
	"context"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
)

func TestProvisionedCluster(t *testing.T) {
	needServer(t)
	c := shared.Get(t)
	systemtest.RunsOnLoopback(t, c, 4, 4)
	password := c.Credentials().Password
	systemtest.KeepsSecrets(t, c.Nodes(), password)
	for _, n := range c.Members() {
		config := systemtest.IsPrivate(t, n.Path(configFile))
		if n.Name != namesNode && !strings.Contains(config, password) {
			t.Errorf("%s: the password is not where this test looks", n.Name)
		}
	}
	systemtest.IsPrivate(t, c.Members()[0].Path(driver.KeyFile))
	if c.TLS() == nil || alone.Get(t).TLS() != nil {
		t.Error("the wrong cluster is encrypted")
	}
}

func TestStartEndsWhenToldTo(t *testing.T) {
	needServer(t)
	if err := (rocketSystem{}).Fetch(context.Background(), system.Settings{}, nil); err != nil {
		t.Fatal(err)
	}
	systemtest.StartEndsWhenToldTo(t, rocketSystem{})
}
