package rabbitmq

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

const (
	benchUser = "plimsoll"

	amqpPort          = 5672
	amqpsPort         = 5671
	managementPort    = 15672
	managementTLSPort = 15671
	streamPort        = 5552
	streamTLSPort     = 5551
)

// servers describes how RabbitMQ's servers start, fail and stop. Servers on two cores take twenty
// seconds to start. Servers that stop close their files.
var servers = driver.Servers{
	StartWithin: 4 * time.Minute, StopGrace: 20 * time.Second, AskEvery: 100 * time.Millisecond,
	LastComplaint: lastComplaint,
	AddressTaken: []string{
		"eaddrinuse", "is in use by another node", "could not bind to distribution port",
	},
}

// searchPath is the PATH on which the server's script finds Erlang and the shell's tools.
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

const serverScript = "rabbitmq-server"

// scripts are the scripts that start servers. /usr/sbin/rabbitmq-server is not among them: it is a
// wrapper that changes the user and reads the configuration of the machine's own server.
var scripts = driver.Programs{
	Names:   []string{serverScript},
	Folders: []string{"/usr/lib/rabbitmq/bin", "/usr/local/lib/rabbitmq/bin", "/opt/rabbitmq/sbin"},
	Missing: system.Missing{Software: "RabbitMQ's server, which runs on Erlang",
		Packages: []string{"rabbitmq-server"}},
}

// installation holds the programs of a cluster.
type installation struct{ server, epmd string }

// findInstallation returns the programs to run, or an error that says how to get them.
func findInstallation(s system.Settings) (installation, error) {
	folder, err := scripts.Find(s)
	found := installation{server: filepath.Join(folder, serverScript), epmd: lookUp("epmd")}
	if err == nil && (found.epmd == "" || lookUp("erl") == "") {
		missing := scripts.Missing
		err = &missing
	}
	return found, err
}

// FindSoftware looks for the server's script and for Erlang, and for a server with mirrored queues
// if the settings ask for them.
func (rabbitSystem) FindSoftware(s system.Settings) error {
	found, err := findInstallation(s)
	if err == nil && s.Text(setQueueType) == mirrored &&
		(plan{kind: mirrored}).lacking(majorOf(found.server)) != "" {
		err = &system.Missing{Software: "RabbitMQ before version 4, which has mirrored queues"}
	}
	return err
}

// majorOf returns the major version of the server that a script starts; 0: it is not known.
func majorOf(script string) int {
	major, _, _ := versionOf(script)
	return major
}

// Installed returns a *system.Missing when this machine cannot start servers.
func Installed() error { return rabbitSystem{}.FindSoftware(system.Settings{}) }

// lookAfter is how long a server that starts waits until it looks for the others again.
const lookAfter = 500 * time.Millisecond

// looksOf returns how often a server that starts looks for the others again. The servers start at
// the same time. Before 3.13 they look one by one, under a lock: servers that the first one does
// not find wait for the lock, so looking again would only delay them. Since then each looks until
// another is there and the oldest of them is ready, and after its last look it starts alone: so it
// must not give up before the start does.
func looksOf(script string) int {
	major, minor, known := versionOf(script)
	if known && (major < 3 || major == 3 && minor < 13) {
		return 1
	}
	return int(servers.StartWithin / lookAfter)
}

// versionOf returns the version of the server that a script starts: that of its plugin rabbit.
func versionOf(script string) (major, minor int, known bool) {
	path, err := filepath.EvalSymlinks(script)
	if err != nil {
		return 0, 0, false
	}
	found, err := filepath.Glob(filepath.Join(filepath.Dir(path), "../plugins/rabbit-*"))
	if err != nil || len(found) != 1 {
		return 0, 0, false
	}
	_, err = fmt.Sscanf(filepath.Base(found[0]), "rabbit-%d.%d", &major, &minor)
	return major, minor, err == nil
}

// lookUp finds a program where the server's script will find it, or returns "".
func lookUp(program string) string {
	var places []string
	for _, dir := range filepath.SplitList(searchPath) {
		places = append(places, filepath.Join(dir, program))
	}
	return driver.FindProgram(places...)
}

// NodeNames returns the names of the servers.
func (rabbitSystem) NodeNames(p system.Provision) []string { return driver.Numbered("n", p.All()) }

// Provision starts a cluster of p.Nodes servers as processes of this machine,
// each on a loopback address of its own. It returns when every server reports that all run. It
// does not touch other servers on this machine: the cluster has its own names, ports, cookie and
// name server (epmd).
func (rabbitSystem) Provision(ctx context.Context, p system.Provision) (system.Provisioned, error) {
	plan := planOf(p.Settings, p.Durability)
	if p.Away() { // the servers' machines have the programs
		return servers.Provision(ctx, p, starter{installation{}, p, plan}.build)
	}
	programs, err := findInstallation(p.Settings)
	if err != nil {
		return nil, err
	}
	major := majorOf(programs.server)
	if why := plan.lacking(major); why != "" {
		return nil, fmt.Errorf("%s starts RabbitMQ %d, which %s", programs.server, major, why)
	}
	return servers.Provision(ctx, p, starter{programs, p, plan}.build)
}

