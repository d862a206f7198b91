package postgres

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestRefusals(t *testing.T) {
	web := systemtest.Stranger(t, true, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
	plain := func(t testing.TB) system.Options { return optionsOf(t, workload.SyncAsync) }
	secured := func(t testing.TB) system.Options { return optionsOf(t, workload.SyncSync) }
	all := systemtest.UsualRefusals(t, plain, secured)
	maps.Copy(all, map[string]systemtest.Refusal{
		"unknown database": {Of: func(t testing.TB) system.Options {
			return optionsOf(t, workload.SyncAsync, setDatabase, "nowhere")
		}, Says: []string{"has no database nowhere", "create it, or correct the setting database"}},
		"plaintext to a TLS port": {Of: secured, Change: func(o *system.Options) { o.TLS = nil },
			Says: []string{"asks for TLS", "give the target tls"}},
		"read-only standby": {Of: plain, Change: func(o *system.Options) {
			o.Endpoints = o.Endpoints[1:2]
		}, Says: []string{"is a read-only standby of", "name the primary"}},
		"another protocol": {Of: plain, Change: func(o *system.Options) {
			o.Endpoints = []string{web}
		}, Says: []string{web, "is not PostgreSQL's", "correct the port"}},
	})
	systemtest.Refusals(t, postgresSystem{}, all)
}

// A topic that exists with other settings, and a table that is not a topic, are refused by
// producers and consumers.
func TestOtherTables(t *testing.T) {
	queues := connect(t, optionsOf(t, workload.SyncAsync))
	logs := connect(t, optionsOf(t, workload.SyncAsync, setShape, shapeLog))
	topic := systemtest.Topic(t, queues, "a-queue", 2)
	if err := queues.change(t.Context(), "making a table", `CREATE TABLE "stranger" (x int);
		CREATE UNLOGGED TABLE "fleeting" (x int);
		COMMENT ON TABLE "fleeting" IS 'plimsoll queue 1'`); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		of    *cluster
		topic system.Topic
		says  []string
	}{
		"another shape": {logs, topic, []string{"has the shape queue", "set shape: queue"}},
		"other partitions": {queues, system.Topic{Name: topic.Name, Partitions: 3},
			[]string{"has 2 partitions instead of 3"}},
		"no topic": {queues, system.Topic{Name: "stranger", Partitions: 1},
			[]string{"is not a topic of plimsoll"}},
		"nothing": {queues, system.Topic{Name: "nowhere", Partitions: 1},
			[]string{"there is no table nowhere"}},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			_, err := c.of.OpenProducer(t.Context(),
				system.ProducerOptions{Topic: c.topic, InFlight: 1})
			systemtest.Refused(t, began, err, c.says...)
			_, err = c.of.OpenConsumer(t.Context(),
				system.ConsumerOptions{Topic: c.topic, Subscription: "s"})
			systemtest.Refused(t, began, err, c.says...)
			_, err = c.of.ReadDurability(t.Context(), []system.Topic{c.topic})
			systemtest.Refused(t, began, err, c.says...)
		})
	}
	_, err := queues.ReadDurability(t.Context(), []system.Topic{{Name: "fleeting", Partitions: 1}})
	systemtest.Refused(t, time.Now(), err, "relpersistence u", "a crash empties it")
	long := system.Topic{Name: strings.Repeat("n", 60), Partitions: 1}
	systemtest.Refused(t, time.Now(), queues.CreateTopic(t.Context(), long), "choose a shorter one")
}

