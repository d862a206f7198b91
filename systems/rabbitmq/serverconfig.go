package rabbitmq

import (
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/strict"
	"github.com/plimsoll-bench/plimsoll/system"
)

// Names of the servers' settings.
const (
	setSecurity   = "security"
	setMemory     = "vm_memory_high_watermark"
	setDiskFree   = "disk_free_limit"
	setSchedulers = "schedulers"
	setBusyWait   = "scheduler_busy_wait"
	setPartition  = "cluster_partition_handling"
)

// Values of the servers' settings, and what bounds them.
const (
	securityPassword = "password"
	securityTLS      = "tls"

	leastMemory          = 128 << 20 // with less a server raises its alarm while it starts
	mostSchedulers       = 1024      // Erlang's own bound
	ofAServerThatWeStart = " (of the servers that plimsoll starts)"
)

// Files and folders below a server's own.
const (
	configFile  = "rabbitmq.conf"
	pluginsFile = "enabled_plugins"
	dataFolder  = "mnesia"
	logFolder   = "log"
	cookieFile  = ".erlang.cookie"
	certFile    = "server.pem"
	keyFile     = "server.key"
	caFile      = "ca.pem"
	// defaultRaftFile is not written: no advanced configuration is what shows
	// that the Raft log is synced, which is RabbitMQ's default.
	defaultRaftFile = "advanced.config"
	// noSyncFile tells by its name, which the management API shows, what is in
	// it, which the API does not show.
	noSyncFile = "wal_sync_method_none.config"
	noSyncRaft = "[{ra, [{wal_sync_method, none}]}].\n"
)

// serverSettings shape the servers that plimsoll starts. The defaults are
// RabbitMQ's own except where the sentence says otherwise.
func serverSettings() []system.Setting {
	all := []system.Setting{
		{Name: setSecurity, Kind: system.Text, Default: securityPassword, OneOf: []string{securityPassword, securityTLS},
			Doc: "what clients show: a password, or a password over TLS"},
		{Name: setMemory, Kind: system.Bytes, Default: "512MB",
			Doc: "memory of each server above which it blocks producers (RabbitMQ's default is 40% of the machine's, too much for several servers on one)"},
		{Name: setDiskFree, Kind: system.Bytes, Default: "100MB",
			Doc: "free disk space below which each server blocks producers (RabbitMQ's default is 50MB)"},
		{Name: setSchedulers, Kind: system.Count, Default: "2",
			Doc: "threads of each server that run Erlang's processes (Erlang's default is one for each core of the machine)"},
		{Name: setBusyWait, Kind: system.Text, Default: none, OneOf: []string{none, "very_short", "short", "medium", "long"},
			Doc: "how long an idle thread spins before it sleeps (Erlang's default is medium, which burns what servers on one machine need)"},
		{Name: setPartition, Kind: system.Text, Default: "pause_minority", OneOf: []string{"pause_minority", "autoheal", "ignore"},
			Doc: "what the servers do about classic and mirrored queues when the network between them is cut (RabbitMQ's default is ignore)"},
	}
	for i := range all {
		all[i].Server = true
		all[i].Doc += ofAServerThatWeStart
	}
	return all
}

// checkNodes is all that is wrong with the servers to start, before anything
// is: nodes is their number, 0 when they run already.
func checkNodes(s system.Settings, p plan, nodes int) strict.Violations {
	var bad strict.Violations
	wrong := func(name, format string, args ...any) {
		bad = append(bad, s.Wrong(name, fmt.Sprintf(format, args...)))
	}
	if nodes == 0 {
		for _, d := range serverSettings() {
			if s.Given(d.Name) {
				wrong(d.Name, "shapes servers that plimsoll starts, and these run already: remove it, or remove the endpoints")
			}
		}
		return bad
	}
	for _, name := range []string{setManagement, setStreamPort, setVhost} {
		if s.Given(name) {
			wrong(name, "says where a cluster that runs already is, and plimsoll starts this one: remove it, or give endpoints")
		}
	}
	if n := s.Bytes(setMemory); n < leastMemory {
		wrong(setMemory, "must be at least %s: with less a server blocks producers while it is idle", quantity.Bytes(leastMemory))
	}
	if n := s.Bytes(setDiskFree); n < 1<<20 {
		wrong(setDiskFree, "must be at least 1MB")
	}
	if n := s.Count(setSchedulers); n < 1 || n > mostSchedulers {
		wrong(setSchedulers, "must be from 1 to %d", mostSchedulers)
	}
	if p.replicated() && int64(nodes) < p.replicas {
		wrong(setReplicas, "asks for %d copies of each queue, and the testbed has %d nodes: ask for more nodes, such as testbed: {nodes: %d}", p.replicas, nodes, p.replicas)
	}
	return bad
}

// serverConfig is the servers' settings in the types that they are used in.
type serverConfig struct {
	security, busyWait, partition string
	memory, diskFree, schedulers  int64
	syncRaft                      bool
}

func readServerConfig(s system.Settings, p plan) serverConfig {
	return serverConfig{
		security: s.Text(setSecurity), busyWait: s.Text(setBusyWait), partition: s.Text(setPartition),
		memory: s.Bytes(setMemory), diskFree: s.Bytes(setDiskFree), schedulers: s.Count(setSchedulers),
		syncRaft: p.syncRaft(),
	}
}

