package pulsar

import (
	"crypto/x509"
	"errors"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/authority"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func connect(t testing.TB, o system.Options) *cluster {
	t.Helper()
	return systemtest.Connect[*cluster](t, pulsarSystem{}, o)
}

func TestWrongToken(t *testing.T) {
	o := optionsOf(t, sharedCluster(t), workload.SyncAsync)
	o.Credentials.Password = signToken(newSecret(new(driver.Cluster)), benchRole)
	began, err := systemtest.TryConnect(t, pulsarSystem{}, o)
	systemtest.Refused(t, began, err, "refuses the token",
		"check the password of the target's credentials")
	o.Credentials = system.Credentials{}
	began, err = systemtest.TryConnect(t, pulsarSystem{}, o)
	systemtest.Refused(t, began, err, "asks for a token and the target has none")
}

func TestTLSToAPlaintextPort(t *testing.T) {
	o := optionsOf(t, sharedCluster(t), workload.SyncAsync)
	stranger, err := authority.New()
	if err != nil {
		t.Fatal(err)
	}
	o.TLS = stranger.ClientConfig()
	began, err := systemtest.TryConnect(t, pulsarSystem{}, o)
	systemtest.Refused(t, began, err, "remove tls from the target")
}

// TestEncryptedListener connects to a real TLS listener with one wrong option after another. The
// conformance suite covers the correct options.
func TestEncryptedListener(t *testing.T) {
	right := optionsOf(t, syncedCluster(t), workload.SyncSync)
	for name, c := range map[string]struct {
		spoil func(o *system.Options)
		says  []string
	}{
		"untrusted certificate": {func(o *system.Options) { o.TLS.RootCAs = x509.NewCertPool() },
			[]string{"without a trusted signature", "tls.ca_file"}},
		"another name": {
			func(o *system.Options) { o.TLS.ServerName = "elsewhere.example" }, []string{
				"does not fit", "tls.server_name"}},
		"plaintext": {func(o *system.Options) { o.TLS = nil }, []string{"tls"}},
		"wrong token": {func(o *system.Options) { o.Credentials.Password += "x" },
			[]string{"refuses the token"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := right
			o.TLS = o.TLS.Clone()
			c.spoil(&o)
			began, err := systemtest.TryConnect(t, pulsarSystem{}, o)
			systemtest.Refused(t, began, err, c.says...)
		})
	}
}

func TestAdminThatIsElsewhere(t *testing.T) {
	o := optionsOf(t, sharedCluster(t), workload.SyncAsync, setAdminEndpoints, "127.0.0.1:1")
	began, err := systemtest.TryConnect(t, pulsarSystem{}, o)
	systemtest.Refused(t, began, err, "admin API", setAdminEndpoints, "127.0.0.1:1")
}

func TestTopicsThatCannotBeMade(t *testing.T) {
	servers := sharedCluster(t)
	t.Run("no tenant", func(t *testing.T) {
		c := connect(t, optionsOf(t, servers, workload.SyncAsync, setTenant, "nobody"))
		began := time.Now()
		systemtest.Refused(t, began, c.CreateTopic(t.Context(),
			system.Topic{Name: "x", Partitions: 1}), "no tenant nobody", setTenant)
	})
	t.Run("another policy", func(t *testing.T) {
		c := connect(t, optionsOf(t, servers, workload.SyncAsync, setNamespace, "by-hand"))
		p := c.wanted()
		p.Persistence.AckQuorum = 3
		if err := c.admin.do(soon(t), http.MethodPut, "/admin/v2/namespaces/"+c.namespace(), p,
			nil); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		systemtest.Refused(t, began, c.CreateTopic(t.Context(),
			system.Topic{Name: "x", Partitions: 1}), "ack quorum 3, not", "ack quorum 2",
			setNamespace)
	})
}

