package artemis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/driver/amqp"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// levels returns the meaning of each level. A server answers a durable message when its journal
// has it, with journal-datasync when it is synced too; a primary also when its backup has received
// it, and a server with a mirror whose sync is true when the mirror has answered. Both servers of
// a mirror may answer before they sync, unless their journal-type is ASYNCIO.
// TestAcknowledgementWaitsFor proves it with delayed syncs and paused servers.
func levels() map[workload.Level]system.Guarantee {
	const (
		alone = "; a primary that lost its backup goes on alone, and answers by itself"
		later = "; messages that the mirror lacks are lost with the first server"
		one   = "; or a single server with the only copy"
	)
	return map[workload.Level]system.Guarantee{
		workload.SyncSync: {How: "AMQP mirror with sync=true, and journal-datasync=true and " +
			"journal-type=ASYNCIO on both servers: each has synced the message"},
		workload.SyncAsync: {How: "replicated pair, which waits for the backup's memory, or an " +
			"AMQP mirror with sync=true, each with either journal-datasync" + alone},
		workload.AsyncSync: {How: "journal-datasync=true and journal-type=ASYNCIO on both " +
			"servers, and an AMQP mirror with sync=false" + later + one},
		workload.AsyncAsync: {How: "journal-datasync=false, and an AMQP mirror with sync=false" +
			later + one},
	}
}

const mirrorName = "mirror" // of the broker connection

// brokerConnection is a server's connection to another one.
type brokerConnection struct {
	Name, URI          string
	Started, Connected bool
}

func (m *management) brokerConnections(ctx context.Context) ([]brokerConnection, error) {
	raw, err := m.call(ctx, broker, "listBrokerConnections")
	var text string
	var all []brokerConnection
	if err == nil {
		err = json.Unmarshal(raw, &text)
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &all)
	}
	if err != nil {
		return nil, fmt.Errorf("list the broker connections: %w", err)
	}
	return all, nil
}

// statedSource is the source of facts that the servers do not show.
const statedSource = "stated by the target"

// reading reads the durability of one server.
type reading struct {
	*driver.Reading
	c     *cluster
	admin *management
	at    string
}

// ReadDurability reads the configuration of every server that answers, and whether the second
// server follows the first.
func (c *cluster) ReadDurability(ctx context.Context, topics []system.Topic) (
	system.Evidence, error,
) {
	r := &driver.Reading{Level: c.level}
	err := c.readServers(ctx, r, topics)
	if err != nil {
		return system.Evidence{}, err
	}
	return r.Evidence(), nil
}

// readServers compares the servers with the level.
func (c *cluster) readServers(ctx context.Context, into *driver.Reading,
	topics []system.Topic) (err error) {
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	r := reading{Reading: into, c: c, admin: newManagement(c.adminDialer(c.dialer.Endpoints...))}
	defer r.admin.close()
	if r.at, err = r.admin.endpoint(ctx); err != nil {
		return err
	}
	if err := r.checkQueues(ctx, topics); err != nil {
		return err
	}
	switch replication(c.Settings, c.level) {
	case single:
		return r.checkSingle(ctx)
	case mirror:
		return r.checkMirror(ctx)
	}
	return r.checkPair(ctx)
}

// checkQueues checks that the server has every partition's address.
func (r reading) checkQueues(ctx context.Context, topics []system.Topic) error {
	for _, t := range topics {
		for i := range t.Partitions {
			if _, err := r.admin.call(ctx, broker, "getAddressInfo", address(t, i)); err != nil {
				return fmt.Errorf("topic %s: look for partition %d: %w", t.Name, i, err)
			}
		}
	}
	return nil
}

// checkPair checks that the server is a primary, or a backup that took over, and has a backup in
// sync.
func (r reading) checkPair(ctx context.Context) error {
	if _, err := r.checkJournal(ctx); err != nil {
		return err
	}
	policy, err := r.admin.text(ctx, broker, "HAPolicy")
	if err != nil {
		return err
	}
	r.Add(r.at, "HA policy", policy, managementAddress)
	inSync := false
	if err := r.admin.attribute(ctx, broker, "ReplicaSync", &inSync); err != nil {
		return err
	}
	r.Add(r.at, "replica in sync", strconv.FormatBool(inSync), managementAddress)
	r.Copies(2)
	if !inSync {
		return r.Contradicts("a replicated pair", "%s has no backup in sync (HA policy %s): start "+
			"its backup, or ask for --durability 3 or 4, for which a single copy suffices", r.at,
			policy)
	}
	return nil
}

// checkSingle checks the journal of a server that keeps the only copy.
func (r reading) checkSingle(ctx context.Context) error {
	r.Copies(1)
	_, err := r.checkJournal(ctx)
	return err
}

