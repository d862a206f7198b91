package redis

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// How Redis gives the levels. In one turn of its event loop a server executes all commands that it
// has read, writes them to the append-only file, with appendfsync always syncs the file, and only
// then sends the answers: to clients, and a replica's position, for which WAIT waits.
// TestAcknowledgementWaitsFor proves it with delayed syncs and paused replicas.

// Names of the servers' configuration that decides the levels.
const (
	appendOnly    = "appendonly"
	appendFsync   = "appendfsync"
	noFsyncAmid   = "no-appendfsync-on-rewrite"
	maxMemory     = "maxmemory-policy"
	fsyncAlways   = "always"
	fsyncEverySec = "everysec"
	fsyncNo       = "no"
)

func levels() map[workload.Level]system.Guarantee {
	const (
		always = "appendonly yes and appendfsync always on the primary"
		later  = "appendonly yes and appendfsync everysec or no"
		wait   = ", and WAIT for a majority of the copies after each pipeline"
		moved  = "; WAIT is not consensus: only Sentinel or an operator moves the primary, " +
			"and a replica that takes its place may lack acknowledged messages"
		cut     = "; the replicas also drop the writes that the primary loses with its power"
		without = ", without WAIT; a failover may lose acknowledged messages"
	)
	return map[workload.Level]system.Guarantee{
		workload.SyncSync:   {How: always + " and its replicas" + wait + moved},
		workload.SyncAsync:  {How: later + wait + cut + moved},
		workload.AsyncSync:  {How: always + without},
		workload.AsyncAsync: {How: later + without},
	}
}

// replicasAwaited returns the number of replicas that WAIT waits for; 0: there is no WAIT.
func (c *cluster) replicasAwaited() int {
	copies := int(c.Count(setReplication))
	switch {
	case !c.level.Majority():
		return 0
	case c.Text(setWaitFor) == majority:
		copies = driver.Majority(copies)
	}
	return copies - 1 // the primary has it
}

// info holds a server's INFO, by field.
type info map[string]string

func readInfo(ctx context.Context, client *goredis.Client) (info, error) {
	text, err := client.Info(ctx).Result()
	if err != nil {
		return nil, err
	}
	all := info{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			all[name] = value
		}
	}
	return all, nil
}

// replicas returns the addresses of the connected replicas, and how many of them are online: the
// others are still loading a snapshot.
func (i info) replicas() (addresses []string, online int) {
	for n := 0; ; n++ {
		line, ok := i["slave"+strconv.Itoa(n)]
		if !ok {
			return addresses, online
		}
		fields := map[string]string{}
		for field := range strings.SplitSeq(line, ",") {
			name, value, _ := strings.Cut(field, "=")
			fields[name] = value
		}
		addresses = append(addresses, net.JoinHostPort(fields["ip"], fields["port"]))
		if fields["state"] == "online" {
			online++
		}
	}
}

// server is one of the servers, with its INFO and its configuration.
type server struct {
	address, role string
	info          info
	config        map[string]string
}

// readServers reads the primary, and each replica that it names.
func (c *cluster) readServers(ctx context.Context) ([]server, error) {
	primary, err := c.readServer(ctx, c.primary, "primary")
	if err != nil {
		return nil, err
	}
	all := []server{primary}
	addresses, _ := primary.info.replicas()
	for _, address := range addresses {
		replica, err := c.readServer(ctx, address, "replica")
		if err != nil {
			return nil, err
		}
		all = append(all, replica)
	}
	return all, nil
}

// readServer reads one server, as the administrator if the target names one.
func (c *cluster) readServer(ctx context.Context, address, role string) (server, error) {
	admin := &cluster{Settings: c.Settings, options: c.options}
	admin.options.Endpoints = []string{address}
	admin.options.Credentials = c.options.Credentials.Admin()
	client := admin.dial(address, askWithin)
	defer func() { _ = client.Close() }()
	s := server{address: address, role: role, config: map[string]string{}}
	var err error
	if s.info, err = readInfo(ctx, client); err != nil {
		return s, fmt.Errorf("ask the %s: %w", role, admin.explain(err))
	}
	for _, pattern := range []string{"*append*", maxMemory} {
		config, err := client.ConfigGet(ctx, pattern).Result()
		if err != nil {
			return s, fmt.Errorf("read the configuration of the %s %s, which needs the right "+
				"to CONFIG GET: %w", role, address, admin.explain(err))
		}
		maps.Copy(s.config, config)
	}
	return s, nil
}