// A change of the level's configuration after the topic's creation is recognised.
func TestLevelThatWasChanged(t *testing.T) {
	c := connect(t, optionsOf(t, sharedCluster(t), workload.SyncAsync, setNamespace, "changed"))
	topic := systemtest.Topic(t, c, "changed", 1)
	policy := persistence{Ensemble: 3, WriteQuorum: 3, AckQuorum: 1, MarkDeleteRate: 1}
	if err := c.admin.do(soon(t), http.MethodPost,
		"/admin/v2/namespaces/"+c.namespace()+"/persistence", policy, nil); err != nil {
		t.Fatal(err)
	}
	_, err := c.ReadDurability(t.Context(), []system.Topic{topic})
	systemtest.Refused(t, time.Now(), err, "level 2", "ack quorum 2", "ack quorum 1")

	unsynced := connect(t, optionsOf(t, sharedCluster(t), workload.SyncSync))
	_, err = unsynced.ReadDurability(t.Context(),
		[]system.Topic{systemtest.Topic(t, unsynced, "unsynced", 1)})
	systemtest.Refused(t, time.Now(), err, "level 1", "journalSyncData=true",
		"journalSyncData=false", "bookie")
}

// Bookies that cannot be queried prove nothing: the levels that wait for the disk are refused, and
// for the others the fact says "not readable".
func TestBookiesThatCannotBeAsked(t *testing.T) {
	servers := sharedCluster(t)
	c := connect(t, optionsOf(t, servers, workload.AsyncSync, setBookieHTTPPort, "1"))
	_, err := c.ReadDurability(t.Context(), []system.Topic{systemtest.Topic(t, c, "mute", 1)})
	systemtest.Refused(t, time.Now(), err, "cannot be asked", setBookieHTTPPort, "take level 4")
	c = connect(t, optionsOf(t, servers, workload.AsyncAsync, setBookieHTTPPort, "1"))
	e, err := c.ReadDurability(t.Context(), []system.Topic{systemtest.Topic(t, c, "mute", 1)})
	if err != nil || e.Level != workload.AsyncAsync {
		t.Fatalf("%+v, %v", e, err)
	}
	if last := e.Facts[len(e.Facts)-1]; !strings.HasPrefix(last.Value, "not readable") {
		t.Errorf("the last fact is %+v", last)
	}
}

func TestSecondExclusiveConsumer(t *testing.T) {
	c := connect(t,
		optionsOf(t, sharedCluster(t), workload.SyncAsync, setSubscriptionType, exclusive))
	topic := systemtest.Topic(t, c, "exclusive", 1)
	systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, systemtest.NewInbox())
	began := time.Now()
	_, err := c.OpenConsumer(t.Context(), system.ConsumerOptions{Topic: topic, Subscription: "s",
		Index: 1, Receive: func(system.Received) {}})
	systemtest.Refused(t, began, err, "open the consumer", setSubscriptionType)
}

// When brokers stop answering, messages end as unanswered in time, and none ends twice when the
// brokers return.
func TestBrokersThatStopAnswering(t *testing.T) {
	servers := sharedCluster(t)
	c := connect(t, optionsOf(t, servers, workload.SyncAsync, setSendTimeout, "1s"))
	topic := systemtest.Topic(t, c, "silent", 1)
	got := systemtest.NewInbox()
	systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	first := systemtest.NewTestMessage("answered")
	p.Send(&first.Message)
	if err := first.Await(t); err != nil {
		t.Fatal(err)
	}
	signal(t, servers, syscall.SIGSTOP)
	resumed := false
	defer func() {
		if !resumed {
			signal(t, servers, syscall.SIGCONT)
		}
	}()
	began := time.Now()
	second := systemtest.NewTestMessage("unanswered")
	p.Send(&second.Message)
	if err := second.Await(t); !errors.Is(err, system.ErrUnknown) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(began); took < time.Second {
		t.Errorf("it ended after %s", took)
	}
	signal(t, servers, syscall.SIGCONT)
	resumed = true
	third := systemtest.NewTestMessage("answered again")
	p.Send(&third.Message)
	if err := third.Await(t); err != nil && !errors.Is(err, system.ErrUnknown) {
		t.Error(err)
	}
	// Messages that counted as unanswered may still arrive, and here they do.
	got.Await(t, 3)
	if err := p.Close(soon(t)); err != nil {
		t.Error(err)
	}
}

func signal(t *testing.T, servers *driver.Cluster, s syscall.Signal) {
	t.Helper()
	for _, n := range ofKind(servers, brokerNames) {
		if err := syscall.Kill(n.PID(), s); err != nil {
			t.Error(err)
		}
	}
}

func TestSingleCopy(t *testing.T) {
	systemtest.NeedJava(t)
	systemtest.SingleCopy(t, pulsarSystem{}, workload.AsyncAsync, "1 bookie in the cluster")
}