// The real level of servers that were changed by hand is recognised.
func TestDurabilityIsReadBack(t *testing.T) {
	for name, c := range map[string]struct {
		level      workload.Level
		on         int // the server that is changed
		key, value string
		says       []string
	}{
		"nobody is waited for": {workload.SyncSync, 0, "synchronous_standby_names", "",
			[]string{"level 1", "wait for 1 standbys or more", "waits for 0"}},
		"strangers are waited for": {workload.SyncAsync, 0, "synchronous_standby_names",
			"ANY 1 (elsewhere)", []string{"level 2", "counts 0 of its standbys"}},
		"the primary does not sync": {workload.AsyncSync, 0, "fsync", "off",
			[]string{"level 3", "fsync on on the primary", "fsync off"}},
		"a standby does not sync": {workload.SyncSync, 2, "fsync", "off",
			[]string{"level 1", "fsync on on the standby", "fsync off"}},
		"torn pages": {workload.AsyncSync, 0, "full_page_writes", "off",
			[]string{"level 3", "full_page_writes on"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := optionsOf(t, c.level)
			connected := connect(t, o)
			topic := systemtest.Topic(t, connected, "read-back-"+c.key+c.value, 1)
			server := connected.link(nil)
			server.address = o.Endpoints[c.on]
			t.Cleanup(server.drop)
			set := func(change, value string) {
				t.Helper()
				alter(t, server, change, c.key, value)
			}
			set("ALTER SYSTEM SET "+c.key+" = "+literal(c.value), c.value)
			defer set("ALTER SYSTEM RESET "+c.key, "")
			_, err := connected.ReadDurability(t.Context(), []system.Topic{topic})
			systemtest.Refused(t, time.Now(), err, c.says...)
		})
	}
}

// alter changes a server's configuration and waits for the change; an empty value means any other.
func alter(t *testing.T, server *link, change, key, value string) {
	t.Helper()
	before, err := server.ask(t.Context(), "SELECT current_setting($1)", key)
	if err == nil {
		err = server.execute(t.Context(), change)
	}
	if err == nil {
		err = server.execute(t.Context(), "SELECT pg_reload_conf()")
	}
	for end := time.Now().Add(10 * time.Second); err == nil && time.Now().Before(end); {
		var rows [][]string
		rows, err = server.ask(t.Context(), "SELECT current_setting($1)", key)
		if err == nil && rows[0][0] != before[0][0] {
			time.Sleep(100 * time.Millisecond) // for the server's other processes
			return
		}
	}
	t.Fatalf("%s is not %q: %v", key, value, err)
}

// A level that needs the standbys' disks is refused if the standbys are not among the endpoints.
func TestStandbysMustBeNamed(t *testing.T) {
	o := optionsOf(t, workload.SyncSync)
	o.Endpoints = o.Endpoints[:1]
	c := connect(t, o)
	topic := systemtest.Topic(t, c, "alone", 1)
	_, err := c.ReadDurability(t.Context(), []system.Topic{topic})
	systemtest.Refused(t, time.Now(), err, "0 of 2 standbys are among the endpoints",
		"name them all")
	four := connect(t, optionsOf(t, workload.SyncAsync, setReplication, "4"))
	topic = systemtest.Topic(t, four, "four-copies", 1)
	_, err = four.ReadDurability(t.Context(), []system.Topic{topic})
	systemtest.Refused(t, time.Now(), err, "needs 4 copies", "has 2 standbys streaming")
}

// If the user lacks rights, the administrator reads the servers' configuration.
func TestAdministratorReadsTheServers(t *testing.T) {
	o := optionsOf(t, workload.SyncAsync)
	admin := connect(t, o)
	if err := admin.change(t.Context(), "making a user", `CREATE USER clerk PASSWORD 'letters';
		GRANT CREATE ON SCHEMA public TO clerk`); err != nil {
		t.Fatal(err)
	}
	limited := o
	limited.Credentials = system.Credentials{User: "clerk", Password: "letters"}
	clerk := connect(t, limited)
	topic := systemtest.SendAndReceive(t, clerk, "clerk")
	_, err := clerk.ReadDurability(t.Context(), []system.Topic{topic})
	systemtest.Refused(t, time.Now(), err, "pg_monitor")
	limited.Credentials.AdminUser = o.Credentials.User
	limited.Credentials.AdminPassword = o.Credentials.Password
	if _, err = connect(t, limited).ReadDurability(t.Context(), []system.Topic{topic}); err != nil {
		t.Error(err)
	}
}

func TestSingleCopy(t *testing.T) {
	needServer(t)
	systemtest.SingleCopy(t, postgresSystem{}, workload.AsyncSync, "has 0 standbys streaming")
}
