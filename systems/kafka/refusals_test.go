package kafka

import (
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/plimsoll-bench/plimsoll/internal/authority"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Brokers that do not know share groups, or have them as a preview, are refused: the older cluster
// is of 4.1.
func TestOlderBrokersHaveNoShareGroups(t *testing.T) {
	o := optionsOf(t, securedCluster(t), workload.AsyncSync, setGroupType, groupShare)
	began, err := systemtest.TryConnect(t, kafkaSystem{}, o)
	systemtest.Refused(t, began, err, "does not know groups of group_type share", "4.2")
}

func connect(t testing.TB, o system.Options) *cluster {
	t.Helper()
	return systemtest.Connect[*cluster](t, kafkaSystem{}, o)
}

func TestWrongPassword(t *testing.T) {
	o := optionsOf(t, sharedCluster(t), workload.SyncAsync)
	o.Credentials.Password = "wrong"
	began, err := systemtest.TryConnect(t, kafkaSystem{}, o)
	systemtest.Refused(t, began, err, "refuses the user or password",
		"check the target's credentials")
	o.Credentials = system.Credentials{}
	began, err = systemtest.TryConnect(t, kafkaSystem{}, o)
	systemtest.Refused(t, began, err, "credentials")
}

func TestTLSToAPlaintextPort(t *testing.T) {
	o := optionsOf(t, sharedCluster(t), workload.SyncAsync)
	stranger, err := authority.New()
	if err != nil {
		t.Fatal(err)
	}
	o.TLS = stranger.ClientConfig()
	began, err := systemtest.TryConnect(t, kafkaSystem{}, o)
	systemtest.Refused(t, began, err, "remove tls from the target")
}

// TestSecureListener connects to a real SASL_SSL listener: with correct options, by password and
// by SCRAM, and with one wrong option after another.
func TestSecureListener(t *testing.T) {
	servers := securedCluster(t)
	right := optionsOf(t, servers, workload.SyncAsync)
	c := connect(t, right)
	systemtest.SendAndReceive(t, c, "secure-plain")

	scram := right.Credentials
	scram.User = "scram-user"
	for mechanism, name := range map[kadm.ScramMechanism]string{kadm.ScramSha256: "scram-sha-256",
		kadm.ScramSha512: "scram-sha-512"} {
		if _, err := c.admin.AlterUserSCRAMs(t.Context(), nil,
			[]kadm.UpsertSCRAM{{User: scram.User, Mechanism: mechanism, Iterations: 4096,
				Password: scram.Password}}); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			o := optionsOf(t, servers, workload.SyncAsync, setSASL, name)
			o.Credentials = scram
			awaitUser(t, o)
			systemtest.SendAndReceive(t, connect(t, o), "secure-"+name)
			o.Credentials.Password = "wrong"
			began, err := systemtest.TryConnect(t, kafkaSystem{}, o)
			systemtest.Refused(t, began, err, "refuses the user or password")
		})
	}
	t.Run("untrusted certificate", func(t *testing.T) {
		o := right
		o.TLS = o.TLS.Clone()
		o.TLS.RootCAs = x509.NewCertPool()
		began, err := systemtest.TryConnect(t, kafkaSystem{}, o)
		systemtest.Refused(t, began, err, "without a trusted signature", "tls.ca_file")
	})
	t.Run("another name", func(t *testing.T) {
		o := right
		o.TLS = o.TLS.Clone()
		o.TLS.ServerName = "elsewhere.example"
		began, err := systemtest.TryConnect(t, kafkaSystem{}, o)
		systemtest.Refused(t, began, err, "does not fit", "tls.server_name")
	})
	t.Run("plaintext", func(t *testing.T) {
		o := right
		o.TLS = nil
		began, err := systemtest.TryConnect(t, kafkaSystem{}, o)
		systemtest.Refused(t, began, err, "tls")
	})
	t.Run("wrong password", func(t *testing.T) {
		o := right
		o.Credentials.Password = "wrong"
		began, err := systemtest.TryConnect(t, kafkaSystem{}, o)
		systemtest.Refused(t, began, err, "refuses the user or password")
	})
}

// awaitUser waits until every broker knows a new user.
func awaitUser(t *testing.T, o system.Options) {
	t.Helper()
	for _, endpoint := range o.Endpoints {
		one := o
		one.Endpoints = []string{endpoint}
		deadline := time.Now().Add(10 * time.Second)
		for {
			_, err := systemtest.TryConnect(t, kafkaSystem{}, one)
			if err == nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
}

func TestTopicsThatCannotBeMade(t *testing.T) {
	servers := sharedCluster(t)
	for name, c := range map[string]struct {
		settings []string
		says     []string
	}{
		"unknown configuration": {[]string{setTopicConfigs, "retention.mss=5"},
			[]string{"retention.mss", "correct " + setTopicConfigs}},
		"more replicas than brokers": {[]string{setReplication, "5"},
			[]string{"3 brokers answer", "needs 5 copies of each message (replication_factor)"}},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := connect(t, optionsOf(t, servers, workload.SyncAsync, c.settings...))
			began := time.Now()
			err := cluster.CreateTopic(t.Context(), system.Topic{Name: "cannot-be", Partitions: 1})
			systemtest.Refused(t, began, err, c.says...)
		})
	}
}

// The real level of a topic that was created by hand is recognised.
func TestTopicMadeByHand(t *testing.T) {
	c := connect(t, optionsOf(t, sharedCluster(t), workload.SyncSync))
	text := func(s string) *string { return &s }
	for name, made := range map[string]struct {
		replicas int16
		configs  map[string]*string
		says     []string
	}{
		"no flush": {3, map[string]*string{minISR: text("2")},
			[]string{"level 1", "flush.messages=1", "flush.messages=9223372036854775807"}},
		"few in-sync": {3, map[string]*string{minISR: text("1"), flushMessages: text("1")},
			[]string{"min.insync.replicas=2", "min.insync.replicas=1"}},
		"too few copies": {1, map[string]*string{flushMessages: text("1")},
			[]string{"replication factor of 3", "it has 1"}},
		"unclean leadership": {3, map[string]*string{minISR: text("2"), flushMessages: text("1"),
			unclean: text("true")}, []string{unclean + "=false", unclean + "=true"}},
	} {
		t.Run(name, func(t *testing.T) {
			topic := system.Topic{Name: "by-hand-" + strings.ReplaceAll(name, " ", "-"),
				Partitions: 1}
			if _, err := c.admin.CreateTopic(t.Context(), 1, made.replicas, made.configs,
				topic.Name); err != nil {
				t.Fatal(err)
			}
			if err := c.awaitTopics(t.Context(), []system.Topic{topic}, nil); err != nil {
				t.Fatal(err)
			}
			_, err := c.ReadDurability(t.Context(), []system.Topic{topic})
			systemtest.Refused(t, time.Now(), err, made.says...)
		})
	}
}

func TestSingleCopy(t *testing.T) {
	systemtest.NeedJava(t)
	systemtest.SingleCopy(t, kafkaSystem{}, workload.AsyncSync, "1 broker answers",
		setHeap, "192MB", setGC, gcSerial)
}
