package mqtt

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/process"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
)

func TestRefusals(t *testing.T) {
	plain := func(t testing.TB) system.Options { return optionsOf(t, shared) }
	all := systemtest.UsualRefusals(t, plain, func(t testing.TB) system.Options {
		return optionsOf(t, secured)
	})
	blind := all["TLS to a plaintext port"]
	blind.Says = []string{"like a port without TLS", "remove tls from the target"}
	all["TLS to a plaintext port"] = blind
	delete(all, "wrong password") // the servers have no login
	delete(all, "no password")
	all["two servers"] = systemtest.Refusal{Of: plain, Change: func(o *system.Options) {
		o.Endpoints = append(o.Endpoints, "127.0.0.1:1883")
	}, Says: []string{"names 2 endpoints: name one"}}
	systemtest.Refusals(t, mqttSystem{}, all)
}

// A server that refuses the user, or the version of the protocol, is said to do so.
func TestRefusedConnection(t *testing.T) {
	for code, says := range map[byte][]string{
		packets.ConnackBadUsernameOrPassword: {"refuses the user or password",
			"check the target's credentials"},
		packets.ConnackNotAuthorized:              {"refuses the user or password"},
		packets.ConnackUnsupportedProtocolVersion: {"does not speak MQTT 5"},
		packets.ConnackServerBusy:                 {"Server busy", "code 0x89"},
	} {
		answer := string([]byte{packets.CONNACK << 4, 3, 0, code, 0})
		o := system.Options{Endpoints: []string{systemtest.Stranger(t, true, answer)}, Durability: 4,
			Settings:    systemtest.Settings(t, mqttSystem{}),
			Credentials: system.Credentials{User: "bob", Password: "hunter2"}}
		began, err := systemtest.TryConnect(t, mqttSystem{}, o)
		systemtest.Refused(t, began, err, says...)
	}
}

// Mosquitto gives messages of a shared subscription to clients that are away.
func TestMosquittoIsRefused(t *testing.T) {
	systemtest.NeedPackage(t, "mosquitto", func() error {
		_, err := exec.LookPath("mosquitto")
		return err
	})
	ports, err := process.FreePorts("127.0.0.1", 1)
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "mosquitto.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil,
		"listener %d 127.0.0.1\nallow_anonymous true\n", ports[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	server := exec.Command("mosquitto", "-c", config)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = server.Process.Kill(), server.Wait() })
	o := system.Options{Endpoints: []string{driver.At("127.0.0.1", ports[0])}, Durability: 4,
		Settings: systemtest.Settings(t, mqttSystem{})}
	err = driver.Retry(t.Context(), 100*time.Millisecond, func() error {
		_, err := driver.DialAny(t.Context(), o.Endpoints, nil)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	began, err := systemtest.TryConnect(t, mqttSystem{}, o)
	systemtest.Refused(t, began, err, "of 4 messages", "that was away", "such as HiveMQ")
}

// A question after a topic begins a session of its name, which must have ended before the next one.
func TestAQuestionCreatesNoTopic(t *testing.T) {
	c := connect(t, optionsOf(t, shared))
	for range 100 {
		if err := c.mustExist(t.Context(), "asked-for"); !errors.Is(err, system.ErrNoTopic) {
			t.Fatalf("it exists: %v", err)
		}
	}
	topic := system.Topic{Name: "asked-for", Partitions: 1}
	for range 20 {
		if err := c.CreateTopic(t.Context(), topic); err != nil {
			t.Fatal(err)
		}
		if err := c.DeleteTopic(t.Context(), topic); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatIsNotThere(t *testing.T) {
	c := connect(t, optionsOf(t, shared))
	nowhere := system.Topic{Name: "nowhere", Partitions: 1}
	_, err := c.ReadDurability(t.Context(), []system.Topic{nowhere})
	systemtest.Refused(t, time.Now(), err, "no session called nowhere")
	_, err = c.Leader(t.Context(), nowhere, 0)
	if !errors.Is(err, system.ErrNoTopic) {
		t.Errorf("the leader of no topic: %v", err)
	}
	_, err = c.OpenConsumer(t.Context(), system.ConsumerOptions{Topic: nowhere, Subscription: "s"})
	systemtest.Refused(t, time.Now(), err, "there is no topic nowhere")
	err = c.CreateTopic(t.Context(), system.Topic{Name: "a/b", Partitions: 1})
	systemtest.Refused(t, time.Now(), err, `"a/b" is no name`)
	_, err = c.OpenConsumer(t.Context(), system.ConsumerOptions{
		Topic: systemtest.Topic(t, c, "names", 1), Subscription: "#"})
	systemtest.Refused(t, time.Now(), err, `"#" is no name`)
	_, err = c.OpenProducer(t.Context(), system.ProducerOptions{Topic: nowhere,
		MessageMax: packetMost})
	systemtest.Refused(t, time.Now(), err, "Maximum Packet Size", "make them smaller")
}