// ReadDurability reads the configuration of every server, and how many replicas follow.
func (c *cluster) ReadDurability(ctx context.Context, topics []system.Topic) (
	system.Evidence, error,
) {
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	if err := c.checkStreams(ctx, topics); err != nil {
		return system.Evidence{}, err
	}
	servers, err := c.readServers(ctx)
	if err != nil {
		return system.Evidence{}, err
	}
	r := &driver.Reading{Level: c.level}
	if err := c.checkReplicas(r, servers[0].info); err != nil {
		return system.Evidence{}, err
	}
	for _, s := range servers {
		if err := s.check(r); err != nil {
			return system.Evidence{}, err
		}
	}
	producers := "no WAIT"
	if n := c.replicasAwaited(); n > 0 {
		producers = fmt.Sprintf("WAIT %d %d", n, c.Duration(setWaitTimeout).Milliseconds())
	}
	r.Add("producers", "after each pipeline", producers, "set by this client")
	return r.Evidence(), nil
}

// checkStreams checks that the primary has every partition.
func (c *cluster) checkStreams(ctx context.Context, topics []system.Topic) error {
	for _, t := range topics {
		n, err := c.client.Exists(ctx, streams(t)...).Result()
		if err != nil {
			return fmt.Errorf("look for the streams of %s: %w", t.Name, c.explain(err))
		}
		if int(n) != t.Partitions {
			return fmt.Errorf("topic %s: the primary has %d of %d streams", t.Name, n, t.Partitions)
		}
	}
	return nil
}

// checkReplicas compares the number of copies with the requested one.
func (c *cluster) checkReplicas(r *driver.Reading, primary info) error {
	_, online := primary.replicas()
	r.Add(c.primary, "replicas online", strconv.Itoa(online), "INFO replication")
	r.Copies(online + 1)
	if err := c.enough(online); err != nil {
		return err
	}
	if want := int(c.Count(setReplication)); copiesOf(c.Settings, c.level).Fixed() &&
		online+1 != want {
		asked := fmt.Sprintf("%d copies (%s), so for %d replicas", want, setReplication, want-1)
		return r.Contradicts(asked, "%s has %d replicas online", c.primary, online)
	}
	return nil
}

// check compares one server's configuration with the level.
func (s server) check(r *driver.Reading) error {
	for _, name := range []string{appendOnly, appendFsync, noFsyncAmid, maxMemory} {
		r.Add(s.address, s.role+"'s "+name, s.config[name], "CONFIG GET")
	}
	if version := s.info["valkey_version"]; version != "" {
		r.Add(s.address, system.StandIn, "Valkey "+version, "INFO server")
	}
	asks := func(name string, values ...string) error {
		if slices.Contains(values, s.config[name]) {
			return nil
		}
		asked := fmt.Sprintf("%s %s on the %s", name, strings.Join(values, " or "), s.role)
		return r.Contradicts(asked, "%s has %s %s", s.address, name, s.config[name])
	}
	if strings.HasPrefix(s.config[maxMemory], "allkeys") {
		return r.Contradicts("acknowledged messages that stay", "%s evicts them: %s %s",
			s.address, maxMemory, s.config[maxMemory])
	}
	if err := asks(appendOnly, "yes"); err != nil {
		return err
	}
	switch {
	case r.Level.Synced() && (s.role == "primary" || r.Level.Majority()):
		if err := asks(appendFsync, fsyncAlways); err != nil {
			return err
		}
		return asks(noFsyncAmid, "no")
	case !r.Level.Synced():
		return asks(appendFsync, fsyncEverySec, fsyncNo)
	}
	return nil
}

// ServerVersions returns a line for each server.
func (c *cluster) ServerVersions(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	servers, err := c.readServers(ctx)
	var lines []string
	for _, s := range servers {
		version := s.info["redis_version"]
		if valkey := s.info["valkey_version"]; valkey != "" {
			version = valkey + " (Valkey)"
		}
		lines = append(lines, fmt.Sprintf("%s %s %s", s.role, s.address, version))
	}
	return lines, err
}

// awaitReplicas returns nil when all replicas of a primary are online.
func awaitReplicas(ctx context.Context, client *goredis.Client, want int) error {
	have, err := readInfo(ctx, client)
	if err != nil {
		return err
	}
	if _, online := have.replicas(); online != want {
		return fmt.Errorf("%d of %d replicas are online", online, want)
	}
	return nil
}