// checkAlone checks that a server without a mirror is no primary with a backup, for which it waits.
func (r reading) checkAlone(ctx context.Context) error {
	r.Add(r.at, "broker connections", "none", managementAddress)
	inSync := false
	if err := r.admin.attribute(ctx, broker, "ReplicaSync", &inSync); err != nil {
		return err
	}
	r.Add(r.at, "replica in sync", strconv.FormatBool(inSync), managementAddress)
	if inSync {
		r.Copies(2)
		return r.Contradicts("an AMQP mirror, or a single server", "%s has a backup in sync, for "+
			"which it waits", r.at)
	}
	r.Copies(1)
	return nil
}

// checkMirror compares the server's broker connection, and the configuration of its mirror (the
// other endpoint), with the level.
func (r reading) checkMirror(ctx context.Context) error {
	config, err := r.checkJournal(ctx)
	if err != nil {
		return err
	}
	all, err := r.admin.brokerConnections(ctx)
	if err != nil {
		return err
	}
	if left := r.c.Text(setReplication) == auto; len(all) == 0 && left && !r.Level.Majority() {
		return r.checkAlone(ctx)
	}
	if len(all) != 1 {
		return r.Contradicts("an AMQP mirror", "%s has %d broker connections", r.at, len(all))
	}
	r.Add(r.at, "broker connection "+all[0].Name, all[0].URI, managementAddress)
	r.Add(r.at, "connected", strconv.FormatBool(all[0].Connected), managementAddress)
	r.Copies(2)
	if !all[0].Connected {
		return r.Contradicts("an AMQP mirror", "%s is not connected to it", r.at)
	}
	want := strconv.FormatBool(r.Level.Majority())
	synced := config["AMQPConnections."+all[0].Name+".mirrors.default.sync"]
	switch {
	case config == nil: // it is on another machine, and the target states what it does not show
		synced = want
		r.State(r.at, "mirror sync", want, statedSource)
	case synced == "":
		return fmt.Errorf("%s does not show the sync of its mirror %s: give the broker connection "+
			"one mirror with an attribute sync", r.at, all[0].Name)
	default:
		r.Add(r.at, "mirror sync", synced, exportFile)
	}
	if synced != want {
		return r.Contradicts("mirror sync="+want, "%s has mirror sync=%s", r.at, synced)
	}
	if len(r.c.options.Endpoints) < 2 {
		return r.Contradicts("both servers", "the mirror of %s is not among the endpoints: name "+
			"it as the second one", r.at)
	}
	other := r
	other.at = r.c.options.Endpoints[1]
	other.admin = newManagement(r.c.adminDialer(other.at))
	defer other.admin.close()
	_, err = other.checkJournal(ctx)
	return err
}

// checkJournal compares a server's journal with the level, and returns its configuration.
func (r reading) checkJournal(ctx context.Context) (config map[string]string, err error) {
	kind, err := r.admin.text(ctx, broker, "JournalType")
	if err != nil {
		return nil, err
	}
	r.Add(r.at, "journal-type", kind, managementAddress)
	if r.Level.Synced() && kind != asyncIO {
		return nil, r.Contradicts("journal-type="+asyncIO, "%s has %s, which a server also uses "+
			"where its machine lacks libaio", r.at, kind)
	}
	waits := false
	if err := r.admin.attribute(ctx, broker, "JournalSyncNonTransactional", &waits); err != nil {
		return nil, err
	}
	r.Add(r.at, "journal-sync-non-transactional", strconv.FormatBool(waits), managementAddress)
	if !waits {
		return nil, r.Contradicts("journal-sync-non-transactional=true", "%s has false: it "+
			"answers before it has written", r.at)
	}
	if config, err = r.admin.config(ctx); err != nil {
		return nil, err
	}
	has, add := config["journalDatasync"], r.Add
	source := exportFile
	if has == "" {
		has, add, source = r.c.Text(setStated), r.State, statedSource
	}
	if has == unstated {
		return nil, fmt.Errorf("%s does not show journal-datasync over the network: look into its "+
			"broker.xml and state it in %s", r.at, setStated)
	}
	add(r.at, "journal-datasync", has, source)
	// A level is a minimum: the primary of a pair may also sync.
	if want := strconv.FormatBool(r.Level.Synced()); has != want && r.Level != workload.SyncAsync {
		return nil, r.Contradicts("journal-datasync="+want, "%s has journal-datasync=%s", r.at, has)
	}
	return config, nil
}

// adminDialer connects as the administrator where the target names one.
func (c *cluster) adminDialer(endpoints ...string) *amqp.Dialer {
	o := c.options
	o.Credentials = o.Credentials.Admin()
	return dialer(o, endpoints...)
}

// ServerVersions returns a line for each server that answers.
func (c *cluster) ServerVersions(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	var lines []string
	for _, at := range c.options.Endpoints {
		m := newManagement(dialer(c.options, at))
		version, err := m.text(ctx, broker, "Version")
		m.close()
		if err == nil {
			lines = append(lines, at+" "+version)
		}
	}
	if len(lines) == 0 {
		return nil, errors.New("no server tells its version")
	}
	return lines, nil
}
