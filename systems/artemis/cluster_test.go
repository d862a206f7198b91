package artemis

import (
	"context"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
)

func TestProvisionedCluster(t *testing.T) {
	needServer(t)
	c := shared.Get(t)
	systemtest.RunsOnLoopback(t, c, 2, 2)
	systemtest.KeepsSecrets(t, c.Nodes(), c.Credentials().Password)
	for _, n := range c.Members() {
		systemtest.IsPrivate(t, n.Path(brokerFile))
		systemtest.IsPrivate(t, n.Path(usersFile))
	}
	if secured.Get(t).TLS() == nil || c.TLS() != nil {
		t.Error("the wrong cluster is encrypted")
	}
}

func TestStartEndsWhenToldTo(t *testing.T) {
	needServer(t)
	if err := (artemisSystem{}).Fetch(context.Background(), system.Settings{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := systemtest.FailedStart(t, artemisSystem{}, 500*time.Millisecond); err != nil {
		t.Log(err)
	}
}