func (c serverConfig) tls() bool { return c.security == securityTLS }

// raftFile is the advanced configuration that a server is pointed to.
func (c serverConfig) raftFile() string {
	if c.syncRaft {
		return defaultRaftFile
	}
	return noSyncFile
}

// ports are those of a server, in the order of identity's addresses.
func (c serverConfig) ports() []int {
	if c.tls() {
		return []int{amqpsPort, managementTLSPort, streamTLSPort}
	}
	return []int{amqpPort, managementPort, streamPort}
}

// identity is one server's place in its cluster, and the secret that clients
// show.
type identity struct {
	host     string
	nodes    []string // of all servers, as Erlang names them
	password string
}

// configuration is a server's rabbitmq.conf.
func (c serverConfig) configuration(who identity, dir string) string {
	var b strings.Builder
	set := func(name, format string, args ...any) { fmt.Fprintf(&b, name+" = "+format+"\n", args...) }
	ports := c.ports()
	at := func(i int) string { return net.JoinHostPort(who.host, strconv.Itoa(ports[i])) }
	if c.tls() {
		set("listeners.tcp", "none")
		set("listeners.ssl.default", "%s", at(0))
		set("ssl_options.cacertfile", "%s", filepath.Join(dir, caFile))
		set("ssl_options.certfile", "%s", filepath.Join(dir, certFile))
		set("ssl_options.keyfile", "%s", filepath.Join(dir, keyFile))
		set("ssl_options.verify", "verify_none")
		set("ssl_options.fail_if_no_peer_cert", "false")
		set("management.ssl.ip", "%s", who.host)
		set("management.ssl.port", "%d", ports[1])
		set("management.ssl.cacertfile", "%s", filepath.Join(dir, caFile))
		set("management.ssl.certfile", "%s", filepath.Join(dir, certFile))
		set("management.ssl.keyfile", "%s", filepath.Join(dir, keyFile))
		set("stream.listeners.tcp", "none")
		set("stream.listeners.ssl.1", "%s", at(2))
		set("stream.advertised_tls_host", "%s", who.host)
		set("stream.advertised_tls_port", "%d", ports[2])
	} else {
		set("listeners.tcp.default", "%s", at(0))
		set("management.tcp.ip", "%s", who.host)
		set("management.tcp.port", "%d", ports[1])
		set("stream.listeners.tcp.1", "%s", at(2))
		set("stream.advertised_port", "%d", ports[2])
	}
	set("stream.advertised_host", "%s", who.host)
	set("default_user", "%s", benchUser)
	set("default_pass", "%s", who.password)
	set("default_user_tags.administrator", "true")
	set("cluster_formation.peer_discovery_backend", "classic_config")
	for i, n := range who.nodes {
		set(fmt.Sprintf("cluster_formation.classic_config.nodes.%d", i+1), "%s", n)
	}
	set("cluster_partition_handling", "%s", c.partition)
	set("vm_memory_high_watermark.absolute", "%d", c.memory)
	set("disk_free_limit.absolute", "%d", c.diskFree)
	set("log.console", "true")
	set("log.console.level", "info")
	set("log.file", "false")
	return b.String()
}

// environment is all that a server's process gets.
func (c serverConfig) environment(n *server, home, epmd string) []string {
	dir, interfaceOf := n.dir, "{"+strings.ReplaceAll(n.host, ".", ",")+"}"
	arguments := fmt.Sprintf("-start_epmd false -kernel inet_dist_use_interface %s +S %d:%d +sbwt %s +sbwtdcpu %s +sbwtdio %s",
		interfaceOf, c.schedulers, c.schedulers, c.busyWait, c.busyWait, c.busyWait)
	return []string{
		"PATH=" + searchPath, "LC_ALL=C.UTF-8", "HOME=" + home, "ERL_EPMD_PORT=" + epmd,
		"ERL_CRASH_DUMP_SECONDS=0", // none: the log says why
		"RABBITMQ_LOG=-color",
		"RABBITMQ_USE_LONGNAME=true", "RABBITMQ_NODENAME=" + n.node, "RABBITMQ_DIST_PORT=" + n.distribution,
		"RABBITMQ_CONFIG_FILE=" + filepath.Join(dir, configFile), "RABBITMQ_CONF_ENV_FILE=/dev/null",
		"RABBITMQ_ADVANCED_CONFIG_FILE=" + filepath.Join(dir, c.raftFile()),
		"RABBITMQ_ENABLED_PLUGINS_FILE=" + filepath.Join(dir, pluginsFile),
		"RABBITMQ_MNESIA_BASE=" + filepath.Join(dir, dataFolder), "RABBITMQ_LOG_BASE=" + filepath.Join(dir, logFolder),
		"RABBITMQ_PID_FILE=" + filepath.Join(dir, "pid"),
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=" + arguments,
		// The script then becomes the Erlang machine in place of starting it as
		// a child, so that the process we start is the server.
		"RUNNING_UNDER_SYSTEMD=true",
	}
}
