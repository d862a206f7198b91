package rabbitmq

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// Names of the servers' settings.
const (
	setSecurity   = "security"
	setMemory     = "vm_memory_high_watermark"
	setDiskFree   = "disk_free_limit"
	setRaftLog    = "raft.wal_max_size_bytes"
	setSchedulers = "schedulers"
	setBindType   = "scheduler_bind_type"
	setBusyWait   = "scheduler_busy_wait"
	setPartition  = "cluster_partition_handling"
)

// Files and folders below a server's own.
const (
	configFile  = "rabbitmq.conf"
	pluginsFile = "enabled_plugins"
	dataFolder  = "mnesia"
	logFolder   = "log"
	cookieFile  = ".erlang.cookie"
	// defaultRaftFile is not written: the absence of an advanced configuration shows that the Raft
	// log is synced, which is RabbitMQ's default.
	defaultRaftFile = "advanced.config"
	// The name noSyncFile states its content, because the management API shows only the name.
	noSyncFile = "wal_sync_method_none.config"
	noSyncRaft = "[{ra, [{wal_sync_method, none}]}].\n"
)

// serverSettings configure the servers that plimsoll starts. The defaults are
// RabbitMQ's own unless the description says otherwise.
var serverSettings = driver.ServerSettings(system.MustSettings(driver.DeclarePrograms + `
security text password password|tls
    how clients authenticate: a password, or a password over TLS
vm_memory_high_watermark bytes 512MB 128MB..: with less a server blocks producers while it is idle
    memory of each server above which it blocks producers (RabbitMQ's default is 40% of the
    machine's, too much for several servers on one)
disk_free_limit bytes 100MB 1MB..
    free disk space below which each server blocks producers (RabbitMQ's default is 50MB)
raft.wal_max_size_bytes bytes 128MB 1MB..
    quorum: size of the Raft log from which on it begins a new one; it is held in memory too, so
    give a server at least three times as much (RabbitMQ's default is 512MB)
schedulers count 0 0..1024
    threads of each server that run Erlang's processes; 0: one for each core, as Erlang does
scheduler_bind_type text u u|db
    whether these threads are bound to cores (db, RabbitMQ's default, which binds those of all
    servers of a machine to the same cores) or not (u, Erlang's default)
scheduler_busy_wait text none none|very_short|short|medium|long
    how long an idle thread spins before it sleeps (Erlang's default is medium, which burns
    CPU that the servers of one machine share)
cluster_partition_handling text pause_minority pause_minority|autoheal|ignore
    how the servers treat classic and mirrored queues when the network between them is cut
    (RabbitMQ's default is ignore)
`))

// checkNodes returns the violations of the settings of servers to start. nodes is their number, or
// 0 when they run already.
func checkNodes(p plan, nodes int) strict.Violations {
	if nodes == 0 {
		return driver.AlreadyRunning(p.Settings, serverSettings)
	}
	bad := driver.CheckRanges(p.Settings, serverSettings)
	for _, name := range []string{setManagement, setStreamPort, setVhost} {
		if p.Given(name) {
			bad.Wrong(name, "is for a cluster that runs already, and plimsoll starts this "+
				"one: remove it, or give endpoints")
		}
	}
	// A number that the level excludes is out of the setting's own range.
	if p.replicated() && p.replicas() >= int64(driver.LeastCopies(p.level)) {
		return append(bad.Violations, p.copies.CheckNodes(nodes)...)
	}
	return bad.Violations
}

// serverConfig holds the values of the servers' configuration.
type serverConfig struct {
	system.Settings
	syncRaft     bool
	looks        int    // how often a server that starts looks for the others again
	password     string // of the clients
	home         string // the folder with the cookie of all servers
	epmdPort     int
	distribution []int          // ports where servers talk to each other, by node
	nodes        []*driver.Node // all servers
	first        int            // so many start together; the others join them
}

func (c serverConfig) tls() bool { return c.Text(setSecurity) == driver.SecurityTLS }

// ports holds the ports of a server: for clients, for the management API, for streams.
func (c serverConfig) ports() []int {
	if c.tls() {
		return []int{amqpsPort, managementTLSPort, streamTLSPort}
	}
	return []int{amqpPort, managementPort, streamPort}
}

// erlangName returns a server's name in Erlang.
func erlangName(n *driver.Node) string { return n.Name + "@" + n.Host }