// starter starts a cluster.
type starter struct {
	programs  installation
	provision system.Provision
	plan      plan
}

// build starts the name server, epmd, and the servers. Besides its given addresses epmd listens at
// 127.0.0.1, and a server requires that its port is free at every address. So build chooses ports
// that are free at every address.
func (s starter) build(ctx context.Context, c *driver.Cluster) (system.Provisioned, error) {
	config := serverConfig{
		Settings: s.provision.Settings, syncRaft: s.plan.syncRaft(),
		looks: looksOf(s.programs.server), first: s.provision.All() - s.provision.Later,
	}
	hosts, err := c.Hosts(s.provision.All(), config.ports()...)
	if err != nil {
		return nil, err
	}
	free, err := c.FreePorts(len(hosts) + 1)
	if err != nil {
		return nil, err
	}
	config.epmdPort, config.distribution = free[0], free[1:]
	if err := c.Secure(config.Text(setSecurity), benchUser); err != nil {
		return nil, err
	}
	config.password = c.Credentials().Password
	epmd := c.AddHelper("epmd")
	config.home = epmd.Dir
	for i, name := range (rabbitSystem{}).NodeNames(s.provision) {
		config.nodes = append(config.nodes, c.Add(name, driver.At(hosts[i], config.ports()[0])))
	}
	if err := s.furnish(c, epmd, config); err != nil {
		return nil, err
	}
	// Otherwise a server would start epmd as a daemon that outlives it.
	err = c.Launch([]*driver.Node{epmd}, func(*driver.Node) process.Spec {
		return process.Spec{
			Path: s.programs.epmd, Env: []string{"PATH=" + searchPath},
			Args: []string{
				"-port", strconv.Itoa(config.epmdPort),
				"-address", strings.Join(c.ServedHosts(hosts), ","),
			},
		}
	})
	if err != nil {
		return nil, err
	}
	err = c.Launch(config.nodes, func(n *driver.Node) process.Spec {
		return process.Spec{Path: s.programs.server, Env: config.environment(n)}
	})
	if err != nil {
		return nil, err
	}
	s.nameOperations(config)
	return c, c.Await(ctx, func(ctx context.Context) error { return ask(ctx, c) })
}

// furnish fills the servers' folders, and epmd's folder with the servers' shared secret.
func (s starter) furnish(c *driver.Cluster, epmd *driver.Node, config serverConfig) error {
	if err := c.Furnish(epmd, map[string]string{cookieFile: c.Secret()}); err != nil {
		return err
	}
	for _, n := range config.nodes {
		files := map[string]string{
			configFile:  config.configuration(n),
			pluginsFile: "[rabbitmq_management,rabbitmq_stream].\n",
		}
		if !config.syncRaft {
			files[noSyncFile] = noSyncRaft
		}
		if err := c.Furnish(n, files, dataFolder, logFolder); err != nil {
			return err
		}
	}
	return nil
}

// ask checks that every server knows all servers as running, none is partitioned, and each accepts
// a connection.
func ask(ctx context.Context, c *driver.Cluster) error {
	members := c.Members()
	o := system.Options{Credentials: c.Credentials(), TLS: c.TLS()}
	// The target's settings are for its clients.
	o.Settings, _ = system.Resolve(declared, nil) // nothing is given, so nothing is wrong
	for _, n := range members {
		o.Endpoints = []string{n.Address}
		var nodes []nodeReport
		err := newManagement(o).api.Do(ctx, http.MethodGet, "/api/nodes", nil, &nodes)
		if err != nil {
			return fmt.Errorf("%s does not answer: %w", n.Name, err)
		}
		running := 0
		for _, one := range nodes {
			if one.Running && len(one.Partitions) == 0 {
				running++
			}
		}
		if running != len(members) {
			return fmt.Errorf("%s knows %d of %d servers", n.Name, running, len(members))
		}
		conn, err := dialer{o}.dial(ctx, 0, "plimsoll start")
		if err != nil {
			return fmt.Errorf("%s accepts no clients: %w", n.Name, err)
		}
		if err := hangUp(ctx, conn); err != nil {
			return err
		}
	}
	return nil
}

// lastComplaint returns the log's reason for a failed start, or else its last error, or else its
// last line: the script and Erlang write lines without a level.
func lastComplaint(path string) string {
	var why, complaint, last string
	for text := range process.TailLines(path) {
		last = text
		if _, said, is := strings.Cut(text, "ERROR: "); is {
			why = said
		} else if _, said, is := strings.Cut(text, " [error] "); is && worthSaying(said) {
			complaint = said
		}
	}
	return process.Said(cmp.Or(why, complaint, last))
}

// worthSaying reports whether a log line begins an error, and is not from the middle of Erlang's
// report.
func worthSaying(said string) bool {
	_, text, is := strings.Cut(said, "> ")
	return is && !strings.HasPrefix(text, " ") && strings.Trim(text, "=-") != ""
}