// configuration returns a server's rabbitmq.conf.
func (c serverConfig) configuration(n *driver.Node) string {
	var p driver.Properties
	ports := c.ports()
	if c.tls() {
		p.Set("listeners.tcp", "none")
		p.Set("listeners.ssl.default", n.Address)
		p.Set("ssl_options.verify", "verify_none")
		p.Set("ssl_options.fail_if_no_peer_cert", "false")
		p.Set("management.ssl.ip", n.Host)
		p.Set("management.ssl.port", ports[1])
		for _, of := range []string{"ssl_options", "management.ssl"} {
			p.Set(of+".cacertfile", n.Path(driver.CAFile))
			p.Set(of+".certfile", n.Path(driver.CertificateFile))
			p.Set(of+".keyfile", n.Path(driver.KeyFile))
		}
		p.Set("stream.listeners.tcp", "none")
		p.Set("stream.listeners.ssl.1", driver.At(n.Host, ports[2]))
		p.Set("stream.advertised_tls_host", n.Host)
		p.Set("stream.advertised_tls_port", ports[2])
	} else {
		p.Set("listeners.tcp.default", n.Address)
		p.Set("management.tcp.ip", n.Host)
		p.Set("management.tcp.port", ports[1])
		p.Set("stream.listeners.tcp.1", driver.At(n.Host, ports[2]))
		p.Set("stream.advertised_port", ports[2])
	}
	p.Set("stream.advertised_host", n.Host)
	p.Set("default_user", benchUser)
	p.Set("default_pass", c.password)
	p.Set("default_user_tags.administrator", true)
	p.Set("cluster_formation.peer_discovery_backend", "classic_config")
	found := c.nodes[:c.first]
	if i := slices.Index(c.nodes, n); i >= c.first {
		found = c.nodes[:i+1]
	}
	for i, one := range found {
		p.Set(fmt.Sprintf("cluster_formation.classic_config.nodes.%d", i+1), erlangName(one))
	}
	p.Set("cluster_formation.discovery_retry_limit", c.looks)
	p.Set("cluster_formation.discovery_retry_interval", lookAfter.Milliseconds())
	p.Set("cluster_partition_handling", c.Text(setPartition))
	p.Set("vm_memory_high_watermark.absolute", c.Bytes(setMemory))
	p.Set(setRaftLog, c.Bytes(setRaftLog))
	p.Set("disk_free_limit.absolute", c.Bytes(setDiskFree))
	p.Set("log.console", true)
	p.Set("log.console.level", "info")
	p.Set("log.console.use_colors", "off")
	p.Set("log.file", false)
	return p.String()
}

// erlang returns the environment of every Erlang machine that talks to the servers.
func (c serverConfig) erlang() []string {
	return []string{
		"PATH=" + searchPath, "LC_ALL=C.UTF-8", "HOME=" + c.home,
		"ERL_EPMD_PORT=" + strconv.Itoa(c.epmdPort), "RABBITMQ_CONF_ENV_FILE=/dev/null",
	}
}

// distribution returns the arguments with which an Erlang machine listens at a node's host only,
// and starts no name server.
func distribution(n *driver.Node) string {
	return "-start_epmd false -kernel inet_dist_use_interface {" +
		strings.ReplaceAll(n.Host, ".", ",") + "}"
}

// environment returns the whole environment of a server's process.
func (c serverConfig) environment(n *driver.Node) []string {
	busyWait := c.Text(setBusyWait)
	arguments := fmt.Sprintf("%s +stbt %s +sbwt %s +sbwtdcpu %s +sbwtdio %s", distribution(n),
		c.Text(setBindType), busyWait, busyWait, busyWait)
	if threads := c.Count(setSchedulers); threads > 0 {
		arguments += fmt.Sprintf(" +S %d:%[1]d", threads)
	}
	raftFile := defaultRaftFile
	if !c.syncRaft {
		raftFile = noSyncFile
	}
	return append(c.erlang(),
		"ERL_CRASH_DUMP_SECONDS=0", // none: the log says why
		"RABBITMQ_USE_LONGNAME=true", "RABBITMQ_NODENAME="+erlangName(n),
		"RABBITMQ_DIST_PORT="+strconv.Itoa(c.distribution[slices.Index(c.nodes, n)]),
		"RABBITMQ_CONFIG_FILE="+n.Path(configFile),
		"RABBITMQ_ADVANCED_CONFIG_FILE="+n.Path(raftFile),
		"RABBITMQ_ENABLED_PLUGINS_FILE="+n.Path(pluginsFile),
		"RABBITMQ_MNESIA_BASE="+n.Path(dataFolder), "RABBITMQ_LOG_BASE="+n.Path(logFolder),
		"RABBITMQ_PID_FILE="+n.Path("pid"),
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="+arguments,
		// The script then replaces itself with the Erlang machine instead of starting a child, so
		// that our process is the server.
		"RUNNING_UNDER_SYSTEMD=true",
	)
}
